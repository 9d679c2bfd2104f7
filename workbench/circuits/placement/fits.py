"""The rivals: first fit, last fit and best fit, with the same bitmap and the same window tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.placement.memory import Memory, begun, cases, finish
from workbench.circuits.placement.searches import highest, lowest
from workbench.circuits.placement.windows import chained, lengths, starts
from workbench.circuits.registry import Maker
from workbench.circuits.words import first_one, from_first_one


def first(policy: Any, segments: int) -> Circuit:
    """Build first fit: the lowest start that fits."""
    memory = begun(policy, segments)
    result = lowest(memory.net, memory.net.signal("start_map", starts(memory)))
    finish(memory, result.any, result.place)
    return memory.net


def last(policy: Any, segments: int) -> Circuit:
    """Build last fit: the highest start that fits."""
    memory = begun(policy, segments)
    result = highest(memory.net, memory.net.signal("start_map", starts(memory)))
    finish(memory, result.any, result.place)
    return memory.net


def best(policy: Any, segments: int) -> Circuit:
    """Build best fit: of the free runs that are long enough the shortest, found length by length side by side."""
    memory = begun(policy, segments)
    net, runs = memory.net, _whole_runs(memory)
    requested = from_first_one(net, lengths(memory))
    there = np.concatenate([net.any_of(row) for row in runs])
    shortest = net.signal("shortest", first_one(net, net.and_(requested, there)))
    passed = np.stack([net.and_(wire, row) for wire, row in zip(shortest, runs, strict=True)])
    heads = net.signal("heads", np.concatenate([net.any_of(column) for column in passed.T]))
    result = (lowest if policy.tie == "low" else highest)(net, heads)
    finish(memory, result.any, result.place)
    return net


def _whole_runs(memory: Memory) -> list[np.ndarray]:
    """Return for each length where a free run of just that length begins."""
    net, free, size = memory.net, memory.free, memory.segments
    taken = net.not_(free)
    heads = np.concatenate([free[:1], net.and_(free[1:], taken[:-1])])
    rows = []
    for length, row in enumerate(chained(memory), 1):
        ends = np.ones(size, np.int32)
        ends[: size - length] = taken[length:]
        rows.append(net.and_(net.and_(heads, row), ends))
    return rows


MAKERS = [
    Maker(f"placement.{name}", build, cases, size="segments")
    for name, build in (("first_fit", first), ("last_fit", last), ("best_fit", best))
]
