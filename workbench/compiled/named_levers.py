"""The levers of a policy as its answer sees them: numbers, each by its name and by its place.

Engines hand over one array of float64, whatever the policy. Which number is which is part of the type with which an
answer is compiled, so `see.levers.shift` is one load, and its order of declaration is nobody's concern.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global
from numba.extending import lower_builtin, lower_getattr_generic, models, register_model, typeof_impl, unbox

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


_PYTHON: dict[str, Any] = {"integer": int, "choice": int, "number": float, "switch": bool}


def plain_levers(values: np.ndarray, kinds: Kinds) -> PlainLevers | np.ndarray:
    """Return the levers of a policy for its answer in plain Python; without names, the array itself.

    >>> levers = plain_levers(np.array([8.0, 1.0]), (("shift", "integer"), ("wrap", "switch")))
    >>> levers.shift, levers.wrap, levers[0]
    (8, True, 8.0)
    """
    return PlainLevers(values, kinds) if kinds else values
