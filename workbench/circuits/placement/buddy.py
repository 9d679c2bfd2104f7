"""Buddy: blocks of each order by a tree of ANDs, those without a free buddy, and the smallest order that has one.

The inputs, outputs and the map are those of `memory`. A length is rounded up to a power of two before it is taken out
of the map; a release says the rounded length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.placement.memory import Memory, begun, cases, finish
from workbench.circuits.placement.searches import lowest
from workbench.circuits.registry import Maker
from workbench.circuits.words import at_least, constant, first_one, widened
from workbench.gates.netlist import ZERO


def build(policy: Any, segments: int) -> Circuit:
    """Build buddy: of the free blocks of the smallest sufficient order that has one, the lowest."""
    memory = begun(policy, segments)
    net, alone = memory.net, _alone(memory)
    enough = [at_least(net, constant(1 << order, memory.length.size + 1), memory.length) for order in range(len(alone))]
    there = np.concatenate([net.any_of(row) for row in alone])
    order = net.signal("order", first_one(net, net.and_(np.concatenate(enough), there)))
    result = lowest(net, net.signal("start_map", _starts(net, order, alone, segments)))
    rounded = first_one(net, np.concatenate(enough))
    finish(memory._replace(length=widened(rounded, memory.length.size)), result.any, result.place)
    return net


def _alone(memory: Memory) -> list[np.ndarray]:
    """Return for each order a wire a block: whether it is free and its buddy is not."""
    net, blocks, rows = memory.net, memory.free, []
    while blocks.size > 1:
        pairs = blocks.size // 2
        joined = net.and_(blocks[0 : 2 * pairs : 2], blocks[1 : 2 * pairs : 2])
        covered = np.concatenate([np.repeat(joined, 2), np.full(blocks.size % 2, ZERO, np.int32)])
        rows.append(net.and_(blocks, net.not_(covered)))
        blocks = joined
    return [*rows, blocks]


def _starts(net: Circuit, order: np.ndarray, alone: list[np.ndarray], segments: int) -> np.ndarray:
    """Return where the blocks of the chosen order begin, a wire a segment."""
    starts = np.full(segments, ZERO, np.int32)
    for k, (wire, row) in enumerate(zip(order, alone, strict=True)):
        places = np.arange(row.size) << k
        starts[places] = net.or_(starts[places], net.and_(wire, row))
    return starts


MAKERS = [Maker("placement.buddy", build, cases, size="segments")]
