"""Shift-AND doubling as gates: the windows of 1, 2, 4, ... blocks, then the longest window bit by bit."""

from __future__ import annotations

import numpy as np

from workbench.policies.probes.circuit.gate_list import GateList
from workbench.policies.probes.circuit.netlist import ONE, ZERO, Netlist


def build(blocks: int, steps_are_cycles: bool) -> GateList:
    """Build the windows of 2**j blocks for every j, then ask from the largest j down whether there is one that is
    longer by 2**j."""
    net = Netlist(blocks)
    windows = [net.inputs]
    for j in range(blocks.bit_length() - 1):
        windows.append(net.and_(windows[j], _ahead(windows[j], 1 << j, np.array([ZERO]))))
        if steps_are_cycles:
            windows[-1] = net.held(windows[-1])
            net.next_cycle()
    longest, nothing = np.full(blocks, ONE, np.int32), np.array([ONE], np.int32)
    bits: list[np.ndarray] = []
    for j in range(len(windows) - 1, -1, -1):
        longer = net.and_(windows[j], _ahead(longest, 1 << j, nothing))
        fits = net.any_of(longer)
        bits.append(fits)
        if j == 0:
            break
        longest = net.select(fits, longer, longest)
        nothing = net.and_(nothing, net.not_(fits))
        if steps_are_cycles:
            longest, nothing, bits = net.held(longest), net.held(nothing), [net.held(bit) for bit in bits]
            net.next_cycle()
    return GateList(net, np.concatenate(bits[::-1]))


def _ahead(windows: np.ndarray, by: int, beyond: np.ndarray) -> np.ndarray:
    """Return for each block what holds `by` blocks above it; beyond the end windows of no block at all may still
    begin."""
    return np.concatenate([windows[by:], np.broadcast_to(beyond, min(by, windows.size)).astype(np.int32)])
