"""The bit-serial scan as gates: a counter of the run so far, the longest so far, one block a cycle."""

from __future__ import annotations

import numpy as np

from workbench.gates import ZERO, Netlist, larger, sum_of
from workbench.policies.probes.circuit.gate_list import GateList


def build(blocks: int) -> GateList:
    """Build every cycle one after another, so that the whole can be evaluated; the same hardware serves them all."""
    net, width = Netlist(blocks), blocks.bit_length()
    run = longest = np.full(width, ZERO, np.int32)
    for k in range(blocks):
        if k:
            run, longest = net.held(run), net.held(longest)
            net.next_cycle()
        run, longest = step(net, net.inputs[k : k + 1], run, longest)
    return GateList(net, longest, reused=True)


def one_step(blocks: int) -> Netlist:
    """Build the hardware itself: the gates of a cycle, and the registers of the run, of the longest and of the
    state."""
    width = blocks.bit_length()
    net = Netlist(1 + 2 * width)
    run, longest = step(net, net.inputs[:1], net.inputs[1 : 1 + width], net.inputs[1 + width :])
    net.held(run), net.held(longest), net.held(net.inputs[0].repeat(blocks))
    return net


def step(net: Netlist, block: np.ndarray, run: np.ndarray, longest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the run with one more block, or 0 where the block is occupied, and the longest of the runs so far."""
    run = net.and_(block, sum_of(net, run, np.array([1], np.int32), run.size))
    return run, larger(net, run, longest)
