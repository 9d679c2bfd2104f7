"""Whether what a digest was taken from is still the same: guards that look again in microseconds.

Names, cells, functions and classes of the user's are compared as objects. Values that can change while they stay the
same object are compared by what they hold, large arrays by sums.
"""

from __future__ import annotations

import functools
import hashlib
import operator
import weakref
from collections.abc import Callable, Iterator, Mapping
from types import CellType, FunctionType, MemberDescriptorType
from typing import Any

import numpy as np

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "missing"})()
"""Stands for a name that nothing is known by."""

_PARTS = operator.attrgetter("__code__", "__defaults__", "__kwdefaults__")


class Guards:
    """The names, cells, functions and classes of a user that a digest visited; looking again takes microseconds."""

    def __init__(self) -> None:
        self._names: list[tuple[Callable[..., Any], str, Any, str]] = []
        self._cells: list[tuple[CellType, Any, str]] = []
        self._functions: list[tuple[FunctionType, tuple[Any, ...], int]] = []
        self._classes: list[tuple[type, int, tuple[type, ...]]] = []
        self._values: list[tuple[Callable[[], Any], Any, str]] = []
        self._members: list[tuple[Callable[[], tuple[Any, ...]], tuple[Any, ...], str]] = []

    def name(self, namespace: Mapping[str, Any], name: str, value: Any, location: str) -> None:
        """Note what a name stands for."""
        self._names.append((namespace.get, name, value, location))

    def cell(self, cell: CellType, location: str) -> None:
        """Note what a closure cell holds."""
        self._cells.append((cell, content(cell), location))

    def function(self, function: FunctionType) -> None:
        """Note the code and the defaults of a function, and how many attributes it has; each is noted by its name."""
        self._functions.append((function, _PARTS(function), len(vars(function))))

    def type(self, cls: type) -> None:
        """Note how many attributes a class has, and its bases; each attribute is noted by its name."""
        self._classes.append((cls, _count(cls), cls.__bases__))

    def value(self, again: Callable[[], Any], digest: Any, location: str) -> None:
        """Note a value that can change while it stays the same object, by what gives its digest."""
        self._values.append((again, digest, location))

    def members(self, again: Callable[[], tuple[Any, ...]], location: str) -> None:
        """Note what a container holds, each by being the same object."""
        self._members.append((again, again(), location))

    def include(self, others: Guards) -> None:
        """Note all that others noted."""
        for mine, theirs in zip(vars(self).values(), vars(others).values(), strict=True):
            mine.extend(theirs)

    def any(self) -> bool:
        """Return whether there is anything that could change."""
        return any(vars(self).values())

    def changed(self) -> str:
        """Return the name of something that has changed; empty where nothing has."""
        for get, name, value, text in self._names:
            if get(name, MISSING) is not value:
                return text
        return next(self._others(), "")

    def _others(self) -> Iterator[str]:
        for cell, value, text in self._cells:
            if content(cell) is not value:
                yield text
        for function, parts, count in self._functions:
            if any(map(operator.is_not, _PARTS(function), parts)) or len(vars(function)) != count:
                yield function.__qualname__
        for cls, count, bases in self._classes:
            if _count(cls) != count or cls.__bases__ != bases:
                yield cls.__qualname__
        for again, digest, text in self._values:
            if again() != digest:
                yield text
        for members, before, text in self._members:
            now = members()
            if len(now) != len(before) or any(map(operator.is_not, now, before)):
                yield text


def _count(cls: type) -> int:
    """Return the number of attributes of a class but what Python notes when the first of its objects is copied."""
    return len(vars(cls)) - ("__slotnames__" in vars(cls))


def content(cell: CellType) -> Any:
    """Return the content of a closure cell, `MISSING` where it holds nothing yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def note_content(notes: Guards, value: Any, location: str) -> None:
    """Note what a value holds now: members by being the same objects, numbers by their bytes, sets as they are.

    What the members hold is noted as they are passed.

    >>> numbers, notes = [1, 2], Guards()
    >>> note_content(notes, numbers, "NUMBERS")
    >>> notes.changed(), numbers.append(3), notes.changed()
    ('', None, 'NUMBERS')
    """
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        again: Any = functools.partial(digest_of_array, value)
    elif isinstance(value, (set, bytearray)):
        again = functools.partial(_values, value)
    else:
        notes.members(_lookup(value), location)
        return
    notes.value(again, again(), location)


def _values(value: Any) -> frozenset[Any] | bytes:
    return bytes(value) if isinstance(value, bytearray) else frozenset((type(one), one) for one in value)


def _lookup(value: Any) -> Callable[[], tuple[Any, ...]]:
    """Return the function that gives the content of a container or an object."""
    if isinstance(value, Mapping):
        return lambda: (*value.keys(), *value.values())
    if isinstance(value, (list, tuple)):
        return lambda: tuple(value)
    if isinstance(value, np.ndarray):
        return lambda: tuple(value.flat)
    space, slots = getattr(value, "__dict__", {}), slots_of(type(value))
    return lambda: (*space.values(), *(getattr(value, name, MISSING) for name in slots))


def slots_of(kind: type) -> list[str]:
    """Return the names of the slots of a class and its bases."""
    return [name for base in kind.__mro__ for name, one in vars(base).items() if isinstance(one, MemberDescriptorType)]


def array_form(array: Any) -> str:
    """Return the form of an array other than its values in C order; where it lies in Fortran's, sums are rounded
    otherwise.

    Any other layout of its memory, which does not outlive a copy, says nothing.
    """
    strides = f" {array.strides}" if array.flags.fnc else ""
    return f"{array.dtype.descr if array.dtype.names else array.dtype.str}{array.shape}{strides}"


def digest_of_array(array: Any) -> str:
    """Return an array's form and a digest of its values; of a read-only array it is computed once."""
    if id(array) in _read_only:
        return _read_only[id(array)]
    whole: Any = np.ascontiguousarray(array).reshape(-1)
    content = hashlib.blake2b(whole.view(np.uint8) if whole.itemsize else b"", digest_size=16)
    digest = f"{array_form(array)} {content.hexdigest()}"
    if not _is_written_to(array):
        _read_only[id(array)] = digest
        weakref.finalize(array, _read_only.pop, id(array), None)
    return digest


_LARGE = 1 << 20
_WIDTH = 4093
"""A prime, so that no table has rows of as many words."""


def look_at_array(array: Any) -> tuple[str | bytes, ...] | str:
    """Return an array's digest; of a large one its form and the sums of all rows and columns of its words, in a tenth
    of the time."""
    if array.nbytes < _LARGE or array.nbytes % 8 or not array.flags.c_contiguous or not _is_written_to(array):
        return digest_of_array(array)
    words = array.reshape(-1).view(np.uint8).view(np.uint64)
    rest = len(words) % _WIDTH
    rows = words[: len(words) - rest].reshape(-1, _WIDTH)
    return array_form(array), *(part.tobytes() for part in (rows.sum(0), rows.sum(1), words[len(words) - rest :]))


_read_only: dict[int, str] = {}
"""The digests of arrays that cannot be written to, by their addresses, as long as they live."""


def _is_written_to(array: Any) -> bool:
    """Return whether an array can be written to, by itself or through what holds its memory; bytes cannot."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return array is not None and not isinstance(array, bytes)
