"""Groups and the sub-groups of those that were split: their waves, levels and members (spec 3).

An entry of a queue is a group as it came, or a sub-group of one that was split: entries below the number of groups are
groups, entry groups + k is row k of the sub-groups.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import NO_BITS, ONE_BIT, inlined, kernel, left, right, trailing_zeros
from workbench.engines.dispatch.setting import Columns, Rules, Shape
from workbench.engines.dispatch.state import NONE, State

PART_GROUP, PART_WAVES, PART_LEVEL, PART_DIVIDED, PART_BEHIND, PART_FIRST = range(6)
"""Columns of a sub-group."""


@kernel
def group_of(columns: Columns, state: State, entry: int) -> int:
    """Return the group that an entry is, or is a part of."""
    return entry if entry < columns.arrival.size else state.part[entry - columns.arrival.size, PART_GROUP]


@kernel
def waves_of(columns: Columns, state: State, entry: int) -> int:
    """Return the waves of an entry."""
    return (
        columns.waves[entry] if entry < columns.arrival.size else state.part[entry - columns.arrival.size, PART_WAVES]
    )


@kernel
def first_wave_of(columns: Columns, state: State, entry: int) -> int:
    """Return the first wave of a sub-group within its group, -1 of a group as it came."""
    return NONE if entry < columns.arrival.size else state.part[entry - columns.arrival.size, PART_FIRST]


@kernel
def is_cluster(columns: Columns, rules: Rules, entry: int) -> bool:
    """Return whether an entry is the first group of a cluster."""
    if rules.clusters == 0 or entry >= columns.arrival.size:
        return False
    return bool(columns.lot.beside[entry] != NONE)


@kernel
def level_of(columns: Columns, state: State, entry: int) -> int:
    """Return the static priority of an entry."""
    return (
        columns.priority[entry]
        if entry < columns.arrival.size
        else state.part[entry - columns.arrival.size, PART_LEVEL]
    )


@kernel
def divided(columns: Columns, state: State, entry: int) -> bool:
    """Return whether the entry asks for its share of the module's resources alone."""
    return entry >= columns.arrival.size and state.part[entry - columns.arrival.size, PART_DIVIDED] != 0


@inlined
def behind(columns: Columns, state: State, entry: int) -> int:
    """Return the entry behind another in its channel, -1 = none."""
    if entry < columns.arrival.size:
        return int(columns.following[entry])
    return state.part[entry - columns.arrival.size, PART_BEHIND]


@kernel
def link(columns: Columns, state: State, entry: int, following: int) -> None:
    """Put another entry behind an entry."""
    if entry < columns.arrival.size:
        columns.following[entry] = following
    else:
        state.part[entry - columns.arrival.size, PART_BEHIND] = following


@kernel
def of_module(shape: Shape, columns: Columns, state: State, entry: int, resource: int) -> int:
    """Return the blocks of a module's own resource that an entry asks for."""
    group = group_of(columns, state, entry)
    requested = columns.demand[group, resource]
    if resource == shape.barriers:
        # A sub-group of one wave takes no barrier, though its group does (spec 7, E11).
        return min(requested, waves_of(columns, state, entry) - 1)
    if divided(columns, state, entry):
        whole = columns.waves[group]
        return (requested * waves_of(columns, state, entry) + whole - 1) // whole
    return requested


@inlined
def write_needs(shape: Shape, columns: Columns, state: State, entry: int, need: np.ndarray) -> None:
    """Write down what the whole entry takes of each resource of a module."""
    group, waves = group_of(columns, state, entry), waves_of(columns, state, entry)
    for h in range(shape.blocks.size):
        need[h] = waves * columns.demand[group, h] if h < shape.of_unit else of_module(shape, columns, state, entry, h)


@inlined
def is_member(row: np.ndarray, module: int) -> bool:
    """Return whether the module is in the set."""
    return right(row[module >> 6], module & 63) & ONE_BIT != NO_BITS


@kernel
def set_member(row: np.ndarray, module: int, member: bool) -> int:
    """Put the module in, or take it out; return by how much the set has grown."""
    bit = left(ONE_BIT, module & 63)
    was = row[module >> 6] & bit != NO_BITS
    if member:
        row[module >> 6] |= bit
    else:
        row[module >> 6] &= ~bit
    return int(member) - int(was)


@inlined
def members(row: np.ndarray, listed: np.ndarray) -> int:
    """Write the modules of the set down, increasing; return how many they are."""
    count = 0
    for word in range(row.size):
        bits = row[word]
        while bits != NO_BITS:
            listed[count] = word * 64 + trailing_zeros(bits)
            count += 1
            bits &= bits - ONE_BIT
    return count
