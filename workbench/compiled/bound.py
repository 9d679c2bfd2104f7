"""A routine over a lent tuple, called from Python again and again.

Handing Numba a named tuple of eighty arrays and numbers takes some 15 microseconds a call: each is looked at and
unwrapped. Bound, the tuple's words are written into memory once, and a call hands over their address.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from numba import typeof, types
from numba.extending import NativeValue, unbox

from workbench.compiled.by_reference import Reference
from workbench.compiled.kernel import INTERPRETED


class Referent:
    """A tuple's words in memory, and the tuple itself, to whose arrays they point."""

    def __init__(self, whole: Any) -> None:
        self.whole = whole
        self._words = np.array(_words_of(whole), np.int64)
        self.address = self._words.ctypes.data
        self._reference: Reference | None = None

    @property
    def reference(self) -> Reference:
        """Return the type of a reference to the tuple, which those that it is renewed with have too."""
        if self._reference is None:
            self._reference = _reference_to(self.whole)
        return self._reference

    def __deepcopy__(self, memo: dict[int, Any]) -> Referent:
        return Referent(deepcopy(self.whole, memo))

    def renew(self, whole: Any) -> None:
        """Take a tuple of the same type in place of the one before: whoever has the address goes on with it.

        Compiled code that runs on the tuple must have returned.
        """
        self._words[:] = _words_of(whole)
        self.whole = whole


def _words_of(value: Any) -> list[int]:
    """Return a value as Numba lays it out, in words of 64 bits; of an array, who owns it (nobody), how much, where,
    how; none where code is interpreted, which reads the tuple itself."""
    if INTERPRETED:
        return []
    if isinstance(value, np.ndarray):
        return [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
    if isinstance(value, tuple):
        return [word for field in value for word in _words_of(field)]
    if isinstance(value, float):
        return [int(np.float64(value).view(np.int64))]
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return [int(value)]
    raise TypeError(f"a bound tuple holds arrays, whole numbers and floats; got {value!r}")


_references: dict[Any, Reference] = {}
"""The type of a reference by what decides it: Numba takes milliseconds to find that of a tuple of eighty arrays."""


def _reference_to(whole: Any) -> Reference:
    shape = _shape_of(whole)
    if shape not in _references:
        _references[shape] = Reference(typeof(whole))
    return _references[shape]


def _shape_of(value: Any) -> Any:
    """Return all of a value that its type depends on."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        return value.dtype.str, value.ndim, flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
    if isinstance(value, tuple):
        return type(value), *map(_shape_of, value)
    return type(value)


def bound(function: Callable[..., Any], whole: Any) -> Callable[..., Any]:
    """Return a routine with its first parameter, a tuple by reference, filled in; those that follow are whole numbers.

    The fields of the tuple stay as they are, but for those of one that is lent already (`Referent`), which may be
    renewed; what its arrays hold may change, from either side.
    Compiled, the routine is an `entry_point`.
    """
    lent = whole if isinstance(whole, Referent) else Referent(whole)
    if INTERPRETED:
        return partial(_interpreted, function, lent)
    machine: Any = function
    numbers = [types.int64] * (machine.py_func.__code__.co_argcount - 1)
    arguments = (lent.reference, *numbers)
    called = machine.compile(arguments)
    result = machine.overloads[arguments]
    if not result.library.get_pointer_to_function(result.fndesc.llvm_cpython_wrapper_name):
        raise TypeError(f"{machine.py_func.__qualname__} is called from compiled code alone; make it an entry_point")
    return partial(called, lent)


def _interpreted(function: Callable[..., Any], lent: Referent, *numbers: int) -> Any:
    return function(lent.whole, *numbers)


@unbox(Reference)
def _address(lent: Any, kept: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(kept, "address")
    word = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(c.builder.bitcast(word, c.context.get_value_type(lent)))
