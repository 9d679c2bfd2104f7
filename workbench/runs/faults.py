"""The sentence for an exception of a user's code: which part raised which exception, and where."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, StarvedError, WorkbenchError, at
from workbench.levers import Spec
from workbench.runs.interrupts import is_own

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


def is_starved(problem: BaseException) -> bool:
    """Return whether an engine found that a run can never end; a user's code that raises the same is a failure."""
    return isinstance(problem, StarvedError) and not _raised_by_user(problem)


def chosen(coordinates: Mapping[str, Any]) -> str:
    """Return the alternative of a sweep that is meant, as the beginning of a sentence.

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
