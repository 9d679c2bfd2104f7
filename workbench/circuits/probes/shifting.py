"""The probes by shifting: groups, shifted states, chain, reductions, decoding (spec 3, R31-R50)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.probes.asking import begun, cases, check_gates
from workbench.circuits.probes.one_hardware import served, stage
from workbench.circuits.registry import Maker
from workbench.gates.netlist import ONE
from workbench.policies.probes.circuit.gate_list import Form, Vectors, any_left, chained, decoded, gate_of, grouped

NAMES = ("exact_run", "grouped_run", "sampled_run", "grouped_sampled_run")


def build(probe: Any, blocks: int) -> Circuit:
    """Build the circuit of a probe by shifting, in any of its forms."""
    net, state = begun(probe, blocks)
    form = Form(probe.direction, probe.encoding, probe.decode, probe.timing, probe.chain)
    lengths, groups = probe._told_apart(blocks), probe._groups()
    check_gates(probe, blocks, 2 * max(lengths) * (groups or blocks), 4096)
    size = blocks // groups if groups else 1
    if form.timing == "pipe_3cycle_shared_hw":
        kept = _on_one_hardware(net, state, lengths, form, size)
    else:
        looked_at = net.signal("f0", grouped(net, state, size, form)) if groups else state
        kept = chained(net, looked_at, lengths, form)
    sar = net.signal("sar", any_left(net, kept, lengths, form))
    net.output("report", decoded(net, sar, [n * size for n in lengths], form))
    return net


def _on_one_hardware(net: Circuit, state: np.ndarray, lengths: Sequence[int], form: Form, size: int) -> Vectors:
    """Return the rows of the lengths from gates and registers that serve the groups first and then the chain."""
    one = form._replace(timing="comb_1cycle")
    flat = dict[int, slice]()

    def chain(part: Circuit, groups: np.ndarray) -> np.ndarray:
        kept = chained(part, groups, lengths, one)
        ends = np.cumsum([0, *(kept[length - 1].size for length in lengths)])
        flat.update({length - 1: slice(a, b) for length, a, b in zip(lengths, ends, ends[1:], strict=False)})
        return np.concatenate([kept[length - 1] for length in lengths])

    joined = stage(state.size, lambda part, given: grouped(part, given, size, one))
    rows = stage(joined.made.size, chain)
    held = served(net, state, (joined, rows), gate_of(net, form))
    return {k: np.where(rows.made[which] > ONE, held[which], rows.made[which]) for k, which in flat.items()}


MAKERS = [Maker(f"probe.{name}", build, cases) for name in NAMES]
