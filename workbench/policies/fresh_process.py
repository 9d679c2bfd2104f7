"""Python processes in which nothing was computed before: each is forked from one that has only imported.

Importing Numba takes a second; a fork of a process that has done it takes a hundredth.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import pickle
import select
import subprocess
import sys
import threading
import traceback
from functools import cache
from importlib import import_module
from multiprocessing.connection import Client, Connection, Listener
from pkgutil import iter_modules
from typing import IO, NamedTuple

from workbench.process import ENVIRONMENT

_SERVE = "from workbench.policies.fresh_process import serve; serve()"


class Output(NamedTuple):
    """How a program ended."""

    text: str
    """What it printed."""
    problem: str
    """The traceback; empty if it came to its end."""


def in_a_fresh_interpreted_process(program: str, given: bytes) -> Output:
    """Run a program in plain Python that reads what is given from its standard input.

    >>> in_a_fresh_interpreted_process("import sys; print(len(sys.stdin.buffer.read()))", b"four")
    Output(text='4\\n', problem='')
    >>> in_a_fresh_interpreted_process("1 / 0", b"").problem.splitlines()[-1]
    'ZeroDivisionError: division by zero'
    """
    nursery = _nursery(os.getcwd(), tuple(sys.path))
    pickle.dump((program, given), nursery.stdin)
    nursery.stdin.flush()
    reply: Output = pickle.load(nursery.stdout)
    return reply


def line_to_a_fresh_interpreted_process(function: str, given: bytes) -> Connection:
    """Start a process in plain Python that stays, and return the line to it: it ends when the line is closed.

    Parameters
    ----------
    function : str
        Of two arguments, the line's other end and what is given, as `package.module:name`.
    given : bytes

    Examples
    --------
    >>> line = line_to_a_fresh_interpreted_process("workbench.policies.fresh_process:echo", b"four")
    >>> line.recv()
    b'four'
    >>> line.close()
    """
    with Listener(family="AF_UNIX") as listener:  # in a folder that is this user's alone
        program = f"from workbench.policies.fresh_process import stay; stay({listener.address!r}, {function!r})"
        reply = in_a_fresh_interpreted_process(program, given)
        if reply.problem:
            raise RuntimeError(reply.problem)
        return listener.accept()


def stay(address: str, function: str) -> None:
    """Take a line, and leave a process that serves it."""
    given, line = sys.stdin.buffer.read(), Client(address)
    if os.fork():
        return
    try:
        _let_go_of_all_but(line.fileno())
        threading.Thread(target=_end_with, args=[line.fileno()], daemon=True).start()
        module, _, name = function.partition(":")
        getattr(import_module(module), name)(line, given)
    finally:
        os._exit(0)


def echo(line: Connection, given: bytes) -> None:
    """Send what was given back."""
    line.send(given)


def _end_with(line: int) -> None:
    """End this process when the line is closed at its other end, whatever is being computed."""
    closed = select.poll()
    closed.register(line, 0)
    closed.poll()
    os._exit(0)


def _let_go_of_all_but(kept: int) -> None:
    """Close what was inherited: who waits for its end would wait for this process."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nothing, number)
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


class _Nursery(NamedTuple):
    stdin: IO[bytes]
    stdout: IO[bytes]


@cache
def _nursery(folder: str, path: tuple[str, ...]) -> _Nursery:
    """Return the process that forks, for one working folder and path of modules."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", **ENVIRONMENT, "PYTHONPATH": os.pathsep.join(path)}
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", _SERVE], stdin=pipe, stdout=pipe, cwd=folder, env=environment)
    assert process.stdin is not None
    assert process.stdout is not None
    atexit.register(process.wait)
    atexit.register(process.stdin.close)  # first of the two: its end is what the process waits for
    return _Nursery(process.stdin, process.stdout)


def serve() -> None:
    """Fork a child for each program that comes, until no more come."""
    import cloudpickle  # noqa: F401 - what children need is imported once

    for room in iter_modules([os.path.dirname(__file__)], f"{__package__}."):
        if room.ispkg:
            import_module(room.name)
    while True:
        try:
            program, given = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        sys.stdout.buffer.write(_forked(program, given))
        sys.stdout.buffer.flush()


def _forked(program: str, given: bytes) -> bytes:
    """Return the answer of a child process."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        with open(writes, "wb") as answer:
            pickle.dump(_run(program, given), answer)
        os._exit(0)
    os.close(writes)
    with open(reads, "rb") as answer:
        reply = answer.read()
    os.waitpid(child, 0)
    return reply or pickle.dumps(Output("", "the process died."))


def _run(program: str, given: bytes) -> Output:
    printed = io.StringIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(given))
    try:
        with contextlib.redirect_stdout(printed):
            exec(program, {"__name__": "__main__"})
    except BaseException:
        return Output(printed.getvalue(), traceback.format_exc())
    return Output(printed.getvalue(), "")
