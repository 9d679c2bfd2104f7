"""What a digest was taken from, kept so that it can be asked at once whether all of it is still the same."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from types import CellType, FunctionType
from typing import Any

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "missing"})()
"""Stands for a name that nothing is known by."""


class Guards:
    """The names, cells, functions and classes of a user that a walk passed; looking again takes microseconds."""

    def __init__(self) -> None:
        self._names: list[tuple[Callable[..., Any], str, Any, str]] = []
        self._cells: list[tuple[CellType, Any, str]] = []
        self._functions: list[tuple[FunctionType, Any, Any, Any, int]] = []
        self._classes: list[tuple[type, int, tuple[type, ...]]] = []
        self._values: list[tuple[Callable[[], Any], Any, str]] = []
        self._members: list[tuple[Callable[[], tuple[Any, ...]], tuple[Any, ...], str]] = []

    def name(self, namespace: Mapping[str, Any], name: str, value: Any, shown: str) -> None:
        """Note what a name stands for."""
        self._names.append((namespace.get, name, value, shown))

    def cell(self, cell: CellType, shown: str) -> None:
        """Note what a closure cell holds."""
        self._cells.append((cell, content(cell), shown))

    def function(self, function: FunctionType) -> None:
        """Note the code and the defaults of a function, and how many attributes it has; each is noted by its name."""
        parts = function.__code__, function.__defaults__, function.__kwdefaults__
        self._functions.append((function, *parts, len(vars(function))))

    def type(self, cls: type) -> None:
        """Note how many attributes a class has, and its bases; each attribute is noted by its name."""
        self._classes.append((cls, _count(cls), cls.__bases__))

    def value(self, again: Callable[[], Any], digest: Any, shown: str) -> None:
        """Note a value that can change while it stays the same object, by what gives its digest."""
        self._values.append((again, digest, shown))

    def members(self, again: Callable[[], tuple[Any, ...]], shown: str) -> None:
        """Note what a container holds, each by being the same object."""
        self._members.append((again, again(), shown))

    def include(self, others: Guards) -> None:
        """Note all that others noted."""
        for mine, theirs in zip(vars(self).values(), vars(others).values(), strict=True):
            mine.extend(theirs)

    def any(self) -> bool:
        """Return whether there is anything that could change."""
        return any(vars(self).values())

    def changed(self) -> str:
        """Return what is another than it was, as a name; empty where all is as it was."""
        for get, name, value, label in self._names:
            if get(name, MISSING) is not value:
                return label
        return next(self._others(), "")

    def _others(self) -> Iterator[str]:
        for cell, value, label in self._cells:
            if content(cell) is not value:
                yield label
        for function, code, defaults, keyword_defaults, count in self._functions:
            now = function.__code__, function.__defaults__, function.__kwdefaults__
            if now[0] is not code or now[1] is not defaults or now[2] is not keyword_defaults:
                yield function.__qualname__
            if len(vars(function)) != count:
                yield function.__qualname__
        for cls, count, bases in self._classes:
            if _count(cls) != count or cls.__bases__ != bases:
                yield cls.__qualname__
        for again, digest, label in self._values:
            if again() != digest:
                yield label
        for members, before, label in self._members:
            now = members()
            if len(now) != len(before) or any(map(operator.is_not, now, before)):
                yield label


def _count(cls: type) -> int:
    """Return how many attributes a class has but what Python notes when the first of its objects is copied."""
    return len(vars(cls)) - ("__slotnames__" in vars(cls))


def content(cell: CellType) -> Any:
    """Return what a closure cell holds, `MISSING` where it holds nothing yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING
