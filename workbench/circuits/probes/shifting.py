"""The probes by shifting: groups, shifted states, chain, reductions, decoding (spec 3, R31-R50)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.probes.asking import begun, cases, check_gates
from workbench.circuits.probes.one_hardware import served, stage
from workbench.circuits.registry import Maker
from workbench.policies.probes.circuit.netlist import ONE
from workbench.policies.probes.circuit.shift_and import Form, decoded, halves, moved

NAMES = ("exact_run", "grouped_run", "sampled_run", "grouped_sampled_run")

Vectors = dict[int, np.ndarray]
"""A row for each k: where a run of k + 1 free blocks ends, in the direction of the shift."""


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
        looked_at = net.signal("f0", _grouped(net, state, size, form)) if groups else state
        kept = _chained(net, looked_at, lengths, form)
    sar = net.signal("sar", np.concatenate([_left(net, kept[length - 1], form) for length in lengths]))
    net.output("report", decoded(net, sar, [n * size for n in lengths], form))
    return net


def _on_one_hardware(net: Circuit, state: np.ndarray, lengths: Sequence[int], form: Form, size: int) -> Vectors:
    """Return the rows of the lengths from gates and registers that serve the groups first and then the chain."""
    one = form._replace(timing="comb_1cycle")
    flat = dict[int, slice]()

    def chain(part: Circuit, groups: np.ndarray) -> np.ndarray:
        rows = _chained(part, groups, lengths, one)
        ends = np.cumsum([0, *(rows[length - 1].size for length in lengths)])
        flat.update({length - 1: slice(a, b) for length, a, b in zip(lengths, ends, ends[1:], strict=False)})
        return np.concatenate([rows[length - 1] for length in lengths])

    groups = stage(state.size, lambda part, given: _grouped(part, given, size, one))
    chained = stage(groups.made.size, chain)
    held = served(net, state, (groups, chained), _gate(net, form))
    return {k: np.where(chained.made[which] > ONE, held[which], chained.made[which]) for k, which in flat.items()}


def _grouped(net: Circuit, state: np.ndarray, size: int, form: Form) -> np.ndarray:
    """Return one wire a group: whether it is wholly free, formed for all groups side by side."""
    members, gate = state.reshape(-1, size), _gate(net, form)
    while members.shape[1] > 1:
        pairs = members.shape[1] // 2
        joined = gate(members[:, :pairs], members[:, pairs : 2 * pairs])
        members = np.concatenate([joined, members[:, 2 * pairs :]], 1)
    return members[:, 0]


def _chained(net: Circuit, state: np.ndarray, lengths: Sequence[int], form: Form) -> Vectors:
    """Return the rows of the lengths, after the registers of a probe in three cycles."""
    piped = form.timing != "comb_1cycle"
    most = 1 if form.chain == "doubling" else max(lengths)
    shifted = {k: moved(state, k, form) for k in range(most)}
    if piped:
        shifted = {k: net.held(row) for k, row in shifted.items()}
    rows = _doubled(net, shifted[0], lengths, form) if form.chain == "doubling" else _running(net, shifted, form)
    return {length - 1: net.held(rows[length - 1]) if piped else rows[length - 1] for length in lengths}


def _running(net: Circuit, shifted: Vectors, form: Form) -> Vectors:
    """Chain SA[i] = SA[i - 1] AND S[i], through every i."""
    rows, gate = {0: shifted[0]}, _gate(net, form)
    for i in range(1, len(shifted)):
        rows[i] = net.signal(f"sa_{i}", gate(rows[i - 1], shifted[i]))
    return rows


def _doubled(net: Circuit, state: np.ndarray, lengths: Sequence[int], form: Form) -> Vectors:
    """Form SA[k] = SA[base] AND SA[base] moved by k - base, from the shortest row that reaches."""
    rows, formed, gate = {0: state}, [0, *halves(lengths)], _gate(net, form)
    for k in formed[1:]:
        base = formed[bisect_left(formed, k // 2)]
        rows[k] = net.signal(f"sa_{k}", gate(rows[base], moved(rows[base], k - base, form)))
    return rows


def _gate(net: Circuit, form: Form) -> Callable[[Any, Any], np.ndarray]:
    return net.and_ if form.encoding == "free1" else net.or_


def _left(net: Circuit, row: np.ndarray, form: Form) -> np.ndarray:
    """Return whether a free block is left in a row."""
    return net.any_of(row) if form.encoding == "free1" else net.not_all_of(row)


MAKERS = [Maker(f"probe.{name}", build, cases) for name in NAMES]
