"""An entry of a channel's queue: a group as it came, or a sub-group of one that was split.

Entries below the number of groups are groups; entry groups + k is row k of the sub-groups.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import inlined, kernel
from workbench.engines.dispatch.shape import Columns, Shape
from workbench.engines.dispatch.state import NONE, State

GROUP, WAVES, LEVEL, DIVIDED, BEHIND, FIRST = range(6)
"""Columns of a sub-group."""


@kernel
def group_of(columns: Columns, state: State, entry: int) -> int:
    """Return the group that an entry is, or is a part of."""
    return entry if entry < columns.arrival.size else state.part[entry - columns.arrival.size, GROUP]


@kernel
def waves_of(columns: Columns, state: State, entry: int) -> int:
    """Return the waves of an entry."""
    return columns.waves[entry] if entry < columns.arrival.size else state.part[entry - columns.arrival.size, WAVES]


@kernel
def first_wave_of(columns: Columns, state: State, entry: int) -> int:
    """Return the first wave of a sub-group within its group, -1 of a group as it came."""
    return NONE if entry < columns.arrival.size else state.part[entry - columns.arrival.size, FIRST]


@kernel
def level_of(columns: Columns, state: State, entry: int) -> int:
    """Return the static priority of an entry."""
    return columns.priority[entry] if entry < columns.arrival.size else state.part[entry - columns.arrival.size, LEVEL]


@kernel
def divided(columns: Columns, state: State, entry: int) -> bool:
    """Return whether the entry asks for its share of the module's resources alone."""
    return entry >= columns.arrival.size and state.part[entry - columns.arrival.size, DIVIDED] != 0


@inlined
def behind(columns: Columns, state: State, entry: int) -> int:
    """Return the entry behind another in its channel, -1 = none."""
    if entry < columns.arrival.size:
        return int(columns.following[entry])
    return state.part[entry - columns.arrival.size, BEHIND]


@kernel
def link(columns: Columns, state: State, entry: int, following: int) -> None:
    """Put another entry behind an entry."""
    if entry < columns.arrival.size:
        columns.following[entry] = following
    else:
        state.part[entry - columns.arrival.size, BEHIND] = following


@kernel
def of_module(columns: Columns, state: State, entry: int, resource: int) -> int:
    """Return the blocks of a module's own resource that an entry asks for."""
    group = group_of(columns, state, entry)
    requested = columns.demand[group, resource]
    if divided(columns, state, entry):
        whole = columns.waves[group]
        return (requested * waves_of(columns, state, entry) + whole - 1) // whole
    return requested


@inlined
def needs(shape: Shape, columns: Columns, state: State, entry: int, need: np.ndarray) -> None:
    """Write down what the whole entry takes of each resource of a module."""
    group, waves = group_of(columns, state, entry), waves_of(columns, state, entry)
    for h in range(shape.blocks.size):
        need[h] = waves * columns.demand[group, h] if h < shape.of_unit else of_module(columns, state, entry, h)
