"""Objects, written down by their class and their state: as they would be copied, and as they are."""

from __future__ import annotations

import copyreg
import enum
import functools
from collections.abc import Iterator
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.identity.guards import MISSING
from workbench.identity.numba_values import is_numba, usual_attributes
from workbench.identity.owners import label, module_of_class, owner_of_class

if TYPE_CHECKING:
    from workbench.identity.walk import Walk

_HOOKS = ("__getstate__", "__reduce__", "__reduce_ex__")
"""How a class says what of its objects is copied, which need not be all that its methods read."""


def write_object(walk: Walk, value: Any) -> None:
    """Write down an object's class and its state: as it would be copied, and where its class says how, as it is too."""
    if isinstance(value, tuple) and type(value).__reduce_ex__ is tuple.__reduce_ex__:
        walk.value(type(value))
        walk.value(tuple(value))
        return
    whole = _says_how(type(value))
    try:
        reduced = _reduced(value)
    except Exception:  # each kind of object that cannot be copied says so in its own way
        if not whole:
            undigestible(walk, value)
            return
        reduced = ""
    if isinstance(reduced, str) and not whole:
        walk.put("known", label(module_of_class(type(value)), reduced))
    elif type(value).__hash__ is None or owner_of_class(type(value)) == "user":
        walk.changeable(value, _whole if whole else _state)
    else:
        walk.note(value)
        with walk.once(value) as first:
            if first:
                _state(walk, value)


def attached(value: Any) -> dict[str, Any]:
    """Return what the user's code attached to a value whose kind says nothing of its attributes: a member of an
    enumeration, a wrapper of functions, an array of a subclass, a compiled function.

    >>> import functools
    >>> partial = functools.partial(int)
    >>> partial.aim = 3
    >>> attached(partial), attached(3)
    ({'aim': 3}, {})
    """
    if isinstance(value, np.memmap) or not (isinstance(value, _TAKE_ATTRIBUTES) or is_numba(type(value))):
        return {}
    space = getattr(value, "__dict__", None) or {}
    usual = usual_attributes(value) if is_numba(type(value)) else _USUAL
    return {name: one for name, one in space.items() if not (name in usual or name.startswith("_"))}


def write_attached(walk: Walk, value: Any) -> None:
    """Write down what is attached to a value."""
    walk.value(attached(value))


_TAKE_ATTRIBUTES = (np.ndarray, functools.partial, functools.partialmethod, type(functools.lru_cache(len)), enum.Enum)
_USUAL = frozenset({"cache_parameters"})


def undigestible(walk: Walk, value: Any) -> None:
    """Refuse a value that no digest can stand for; among the workbench's own it counts by its kind."""
    if not walk.lenient:
        raise walk.refuse(value) from None
    walk.put("object", label(module_of_class(type(value)), type(value).__qualname__))


def _says_how(kind: type) -> bool:
    """Return whether a class of the user's says what of its objects is copied."""
    if kind in copyreg.dispatch_table:
        return owner_of_class(kind) == "user"
    said = (base for hook in _HOOKS for base in kind.__mro__ if hook in vars(base) and base is not object)
    return any(owner_of_class(base) == "user" for base in said)


def _reduced(value: Any) -> Any:
    how = copyreg.dispatch_table.get(type(value))
    return value.__reduce_ex__(4) if how is None else how(value)


def _whole(walk: Walk, value: Any) -> None:
    walk.value(type(value))
    walk.value(dict(_attributes(value)))
    try:
        reduced = _reduced(value)
    except Exception:
        return
    if not isinstance(reduced, str):
        _parts(walk, reduced)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object holds in its own namespace and in slots."""
    yield from getattr(value, "__dict__", {}).items()
    for name in slots_of(type(value)):
        yield name, getattr(value, name, MISSING)


def slots_of(kind: type) -> list[str]:
    """Return the names of the slots of a class and its bases."""
    return [name for base in kind.__mro__ for name, one in vars(base).items() if isinstance(one, MemberDescriptorType)]


def _state(walk: Walk, value: Any) -> None:
    walk.value(type(value))
    installed = owner_of_class(type(value)) == "installed"
    walk.within_installed += installed
    try:
        _parts(walk, _reduced(value))
    finally:
        walk.within_installed -= installed


def _parts(walk: Walk, reduced: Any) -> None:
    made, arguments, *rest = reduced
    walk.value(made)
    walk.value(arguments)
    state, listed, mapped = (*rest, None, None, None)[:3]
    if isinstance(state, dict) and not _NOTED_LATER.isdisjoint(state):
        state = {name: one for name, one in state.items() if name not in _NOTED_LATER}
    walk.value(state)
    walk.value(None if listed is None else list(listed))
    walk.value(None if mapped is None else dict(mapped))


_NOTED_LATER = frozenset({"_has_canonical_format", "_has_sorted_indices"})
"""What matrices of SciPy note about their numbers when they are first asked."""
