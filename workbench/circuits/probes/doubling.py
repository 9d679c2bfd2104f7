"""Shift-AND doubling: the windows of 1, 2, 4, ... blocks, then the longest window bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.probes.asking import begun, cases
from workbench.circuits.registry import Maker
from workbench.policies.probes.circuit.netlist import ONE, ZERO


def build(probe: Any, blocks: int) -> Circuit:
    """Build the windows, then ask from the largest down whether there is one that is longer by 2**j."""
    net, state = begun(probe, blocks)
    stepped = probe.timing == "step_a_cycle"
    windows = _windows(net, state, stepped)
    longest, nothing, bits = np.full(blocks, ONE, np.int32), np.array([ONE], np.int32), list[np.ndarray]()
    for j in range(len(windows) - 1, -1, -1):
        longer = net.and_(windows[j], _ahead(longest, 1 << j, nothing))
        fits = net.signal(f"fits_{1 << j}", net.any_of(longer))
        bits.append(fits)
        if j:
            longest = net.signal(f"longest_{j}", net.select(fits, longer, longest))
            nothing = net.and_(nothing, net.not_(fits))
        if j and stepped:
            longest, nothing, bits = net.held(longest), net.held(nothing), [net.held(bit) for bit in bits]
    net.output("report", np.concatenate(bits[::-1]))
    return net


def _windows(net: Circuit, state: np.ndarray, stepped: bool) -> list[np.ndarray]:
    """Return where the windows of 1, 2, 4, ... free blocks begin."""
    windows = [state]
    for j in range(state.size.bit_length() - 1):
        wider = net.and_(windows[j], _ahead(windows[j], 1 << j, np.array([ZERO])))
        windows.append(net.held(wider) if stepped else net.signal(f"window_{2 << j}", wider))
    return windows


def _ahead(windows: np.ndarray, by: int, beyond: np.ndarray) -> np.ndarray:
    """Return for each block what holds `by` blocks above it; beyond the end windows of no block may still begin."""
    return np.concatenate([windows[by:], np.broadcast_to(beyond, min(by, windows.size)).astype(np.int32)])


MAKERS = [Maker("probe.shift_doubling", build, cases)]
