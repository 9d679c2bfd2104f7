"""A view: the one value that an answer sees, a named tuple whose fields say their type, shape and meaning.

The levers of a policy are numbers in it, each by its name and by its place. Engines hand over one array of float64,
whatever the policy. Which number is which is part of the type with which an answer is compiled, so `see.levers.shift`
is one load, and its order of declaration is nobody's concern.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global
from numba.extending import lower_builtin, lower_getattr_generic, models, register_model, typeof_impl, unbox

_View = TypeVar("_View", bound=type)
_SCALARS = {"int64": types.int64, "uint64": types.uint64, "float64": types.float64}


def writable(dtype: str, shape: str, description: str) -> Any:
    """Declare a field that is an array which an answer may write to."""
    return Field(dtype, shape, True, description)


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


Kinds = tuple[tuple[str, str], ...]
"""The name and the kind of each scalar lever, in the order of their numbers."""

_TYPES = {"integer": types.int64, "choice": types.int64, "number": types.float64, "switch": types.boolean}
_ARRAY = types.Array(types.float64, 1, "C", readonly=True)


class NamedLevers(types.Type):
    """The type of the levers, with the words of an array: each lever is an attribute, and a number by its place.

    A whole number and the place of a choice are `int64`, a switch is a truth value, any other number `float64`.
    """

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = dict(kinds)
        self.places = {name: place for place, (name, _) in enumerate(kinds)}
        super().__init__(name=f"levers({','.join(f'{name}:{kind}' for name, kind in kinds)})")


@register_model(NamedLevers)
class _LeversModel(models.ArrayModel):
    def __init__(self, manager: Any, _: NamedLevers) -> None:
        super().__init__(manager, _ARRAY)


@infer_getattr
class _LeverTypes(AttributeTemplate):
    key = NamedLevers

    def generic_resolve(self, levers: Any, name: str) -> Any:  # type: ignore[override]
        kind = levers.kinds.get(name)
        return None if kind is None else _TYPES[kind]


@infer_global(operator.getitem)
class _LeverByPlace(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) == 2 and isinstance(args[0], NamedLevers) and isinstance(args[1], types.Integer):
            return signature(types.float64, args[0], types.intp)
        return None


@lower_getattr_generic(NamedLevers)
def _read_lever(context: Any, builder: Any, levers: NamedLevers, value: Any, name: str) -> Any:
    number = _read(context, builder, value, context.get_constant(types.intp, levers.places[name]))
    return context.cast(builder, number, types.float64, _TYPES[levers.kinds[name]])


@lower_builtin(operator.getitem, NamedLevers, types.Integer)
def _read_place(context: Any, builder: Any, key: Any, arguments: Any) -> Any:
    return _read(context, builder, *arguments)


def _read(context: Any, builder: Any, levers: Any, place: Any) -> Any:
    array = context.make_array(_ARRAY)(context, builder, levers)
    return builder.load(cgutils.gep(builder, array.data, place))


class PlainLevers:
    """The same for plain Python."""

    __slots__ = ("_kinds", "_values")

    def __init__(self, values: np.ndarray, kinds: Kinds) -> None:
        self._values, self._kinds = values, kinds

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for place, (lever, kind) in enumerate(self._kinds):
            if lever == name:
                return _PYTHON[kind](self._values[place])
        raise AttributeError(f"there is no lever {name}; there are {', '.join(dict(self._kinds)) or 'none'}")

    def __getitem__(self, place: int) -> float:
        return float(self._values[place])


_PYTHON: dict[str, Any] = {"integer": int, "choice": int, "number": float, "switch": bool}


@typeof_impl.register(PlainLevers)
def _type_of_levers(levers: Any, _: Any) -> NamedLevers:
    """Return the type with which a kernel takes the levers that a plain answer hands to it."""
    return NamedLevers(levers._kinds)


@unbox(NamedLevers)
def _levers_in_a_kernel(_: NamedLevers, levers: Any, context: Any) -> Any:
    values = context.pyapi.object_getattr_string(levers, "_values")
    native = context.unbox(_ARRAY, values)
    context.pyapi.decref(values)  # the levers hold it as long as the call lasts
    return native


def plain_levers(values: np.ndarray, kinds: Kinds) -> PlainLevers | np.ndarray:
    """Return the levers of a policy for its answer in plain Python; without names, the array itself.

    >>> levers = plain_levers(np.array([8.0, 1.0]), (("shift", "integer"), ("wrap", "switch")))
    >>> levers.shift, levers.wrap, levers[0]
    (8, True, 8.0)
    """
    return PlainLevers(values, kinds) if kinds else values
