"""`workbench COMMAND`: find the command, run it, turn a user's mistake into one sentence and an exit status."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn

from workbench.cli._quickstart import quickstart
from workbench.cli._signals import stoppable
from workbench.cli.commands import GROUPS, SPECIFICATIONS, overview, resolved
from workbench.errors import InputError, WorkbenchError
from workbench.process import COMPILING, ENVIRONMENT, has_fixed_hash_seed
from workbench.version import __version__

STOPPED = "stopped; finished runs of a results folder are kept."


class _Help(argparse.HelpFormatter):
    def _format_usage(self, *parts: Any) -> str:
        """Return the usage, its further lines set in little: below a name of two words some would be too wide."""
        return re.sub(r"\n {9,}", "\n        ", super()._format_usage(*parts))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        option = re.match(r"argument (?:.*/)?(--[\w-]+): expected one argument$", message)
        if option:
            message += f" (one that begins with '-' is joined to it: {option[1]}=-1)"
        raise InputError(f"{self.prog}: {message}. See: {self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    0 done, 1 some runs failed, 2 wrong input, 130 stopped by Ctrl-C (128 and its number by another signal).
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    with stoppable() as stop:
        try:
            return _run(words)
        except WorkbenchError as problem:
            print(f"workbench: {problem}", file=sys.stderr)
            return problem.exit_status
        except KeyboardInterrupt as stopped:
            print(f"workbench: {str(stopped) or STOPPED}", file=sys.stderr)
            return stop.exit_status
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


def program() -> int:
    """Run the command that this process was called with, as `main` does.

    Where Python draws its hash seed, the process begins anew with the fixed one that workers have: rows that are
    computed here, or in a kernel that is started from here, are then as theirs.
    """
    if not has_fixed_hash_seed() and not ENVIRONMENT.items() <= os.environ.items():
        os.environ.update(ENVIRONMENT)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return main()


def _run(words: list[str]) -> int:
    if words[:1] in ([], ["-h"], ["--help"]):
        print(overview() if words else f"{quickstart()}\n\nAll commands: workbench --help")
        return 0
    if words[0] == "--version":
        print(__version__)
        return 0
    if words[0] in GROUPS and words[1:] in (["-h"], ["--help"]):
        print(overview(words[0]))
        return 0
    command, behind = resolved(words)
    parser = _Parser(
        prog=f"workbench {command.name}", description=command.description, epilog=SPECIFICATIONS, formatter_class=_Help
    )
    command.add_arguments(parser)
    args = parser.parse_args(behind)
    with compile_notice():
        return command.run(args)


def compile_notice() -> AbstractContextManager[None]:
    """Return a context within which the first compilation of each engine is said on standard error."""
    return COMPILING.told(_tell_of_compilation)


def _tell_of_compilation(module: str) -> None:
    from workbench.mechanisms.compilation import (
        say_as_it_compiles,  # with a compiler at work, its room is loaded anyway
    )

    say_as_it_compiles(lambda line: print(line, file=sys.stderr, flush=True))(module)
