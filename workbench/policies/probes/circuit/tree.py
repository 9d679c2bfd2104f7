"""The tree of (prefix, suffix, best) as gates: N - 1 nodes, each joining two neighbouring ranges of blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.gates import Netlist, constant, in_each, larger, sum_of, widened
from workbench.policies.probes.circuit.gate_list import GateList


class Ranges(NamedTuple):
    """Neighbouring ranges of equally many blocks; numbers are int32[bits, ranges]."""

    size: int
    """Blocks of each range."""
    full: np.ndarray
    """int32[ranges], whether all blocks are free."""
    prefix: np.ndarray
    """Free blocks at the low end."""
    suffix: np.ndarray
    """Free blocks at the high end."""
    best: np.ndarray
    """The longest run."""


def build(blocks: int, levels_are_cycles: bool) -> tuple[GateList, int]:
    """Build the circuit, and how many nodes it has."""
    net = Netlist(blocks)
    root, nodes = root_of(net, net.inputs, levels_are_cycles)
    return GateList(net, root.best[:, 0]), nodes


def root_of(net: Netlist, state: np.ndarray, levels_are_cycles: bool) -> tuple[Ranges, int]:
    """Join blocks level by level into one range, and count the nodes; a range without a neighbour waits for the next
    level."""
    row, nodes, level = state[None], 0, 0
    ranges, odd = Ranges(1, state, row, row, row), None
    while ranges.full.size + (odd is not None) > 1:
        if level and levels_are_cycles:
            ranges, odd = _held(net, ranges), odd and _held(net, odd)
            net.next_cycle()
        pairs, level = ranges.full.size // 2, level + 1
        last = _some(ranges, slice(2 * pairs, None)) if ranges.full.size % 2 else None
        nodes += pairs + (last is not None and odd is not None)
        odd = joined(net, last, odd) if last and odd else last or odd
        if pairs == 0:
            assert odd is not None
            return odd, nodes
        ranges = joined(net, _some(ranges, slice(0, 2 * pairs, 2)), _some(ranges, slice(1, 2 * pairs, 2)))
        _name(net, level, ranges)
    return ranges, nodes


def _name(net: Netlist, level: int, ranges: Ranges) -> None:
    for name, wires in zip(Ranges._fields[1:], ranges[1:], strict=True):
        net.signal(f"{name}_{level}", wires.reshape(-1))


def joined(net: Netlist, low: Ranges, high: Ranges) -> Ranges:
    """Return each range of the one with its upper neighbour of the other: a node of the tree for each."""
    size = low.size + high.size
    bits = size.bit_length()
    past_low = sum_of(net, in_each(constant(low.size, bits), high.prefix), high.prefix, bits)
    past_high = sum_of(net, in_each(constant(high.size, bits), low.suffix), low.suffix, bits)
    across = sum_of(net, low.suffix, high.prefix, bits)
    inside = larger(net, widened(low.best, bits), widened(high.best, bits))
    return Ranges(
        size,
        net.and_(low.full, high.full),
        net.select(low.full, past_low, widened(low.prefix, bits)),
        net.select(high.full, past_high, widened(high.suffix, bits)),
        larger(net, inside, across),
    )


def _some(ranges: Ranges, which: slice) -> Ranges:
    return Ranges(ranges.size, ranges.full[which], *(number[:, which] for number in ranges[2:]))


def _held(net: Netlist, ranges: Ranges) -> Ranges:
    return Ranges(ranges.size, *(net.held(wires) for wires in ranges[1:]))
