"""A view: the one value that an answer sees, a named tuple whose fields say their type, shape and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba import types

_View = TypeVar("_View", bound=type)
_SCALARS = {"int64": types.int64, "uint64": types.uint64, "float64": types.float64}


class Field(NamedTuple):
    """What is declared of one field of a view."""

    dtype: str
    """`int64`, `uint64` or `float64`."""
    shape: str
    """What an array has one element for; empty for a number."""
    writable: bool
    """Whether an answer may write to the array."""
    description: str

    @property
    def is_array(self) -> bool:
        """Return whether the field is an array."""
        return bool(self.shape)

    def __str__(self) -> str:
        """Return the type as documentation writes it: `int64`, `readonly uint64[words]`, `float64[cards]`."""
        if not self.is_array:
            return self.dtype
        return f"{'' if self.writable else 'readonly '}{self.dtype}[{self.shape}]"


def number(description: str, dtype: str = "int64") -> Any:
    """Declare a field that is a number."""
    return Field(dtype, "", False, description)


def readable(dtype: str, shape: str, description: str) -> Any:
    """Declare a field that is an array which an answer may only read."""
    return Field(dtype, shape, False, description)


def writable(dtype: str, shape: str, description: str) -> Any:
    """Declare a field that is an array which an answer may write to."""
    return Field(dtype, shape, True, description)


PARAMS: Any = readable("float64", "levers", "the policy's levers as numbers, in the order of declaration")
"""The field `params` of most views."""

MEMORY: Any = writable("int64", "memory_size", "all that the policy remembers; it belongs to the run")
"""The field `memory` of most views."""


def view(cls: _View) -> _View:
    """Turn a named tuple whose defaults are declarations into a view; its `fields` holds the declarations by name.

    Raises
    ------
    TypeError
        A field is not declared.

    Examples
    --------
    >>> @view
    ... class RingView(NamedTuple):
    ...     free: np.ndarray = readable("uint64", "words", "the free map")
    ...     length: int = number("segments asked for")
    >>> str(RingView.fields["free"]), str(RingView.fields["length"])
    ('readonly uint64[words]', 'int64')
    >>> str(RingView(free=np.zeros(1, np.uint64), length=3))
    'free [0], length 3'
    """
    named: Any = cls
    missing = [name for name in named._fields if not isinstance(named._field_defaults.get(name), Field)]
    if missing:
        raise TypeError(f"{cls.__name__}.{missing[0]} is not declared; use number, readable or writable.")
    named.fields = dict(named._field_defaults)
    named._field_defaults = {}
    if "__str__" not in vars(cls):
        named.__str__ = shown
    named.__new__.__defaults__ = None
    return cls


_SHOWN = 8
"""Elements of an array that a sentence shows."""

_NOT_SHOWN = ("levers", "memory")


def shown(see: Any) -> str:
    """Return what a view shows in words; levers and memory are left out, long arrays cut."""
    return ", ".join(f"{name} {_value(value)}" for name, value in see._asdict().items() if name not in _NOT_SHOWN)


def _value(value: Any) -> str:
    if not isinstance(value, np.ndarray):
        return str(value)
    more = ", ..." if value.size > _SHOWN else ""
    return f"[{', '.join(map(str, value[:_SHOWN].tolist()))}{more}]"


def fields_of(cls: type) -> Mapping[str, Field]:
    """Return the declarations of a view by name."""
    fields: Mapping[str, Field] = cls.fields  # type: ignore[attr-defined]
    return fields


def view_type(cls: type) -> Any:
    """Return the Numba type of a view as answers see it."""
    return types.NamedTuple([_numba_type(field) for field in fields_of(cls).values()], cls)


def _numba_type(field: Field) -> Any:
    scalar = _SCALARS[field.dtype]
    return types.Array(scalar, 1, "C", readonly=not field.writable) if field.is_array else scalar


def guarded(see: Any) -> Any:
    """Return the same view with its readonly arrays protected from being written, for plain Python."""
    declared = fields_of(type(see))
    return see._make(_guarded(value, declared[name]) for name, value in see._asdict().items())


def _guarded(value: Any, field: Field) -> Any:
    if not field.is_array or field.writable:
        return value
    protected = np.asarray(value).view()
    protected.flags.writeable = False
    return protected
