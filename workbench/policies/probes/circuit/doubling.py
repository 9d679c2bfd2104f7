"""Shift-AND doubling as gates: the windows of 1, 2, 4, ... blocks, then the longest window bit by bit."""

from __future__ import annotations

import numpy as np

from workbench.gates import ONE, ZERO, Netlist
from workbench.policies.probes.circuit.gate_list import GateList


def build(blocks: int, steps_are_cycles: bool) -> GateList:
    """Build the circuit of a resource."""
    net = Netlist(blocks)
    return GateList(net, reported(net, net.inputs, steps_are_cycles))


def reported(net: Netlist, state: np.ndarray, steps_are_cycles: bool) -> np.ndarray:
    """Return the longest run: from the largest j down, whether there is a window that is longer by 2**j."""
    windows = _windows(net, state, steps_are_cycles)
    longest, nothing, bits = np.full(state.size, ONE, np.int32), np.array([ONE], np.int32), list[np.ndarray]()
    for j in range(len(windows) - 1, -1, -1):
        longer = net.and_(windows[j], _ahead(longest, 1 << j, nothing))
        fits = net.signal(f"fits_{1 << j}", net.any_of(longer))
        bits.append(fits)
        if j:
            longest = net.signal(f"longest_{j}", net.select(fits, longer, longest))
            nothing = net.and_(nothing, net.not_(fits))
        if j and steps_are_cycles:
            longest, nothing, bits = net.held(longest), net.held(nothing), [net.held(bit) for bit in bits]
            net.next_cycle()
    return np.concatenate(bits[::-1])


def _windows(net: Netlist, state: np.ndarray, steps_are_cycles: bool) -> list[np.ndarray]:
    """Return where the windows of 1, 2, 4, ... free blocks begin."""
    windows = [state]
    for j in range(state.size.bit_length() - 1):
        wider = net.and_(windows[j], _ahead(windows[j], 1 << j, np.array([ZERO])))
        windows.append(net.held(wider) if steps_are_cycles else net.signal(f"window_{2 << j}", wider))
        if steps_are_cycles:
            net.next_cycle()
    return windows


def _ahead(windows: np.ndarray, by: int, beyond: np.ndarray) -> np.ndarray:
    """Return for each block what holds `by` blocks above it; beyond the end windows of no block at all may still
    begin."""
    return np.concatenate([windows[by:], np.broadcast_to(beyond, min(by, windows.size)).astype(np.int32)])
