"""The levers of a policy as its answer sees them: an array of numbers that also knows each lever by its name.

Engines hand over one array of float64, whatever the policy. Which number is which is part of the type with which an
answer is compiled, so `see.levers.shift` is one load, and its order of declaration is nobody's concern.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr_generic, models, register_model

Kinds = tuple[tuple[str, str], ...]
"""The name and the kind of each scalar lever, in the order of their numbers."""

_TYPES = {"integer": types.int64, "choice": types.int64, "number": types.float64, "switch": types.boolean}


class NamedLevers(types.Array):
    """The type of the array, with the words of an ordinary one; each lever is an attribute too.

    A whole number and the place of a choice are `int64`, a switch is a truth value, any other number `float64`.
    """

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = dict(kinds)
        self.places = {name: place for place, (name, _) in enumerate(kinds)}
        told = ",".join(f"{name}:{kind}" for name, kind in kinds)
        super().__init__(types.float64, 1, "C", readonly=True, name=f"levers({told})")


register_model(NamedLevers)(models.ArrayModel)


@infer_getattr
class _LeverTypes(AttributeTemplate):
    key = NamedLevers

    def generic_resolve(self, levers: Any, name: str) -> Any:  # type: ignore[override]
        kind = levers.kinds.get(name)
        return None if kind is None else _TYPES[kind]


@lower_getattr_generic(NamedLevers)
def _read_lever(context: Any, builder: Any, levers: NamedLevers, value: Any, name: str) -> Any:
    array = context.make_array(levers)(context, builder, value)
    number = builder.load(cgutils.gep(builder, array.data, levers.places[name]))
    return context.cast(builder, number, types.float64, _TYPES[levers.kinds[name]])


class PlainLevers(np.ndarray):
    """The same for plain Python: float64[levers], each lever an attribute too."""

    kinds: dict[str, str]

    def __array_finalize__(self, origin: Any) -> None:
        self.kinds = getattr(origin, "kinds", {})

    def __getattr__(self, name: str) -> Any:
        for place, (lever, kind) in enumerate(self.kinds.items()):
            if lever == name:
                return _PYTHON[kind](self[place])
        raise AttributeError(f"there is no lever {name}; there are {', '.join(self.kinds) or 'none'}")


_PYTHON: dict[str, Any] = {"integer": int, "choice": int, "number": float, "switch": bool}


def plain_levers(values: np.ndarray, kinds: Kinds) -> PlainLevers:
    """Return the levers of a policy for its answer in plain Python.

    >>> levers = plain_levers(np.array([8.0, 1.0]), (("shift", "integer"), ("wrap", "switch")))
    >>> levers.shift, levers.wrap, float(levers[0])
    (8, True, 8.0)
    """
    found = np.asarray(values, np.float64).view(PlainLevers)
    found.kinds = dict(kinds)
    return found
