"""Values of the workbench's own that can change while they stay the same object, noted so that a look is quick."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.identity.guards import MISSING, Guards
from workbench.identity.objects import slots_of


def note_content(notes: Guards, value: Any, shown: str) -> None:
    """Note what a value holds now: members by being the same objects, numbers by their bytes, sets as they are.

    What the members hold is noted as they are passed.

    >>> numbers, notes = [1, 2], Guards()
    >>> note_content(notes, numbers, "NUMBERS")
    >>> notes.changed(), numbers.append(3), notes.changed()
    ('', None, 'NUMBERS')
    """
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        again: Any = functools.partial(_bytes, value)
    elif isinstance(value, (set, bytearray)):
        again = functools.partial(_values, value)
    else:
        notes.members(_lookup(value), shown)
        return
    notes.value(again, again(), shown)


def _bytes(array: np.ndarray) -> tuple[Any, ...]:
    return array.dtype, array.shape, array.strides, array.tobytes()


def _values(value: Any) -> frozenset[Any] | bytes:
    return bytes(value) if isinstance(value, bytearray) else frozenset((type(one), one) for one in value)


def _lookup(value: Any) -> Callable[[], tuple[Any, ...]]:
    """Return what gives all that a container or an object holds."""
    if isinstance(value, Mapping):
        return lambda: (*value.keys(), *value.values())
    if isinstance(value, (list, tuple)):
        return lambda: tuple(value)
    if isinstance(value, np.ndarray):
        return lambda: tuple(value.flat)
    space, slots = getattr(value, "__dict__", {}), slots_of(type(value))
    return lambda: (*space.values(), *(getattr(value, name, MISSING) for name in slots))
