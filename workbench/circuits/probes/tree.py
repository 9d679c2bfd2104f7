"""The tree of (prefix, suffix, best): N - 1 nodes, each joining two neighbouring ranges of blocks."""

from __future__ import annotations

from typing import Any

from workbench.circuits.netlist import Circuit
from workbench.circuits.probes.asking import begun, cases
from workbench.circuits.registry import Maker
from workbench.policies.probes.circuit.tree import Ranges, joined


def build(probe: Any, blocks: int) -> Circuit:
    """Build the tree level by level; a range without a neighbour waits for the next level."""
    net, state = begun(probe, blocks)
    row, odd = state[None], None
    ranges = Ranges(1, state, row, row, row)
    level = 0
    while ranges.full.size + (odd is not None) > 1:
        if level and probe.timing == "step_a_cycle":
            ranges, odd = _held(net, ranges), odd and _held(net, odd)
        pairs = ranges.full.size // 2
        last = _some(ranges, slice(2 * pairs, None)) if ranges.full.size % 2 else None
        odd = joined(net, last, odd) if last and odd else last or odd
        if not pairs:
            break
        ranges = joined(net, _some(ranges, slice(0, 2 * pairs, 2)), _some(ranges, slice(1, 2 * pairs, 2)))
        level += 1
        _name(net, level, ranges)
    best = odd.best if odd is not None and (not pairs) else ranges.best
    net.output("report", best[:, 0])
    return net


def _name(net: Circuit, level: int, ranges: Ranges) -> None:
    for name in ("full", "prefix", "suffix", "best"):
        wires = getattr(ranges, name)
        net.signal(f"{name}_{level}", wires.reshape(-1))


def _some(ranges: Ranges, which: slice) -> Ranges:
    return Ranges(ranges.size, ranges.full[which], *(number[:, which] for number in ranges[2:]))


def _held(net: Circuit, ranges: Ranges) -> Ranges:
    return Ranges(ranges.size, *(net.held(wires) for wires in ranges[1:]))


MAKERS = [Maker("probe.prefix_suffix_tree", build, cases)]
