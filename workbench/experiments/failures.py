"""What a run does beside its row: what goes wrong and who is to blame, and what it prints.

To blame may be a user's code, a worker that died, or an interrupt of the driver.

What a user's code raised is one sentence: which policy (or engine, or workload), which exception, where. What ends a
worker may be the run, or somebody else (`CrashPolicy`). A worker that lives may be unable to do more runs: what an
earlier one left behind in it is in the way (`WorkerFailure`). The driver's own interrupt (Ctrl-C, or a signal that
asks it to end) is known by the signal, not by the type of the exception: a policy may raise `KeyboardInterrupt` like
anything else, and may swallow the one that was meant for the driver.

What a user's code prints during a run is kept out of the command's output, and shown as whole lines, bounded.
"""

from __future__ import annotations

import io
import signal
import sys
import threading
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, WorkbenchError, at
from workbench.levers import Spec

MOST_LETTERS = 300
"""A longer message of an exception is cut."""

MOST_OF_NAME = 100
"""So is the name of a policy with many levers."""

_PACKAGE = str(Path(__file__).parent.parent)
_PYTHON = tuple({sys.prefix, sys.base_prefix})


def fault(problem: BaseException, setup: Setup | None = None, who: str = "") -> str:
    """Return the sentence for an exception that a run, or the planning of one, ended with.

    Whatever the exception is: one whose text cannot be made, that is no `Exception`, or that has no traceback. What
    the workbench itself raises is a sentence already; an error of its kind that a user's code raises is like any other.

    Parameters
    ----------
    setup : Setup, optional
        What was run: its policies are named where the traceback does not tell which one raised.
    who : str
        What raised, where that is known.
    """
    if not who and isinstance(problem, WorkbenchError) and not _raised_by_user(problem):
        return in_one_line(problem)
    known, who, where = bool(who), who or "the run", ""
    try:
        frames = [frame for frame, _ in traceback.walk_tb(problem.__traceback__)]
        who, where = who if known else shortened(_who(frames, setup), MOST_OF_NAME), _where(problem)
    except BaseException:  # a user's class may raise whatever is asked of it; the cause must be told all the same
        pass
    text = in_one_line(problem)
    return f"{who} raised {type(problem).__name__}{f' ({text})' if text else ''}{where}."


def chosen(coordinates: Mapping[str, Any]) -> str:
    """Return which alternative of a sweep is meant, as the beginning of a sentence.

    >>> chosen({"policy.placement": "first_fit", "seeds": 3}), chosen({})
    ('where policy.placement = first_fit, seeds = 3', '')
    """
    text = ", ".join(f"{path} = {_short(value)}" for path, value in coordinates.items())
    return f"where {text}" if text else ""


def _short(value: Any) -> str:
    return value.short() if isinstance(value, Spec) else str(value)


@contextmanager
def raised_in_planning(where: str, coordinates: Mapping[str, Any], setup: Setup | None = None) -> Iterator[None]:
    """Turn whatever a user's code raises within this, before there are runs, into a sentence about the sweep.

    Raises
    ------
    InputError
        Something else than an error of the workbench, or the driver's own interrupt, was raised.
    """
    try:
        yield
    except WorkbenchError:
        raise
    except BaseException as problem:
        if is_own(problem):
            raise
        raise InputError(at(where, at(chosen(coordinates), fault(problem, setup)))) from problem


def in_one_line(problem: object) -> str:
    """Return the text of an exception on one line, cut to a readable length, of letters that every file can hold.

    >>> in_one_line(ValueError("a\\n  b \\ud800")), in_one_line(ValueError())
    ('a b ?', '')
    """
    try:
        text = str(problem)
    except BaseException as worse:  # its own text raises
        text = f"its text cannot be made: {type(worse).__name__}"
    text = "".join(letter if letter.isprintable() else " " for letter in text.encode(errors="replace").decode())
    text = " ".join(text.split())
    return shortened(text, MOST_LETTERS)


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many letters.

    >>> shortened("abcdefgh", 6), shortened("abc", 6)
    ('abc...', 'abc')
    """
    return text if len(text) <= most else text[: most - 3] + "..."


def _who(frames: list[FrameType], setup: Setup | None) -> str:
    """Return the name of what raised: the innermost part of the setup that is under way in the traceback."""
    for frame in reversed(frames):
        this: Any = frame.f_locals.get("self", frame.f_locals.get("cls"))
        if isinstance(this, Spec) and not this.built_in:
            return this.short()
        if hasattr(this, "simulate") and hasattr(this, "validate"):
            return f"the engine {this.name}"
        if named := _by_code(frame.f_code, setup):
            return named
    return _suspects(setup)


def _by_code(code: CodeType, setup: Setup | None) -> str:
    """Return the policy whose function this is, or in whose file it stands."""
    for policy in setup.policies.values() if setup is not None else ():
        if not policy.built_in and code.co_filename in _files(policy):
            return policy.short()
    return ""


def _files(part: Any) -> Iterator[str]:
    """Yield the files of the functions that a policy's own class defines."""
    for value in vars(type(part)).values():
        code = getattr(getattr(value, "__func__", value), "__code__", None)
        if isinstance(code, CodeType):
            yield code.co_filename


def _suspects(setup: Setup | None) -> str:
    """Return whatever of a setup is not part of this package."""
    if setup is None:
        return "the sweep"
    parts = [setup.machine, setup.workload, *setup.policies.values()]
    theirs = [part.short() for part in parts if not getattr(part, "built_in", True)]
    return " with ".join([f"the engine {setup.engine}", *theirs])


def _raised_by_user(problem: BaseException) -> bool:
    """Return whether the function that raised it is a user's."""
    codes = [frame.f_code for frame, _ in traceback.walk_tb(problem.__traceback__)]
    return bool(codes) and _is_users(codes[-1].co_filename)


def _is_users(file: str) -> bool:
    return not file.startswith((_PACKAGE, *_PYTHON, "<frozen"))


def _where(problem: BaseException) -> str:
    """Return the innermost function of the user's, else the innermost of all, with its line."""
    frames = traceback.extract_tb(problem.__traceback__)
    theirs = [frame for frame in frames if _is_users(frame.filename)]
    if not frames:
        return ""
    frame = (theirs or frames)[-1]
    return f" in {frame.name} ({Path(frame.filename).name}:{frame.lineno})"


PAUSE_SECONDS = 2.0
"""Between two attempts of a run whose worker was killed: what kills workers once a while strikes at other moments."""

_OWN_DOING = {getattr(signal, name, None) for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS")}
"""Signals that a process earns by what it does; others come from outside, or from the system when memory is short."""

_COUNTED = {1: "once", 2: "twice", 3: "three times", 4: "four times"}


class Death(NamedTuple):
    """What is known of the end of a worker."""

    status: int | None = None
    """Its exit status, minus the number of the signal that killed it; None = nobody knows."""
    times: int = 1
    """How many workers ended so, one after the other, over the same runs."""
    why: str = ""
    """What is said of a run that is to blame for it; empty = how the process ended."""
    counts: bool = True
    """Whether the run that was under way may be to blame; False = perhaps one before it in the same worker."""

    @property
    def outside(self) -> bool:
        """Return whether it may have come from outside: by a signal, or for a reason that nobody knows."""
        return self.status is None or (self.status < 0 and -self.status not in _OWN_DOING)

    @property
    def pause_seconds(self) -> float:
        """Return how long to wait before the run is tried again."""
        return PAUSE_SECONDS if self.outside else 0.0


class CrashPolicy:
    """The deaths of workers that did one run alone."""

    def __init__(self) -> None:
        self._deaths: dict[str, list[int | None]] = defaultdict(list)
        self._attempts: Counter[str] = Counter()

    def add(self, run: str, death: Death) -> str | None:
        """Count a death; return the sentence that blames the run, or None while it may not be its fault.

        An exit, or a signal that only the process itself can earn, is its fault the second time; any other death the
        third time, and never in its first attempt. One that does not count is never its fault.

        >>> deaths = CrashPolicy()
        >>> deaths.add("a", Death(3)), deaths.add("a", Death(3))
        (None, 'the worker process ended with status 3 during this run.')
        >>> [deaths.add("b", Death(-9)) for _ in range(3)][2]
        'the worker process was killed by signal 9 three times during this run.'
        """
        if not death.counts:
            return None
        deaths = self._deaths[run]
        deaths += [death.status] * death.times
        self._attempts[run] += 1
        if len(deaths) < (3 if death.outside else 2) or (death.outside and self._attempts[run] < 2):
            return None
        return death.why or f"the worker process {_ended(death.status, deaths.count(death.status))} during this run."


def _ended(status: int | None, times: int) -> str:
    if status is None:
        return f"died {_COUNTED.get(times, f'{times} times')}"
    if status >= 0:
        return f"ended with status {status}"
    return f"was killed by signal {-status} {_COUNTED.get(times, f'{times} times')}"


FRESH_STATUS, USED_STATUS = 70, 75
"""The exit status of such a worker where it cannot tell its driver more: with no run before, and with some."""


class WorkerFailure(Exception):
    """The machinery of a worker raised something, which is no exception of a run: as good as the worker's death.

    Parameters
    ----------
    said : str
        What it raised.
    used : bool
        Whether the worker had done other runs before: then one of them may be the cause.
    """

    def __init__(self, message: str, used: bool) -> None:
        super().__init__(message, used)
        self.said, self.used = message, used

    def __str__(self) -> str:
        return self.said

    @property
    def status(self) -> int:
        """Return the exit status that tells the driver the same, but for the cause."""
        return USED_STATUS if self.used else FRESH_STATUS

    def death(self) -> Death:
        """Return what it counts as: no strike against a run where another may be the cause."""
        cause = f": {self.said}" if self.said else ""
        return Death(self.status, why=f"its worker could not go on{cause}.", counts=not self.used)


def worker_failure(problem: BaseException, used: bool) -> WorkerFailure:
    """Return what a worker says when its machinery raised something."""
    text = in_one_line(problem)
    return WorkerFailure(f"{type(problem).__name__}{f' ({text})' if text else ''}", used)


Handler = Callable[[int, FrameType | None], Any]
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class _State:
    noticing = False
    received = False
    held = False
    waiting: tuple[Handler, int] | None = None


_state = _State()


@contextmanager
def noticed() -> Iterator[None]:
    """Remember a signal whose handler raises `KeyboardInterrupt`, within this context and in the main thread, as
    received."""
    if _state.noticing or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: result for number in _SIGNALS if callable(result := signal.getsignal(number))}
    _state.noticing, _state.received = True, False
    try:
        for number, handler in before.items():
            signal.signal(number, _noticing(handler))
        yield
    finally:
        _state.noticing = False
        for number, handler in before.items():
            signal.signal(number, handler)


def _noticing(handler: Handler) -> Handler:
    def notice(number: int, frame: FrameType | None) -> None:
        if _state.held and _state.waiting is None:
            _state.waiting = handler, number
            return
        try:
            handler(number, frame)
        except KeyboardInterrupt:
            _state.received = True
            raise

    return notice


class held_back:
    """Hold a signal back within this context, in the main thread: what is being written is written to its end.

    A class, as every row is written within one: a generator would cost three times as much.
    """

    __slots__ = ("_holds",)

    def __enter__(self) -> None:
        self._holds = _state.noticing and not _state.held and threading.current_thread() is threading.main_thread()
        _state.held |= self._holds

    def __exit__(self, *problem: object) -> None:
        if not self._holds:
            return
        _state.held = False
        waiting, _state.waiting = _state.waiting, None
        if waiting is not None:
            handler, number = waiting
            _noticing(handler)(number, None)


def is_own(problem: BaseException) -> bool:
    """Return True if an exception is the driver's own interrupt: it is in the main thread, and a signal came.

    Where nobody notices signals it cannot be told, and counts as the driver's.
    """
    if not isinstance(problem, KeyboardInterrupt) or threading.current_thread() is not threading.main_thread():
        return False
    return _state.received or not _state.noticing


def raise_swallowed() -> None:
    """Raise the driver's interrupt again if a user's code caught it and went on."""
    if _state.noticing and _state.received and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt


MOST_OF_BUNDLE = 4_000
"""Letters that a bundle of runs may print; the rest is counted."""

MOST_OF_LINE = 300
"""Letters of a line that are shown."""

MOST_LINES = 100
"""Lines of all runs that a sweep shows."""


class Printed:
    """What one thread printed, up to a bound.

    >>> printed = Printed(most=5)
    >>> printed.add("abc"); printed.add("defgh"); printed.text()
    'abcde\\n(3 more letters were printed)\\n'
    """

    def __init__(self, most: int = MOST_OF_BUNDLE) -> None:
        self._pieces: list[str] = []
        self._left, self._more = most, 0

    def add(self, text: str) -> None:
        """Take in a piece."""
        piece = text[: self._left]
        if piece:
            self._pieces.append(piece)
        self._left -= len(piece)
        self._more += len(text) - len(piece)

    def text(self) -> str:
        """Return what there is, and how much was left out."""
        more = f"\n({self._more:,} more letters were printed)\n" if self._more else ""
        return "".join(self._pieces) + more


_captured: dict[int, Printed] = {}
"""By thread."""


@contextmanager
def captured(printed: Printed) -> Iterator[None]:
    """Keep what the present thread prints within this context instead of showing it, where `routed` is in force."""
    thread = threading.get_ident()
    _captured[thread] = printed
    try:
        yield
    finally:
        _captured.pop(thread, None)


class _Routed(io.TextIOBase):
    """Stands for `sys.stdout` or `sys.stderr`: what a thread that is captured writes is kept, the rest goes through."""

    def __init__(self, through: Any) -> None:
        self.through = through

    def write(self, text: str) -> int:
        printed = _captured.get(threading.get_ident())
        if printed is None:
            return int(self.through.write(text) or 0)
        printed.add(str(text))
        return len(text)

    def flush(self) -> None:
        if threading.get_ident() not in _captured and not self.through.closed:
            self.through.flush()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return bool(self.through.isatty())

    def fileno(self) -> int:
        return int(self.through.fileno())

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return str(self.through.encoding)

    @property
    def buffer(self) -> Any:
        return _Bytes(self) if threading.get_ident() in _captured else self.through.buffer

    def close(self) -> None:
        """Stay open: the stream behind is not ours."""

    def __del__(self) -> None: ...


class _Bytes(io.RawIOBase):
    """The same for bytes."""

    def __init__(self, text: _Routed) -> None:
        self._text = text

    def write(self, data: Any) -> int:
        self._text.write(bytes(data).decode(errors="replace"))
        return len(data)


@contextmanager
def routed() -> Iterator[None]:
    """Let what captured threads print within this context go nowhere else; threads that were left behind stay so after
    it."""
    install()
    try:
        yield
    finally:
        if not _captured:
            _remove()


def contain() -> None:
    """Keep what threads that were left behind print out of the output, however the streams were replaced since."""
    if _captured:
        install()


def install() -> None:
    """Have everything that is printed by captured threads kept, until `routed` ends."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _Routed):
            setattr(sys, name, _Routed(stream))


def _remove() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, _Routed):
            setattr(sys, name, stream.through)


class Echo:
    """Shows what runs printed on standard error, each line marked, no more than so many of a sweep."""

    def __init__(self, most: int = MOST_LINES) -> None:
        self._left = most

    def show(self, text: str) -> None:
        """Show the lines of a text."""
        for line in text.splitlines():
            if self._left < 0:
                return
            self._left -= 1
            line_shown = (
                f"| {shortened(line, MOST_OF_LINE)}"
                if self._left >= 0
                else "| (what runs print from here on is not shown)"
            )
            print(line_shown, file=sys.stderr, flush=True)
