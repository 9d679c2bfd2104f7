"""The site of a recorded stack: one frame, as a person would name it, and those around it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_LIBRARIES = ("/site-packages/", "/dist-packages/", "/torch/", "<frozen", "<string>")
_UNNAMED, _NAMED, _OPERATOR, _BACKWARD, _PYTHON, _OWN = range(6)
"""What a frame is: nothing that is named, any function, an operator of PyTorch, a step of its autograd, Python code,
the program's own."""
_RECORDER = re.compile(
    r"unwind::unwind|CapturedTraceback::gather|gather_with_cpp|_start|__libc_start_main|PyEval_|PyObject_|PyFunction_"
)
_INTERPRETER = re.compile(
    r"core/boxing|/Register|/Redispatch|pythonrun\.c|Modules/main\.c|Objects/call\.c|Objects/methodobject\.c"
    r"|pycore_ceval\.h|ceval\.c|cpython/abstract\.h"
)
"""Functions and files that PyTorch's own viewer leaves out (torch/cuda/_memory_viz.py, `_frame_filter`)."""
_ALLOCATOR = re.compile(r"CachingAllocator|c10::StorageImpl|c10::Allocator|c10::impl::|at::detail::")
"""Functions that every allocation goes through."""
_STEP = re.compile(r"(\w+?Backward\d+)")
_CALL = re.compile(r"(at::_ops::\w+)")
MOST_FRAMES, MOST_CALLERS = 6, 40
"""Python frames of a stack that are kept, the innermost first; of the program's own code, the outermost first."""
Stack = tuple[str, ...]
Looked = tuple[int, str]
"""What a frame is, and how it is named."""


class Sites:
    """The places that stacks lead to, each once a stack of Python frames."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.stacks: list[Stack] = []
        self.callers: list[Stack] = []
        self._numbers: dict[tuple[str, Stack, Stack], int] = {}
        self._of_stack: dict[int, int] = {}
        self._held: list[Any] = []

    def number(self, frames: Any) -> int:
        """Return the number of the place that a stack leads to, -1 = there is no stack.

        Stacks are shared between events, so each list is looked at once; it is held, so that its id stays its own.
        """
        if not isinstance(frames, list) or not frames:
            return -1
        known = self._of_stack.get(id(frames))
        if known is None:
            looked = [_looked_at(frame) for frame in frames]
            name = _site(looked)
            known = self.add(name, _stack(looked), _callers(looked)) if name else -1
            self._of_stack[id(frames)] = known
            self._held.append(frames)
        return known

    def add(self, name: str, stack: Stack, callers: Stack) -> int:
        """Return the number of a place by its name, its stack and what led there."""
        known = self._numbers.setdefault((name, stack, callers), len(self._numbers))
        if known == len(self.names):
            self.names.append(name)
            self.stacks.append(stack)
            self.callers.append(callers)
        return known


def _site(frames: list[Looked]) -> str:
    chosen, best = "", _UNNAMED
    for kind, name in frames:
        if kind > best or kind == best == _OPERATOR:
            chosen, best = name, kind
        if best == _OWN:
            break
    return chosen


def _callers(frames: list[Looked]) -> Stack:
    return tuple([name for kind, name in reversed(frames) if kind == _OWN][:MOST_CALLERS])


def _stack(frames: list[Looked]) -> Stack:
    kept: list[str] = []
    has_own = False
    for kind, name in frames:
        if kind < _PYTHON or (len(kept) >= MOST_FRAMES - 1 and not has_own and kind < _OWN):
            continue
        kept.append(name)
        has_own = has_own or kind == _OWN
        if len(kept) == MOST_FRAMES:
            break
    return tuple(kept)


def _looked_at(frame: Any) -> Looked:
    """Return the kind of a frame, and its name."""
    if not isinstance(frame, dict):
        return _UNNAMED, ""
    return _of(str(frame.get("name") or ""), str(frame.get("filename") or ""), str(frame.get("line", 0)))


@lru_cache(maxsize=1 << 15)
def _of(name: str, filename: str, line: str) -> Looked:
    """Return the same of what it says; a program has few frames, and a snapshot millions of their dictionaries."""
    kind, slashed = _kind_of(name, filename), filename.replace("\\", "/")
    if kind in (_OPERATOR, _BACKWARD):
        match = (_STEP if kind == _BACKWARD else _CALL).search(name)
        return kind, match[1] if match else ""
    where = "/".join(slashed.split("/")[-2:])
    return kind, f"{where}:{line} {name}"[:200].strip()


def _kind_of(name: str, filename: str) -> int:
    if filename.endswith(".py"):
        slashed = filename.replace("\\", "/")
        return _PYTHON if any(part in f"/{slashed}" for part in _LIBRARIES) else _OWN
    if _RECORDER.search(name) or _INTERPRETER.search(filename) or _ALLOCATOR.search(name):
        return _UNNAMED
    if _STEP.search(name):
        return _BACKWARD
    if _CALL.search(name):
        return _OPERATOR
    return _UNNAMED if filename in ("", "??") else _NAMED
