"""Which place in a program asked for memory: one frame of a recorded stack, as a person would name it, and those around
it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

_LIBRARIES = ("/site-packages/", "/dist-packages/", "/torch/", "<frozen", "<string>")
_UNNAMED, _NAMED, _PYTHON, _OWN = range(4)
MOST_FRAMES = 6
"""Python frames of a stack that are kept, the innermost first."""
Stack = tuple[str, ...]


class Sites:
    """The places that stacks lead to, each once a stack of Python frames."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.stacks: list[Stack] = []
        self._numbers: dict[tuple[str, Stack], int] = {}
        self._of_stack: dict[int, int] = {}
        self._held: list[Any] = []

    def knows(self, frames: Any) -> bool:
        """Return whether a stack, this very list, was looked at before."""
        return id(frames) in self._of_stack

    def number(self, frames: Any) -> int:
        """Return the number of the place that a stack leads to, -1 = there is no stack.

        Stacks are shared between events, so each list is looked at once; it is held, so that its id stays its own.
        """
        if not isinstance(frames, list) or not frames:
            return -1
        known = self._of_stack.get(id(frames))
        if known is None:
            name = site_of(frames)
            known = self.add(name, stack_of(frames)) if name else -1
            self._of_stack[id(frames)] = known
            self._held.append(frames)
        return known

    def add(self, name: str, stack: Stack) -> int:
        """Return the number of a place by its name and its stack."""
        known = self._numbers.setdefault((name, stack), len(self._numbers))
        if known == len(self.names):
            self.names.append(name)
            self.stacks.append(stack)
        return known


def site_of(frames: list[Any]) -> str:
    """Return the innermost frame of the program's own Python code, else of any Python code, else of any that is named.

    >>> inner = {"name": "empty_strided", "filename": "/venv/lib/site-packages/torch/_ops.py", "line": 9}
    >>> outer = {"name": "forward", "filename": "/home/me/model.py", "line": 54}
    >>> site_of([{"name": "malloc", "filename": "??", "line": 0}, inner, outer])
    'me/model.py:54 forward'
    """
    chosen, best = None, _UNNAMED
    for frame in frames:
        kind = _kind(frame.get("filename")) if isinstance(frame, dict) else _UNNAMED
        if kind > best:
            chosen, best = frame, kind
        if best == _OWN:
            break
    return "" if chosen is None else _named(chosen)


def stack_of(frames: list[Any]) -> Stack:
    """Return the innermost Python frames, at most `MOST_FRAMES`, with the program's own innermost among them.

    >>> inner = {"name": "empty_strided", "filename": "/venv/lib/site-packages/torch/_ops.py", "line": 9}
    >>> outer = {"name": "forward", "filename": "/home/me/model.py", "line": 54}
    >>> stack_of([{"name": "malloc", "filename": "??", "line": 0}, *[inner] * 9, outer])[-2:]
    ('torch/_ops.py:9 empty_strided', 'me/model.py:54 forward')
    """
    kept: list[str] = []
    has_own = False
    for frame in frames:
        kind = _kind(frame.get("filename")) if isinstance(frame, dict) else _UNNAMED
        if kind < _PYTHON or (len(kept) >= MOST_FRAMES - 1 and not has_own and kind < _OWN):
            continue
        kept.append(_named(frame))
        has_own = has_own or kind == _OWN
        if len(kept) == MOST_FRAMES:
            break
    return tuple(kept)


def _named(frame: dict[str, Any]) -> str:
    where = "/".join(_slashed(frame).split("/")[-2:])
    return f"{where}:{frame.get('line', 0)} {frame.get('name', '')}"[:200].strip()


def _kind(filename: Any) -> int:
    """Return what a frame's file is: nothing, something that has a name, Python code, or the program's own."""
    return _UNNAMED if filename in (None, "", "??") else _kind_of_name(str(filename))


@lru_cache(maxsize=1 << 14)
def _kind_of_name(filename: str) -> int:
    """Return the same of a name; a program has few files, and a snapshot millions of frames."""
    if not filename.endswith(".py"):
        return _NAMED
    slashed = filename.replace("\\", "/")
    return _PYTHON if any(part in slashed for part in _LIBRARIES) else _OWN


def _slashed(frame: dict[str, Any]) -> str:
    return str(frame["filename"]).replace("\\", "/")
