"""The gates of a probe by shifting: groups, shifted states, chain, reductions, decoding (spec 3, R31-R50).

A trace evaluates them for one state, for a reader who checks the vectors of the source document by hand.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.gates import DECODE, ONE, ZERO, Netlist
from workbench.policies.placement.free_map import bits_text
from workbench.policies.probes.gate_list import GateList


class Form(NamedTuple):
    """How a probe by shifting is built."""

    direction: Literal["right", "left"]
    encoding: Literal["free1", "free0"]
    decode: Literal["lut", "scan"]
    timing: str
    chain: Literal["running", "doubling"]


Vectors = dict[int, np.ndarray]
"""A row for each k: where a run of k + 1 free blocks ends, in the direction of the shift."""


def build(blocks: int, lengths: Sequence[int], form: Form, groups: int = 0) -> GateList:
    """Build the circuit for the run lengths that it tells apart, counted in groups where there are any."""
    net, size = Netlist(blocks), blocks // groups if groups else 1
    rows = chained(net, grouped(net, net.inputs, size, form), lengths, form)
    bits = any_left(net, rows, lengths, form)
    net.part = DECODE
    report = decoded(net, bits, [n * size for n in lengths], form.decode)
    return GateList(net, report, reused=form.timing == "pipe_3cycle_shared_hw")


class ProbeTrace(NamedTuple):
    """The vectors as text, block 0 (or group 0) on the left, in the encoding of the probe."""

    f0: str | None
    """The groups' bits, F0; None for a probe without groups (R39)."""
    s: tuple[str, ...]
    """S: the state, or F0, shifted by 0, 1, 2, ... (R31)."""
    sa: tuple[str, ...]
    """SA, or FA: row i combines S[0] to S[i] (R32)."""
    sar: str
    """SAR, FAR, or SAR of the sampled lengths: bit w tells whether there is a run of the w-th length (R33, R45)."""
    longest: int
    """The report, in blocks."""


def trace(state: np.ndarray, lengths: Sequence[int], form: Form, groups: int = 0) -> ProbeTrace:
    """Evaluate the gates of a running chain for one state, given in the encoding of the probe."""
    net, size = Netlist(state.size), state.size // groups if groups else 1
    looked_at = grouped(net, net.inputs, size, form)
    shifted = {k: moved(looked_at, k, form) for k in range(looked_at.size)}
    rows = _running(net, shifted, form)
    bits = any_left(net, rows, lengths, form)
    probe = GateList(net, decoded(net, bits, [n * size for n in lengths], form.decode))
    values = net.values(state[:, None])[:, 0]
    return ProbeTrace(
        bits_text(values[looked_at]) if groups else None,
        tuple(bits_text(values[row]) for row in shifted.values()),
        tuple(bits_text(values[row]) for row in rows.values()),
        bits_text(values[bits]),
        int(probe.reports(state[:, None])[0]),
    )


def grouped(net: Netlist, state: np.ndarray, size: int, form: Form) -> np.ndarray:
    """Return one wire a group: whether it is wholly free, formed for all groups side by side."""
    members, gate = state.reshape(-1, size), gate_of(net, form)
    while members.shape[1] > 1:
        pairs = members.shape[1] // 2
        halved = gate(members[:, :pairs], members[:, pairs : 2 * pairs])
        members = np.concatenate([halved, members[:, 2 * pairs :]], 1)
    return members[:, 0]


def chained(net: Netlist, state: np.ndarray, lengths: Sequence[int], form: Form) -> Vectors:
    """Return the rows of the lengths, after the registers of a probe in three cycles."""
    piped = form.timing != "comb_1cycle"
    most = 1 if form.chain == "doubling" else max(lengths)
    shifted = _behind_registers(net, {k: moved(state, k, form) for k in range(most)}, piped)
    rows = _doubled(net, shifted[0], lengths, form) if form.chain == "doubling" else _running(net, shifted, form)
    return _behind_registers(net, {length - 1: rows[length - 1] for length in lengths}, piped)


def any_left(net: Netlist, rows: Vectors, lengths: Sequence[int], form: Form) -> np.ndarray:
    """Return SAR, a wire a length: whether a free block is left in its row."""
    reduce = net.any_of if form.encoding == "free1" else net.not_all_of
    return np.concatenate([reduce(rows[length - 1]) for length in lengths])


def decoded(net: Netlist, bits: np.ndarray, numbers: Sequence[int], decode: Literal["lut", "scan"]) -> np.ndarray:
    """Return the number of the last 1 of a thermometer code, 0 without a 1: from a table, or by a scan from above."""
    width = max(numbers).bit_length()
    if decode == "lut":
        return net.table(bits, [0, *numbers], width)
    above, last = np.array([ZERO], np.int32), []
    for bit in bits[::-1]:
        last.append(net.and_(bit, net.not_(above)))
        above = net.or_(bit, above)
    last = last[::-1]
    encoded = [[one for one, number in zip(last, numbers, strict=True) if number >> j & 1] for j in range(width)]
    return np.concatenate([net.any_of(np.concatenate(ones) if ones else []) for ones in encoded])


def _occupied(form: Form) -> int:
    return ZERO if form.encoding == "free1" else ONE


def moved(vector: np.ndarray, by: int, form: Form) -> np.ndarray:
    """Return a vector shifted, occupied blocks coming in: wiring, no gates."""
    coming = np.full(min(by, vector.size), _occupied(form), np.int32)
    if form.direction == "right":
        return np.concatenate([coming, vector[: vector.size - by]])
    return np.concatenate([vector[by:], coming])


def _behind_registers(net: Netlist, rows: Vectors, piped: bool) -> Vectors:
    """Return rows a cycle later where the probe takes three."""
    if not piped:
        return rows
    held = {k: net.held(row) for k, row in rows.items()}
    net.next_cycle()
    return held


def _running(net: Netlist, shifted: Vectors, form: Form) -> Vectors:
    """Chain SA[i] = SA[i - 1] AND S[i]: passes through every i, sampled or not."""
    rows, gate = {0: shifted[0]}, gate_of(net, form)
    for i in range(1, len(shifted)):
        rows[i] = net.signal(f"sa_{i}", gate(rows[i - 1], shifted[i]))
    return rows


def _doubled(net: Netlist, state: np.ndarray, lengths: Sequence[int], form: Form) -> Vectors:
    """Form SA[k + d] = SA[k] AND SA[k] shifted by d, legal for d <= k + 1: from the shortest row that reaches."""
    rows, formed, gate = {0: state}, [0, *halves(lengths)], gate_of(net, form)
    for k in formed[1:]:
        base = formed[bisect_left(formed, k // 2)]
        rows[k] = net.signal(f"sa_{k}", gate(rows[base], moved(rows[base], k - base, form)))
    return rows


def gate_of(net: Netlist, form: Form) -> Callable[[Any, Any], np.ndarray]:
    """Return the gate that keeps a block free only where both are."""
    return net.and_ if form.encoding == "free1" else net.or_


def halves(lengths: Sequence[int]) -> list[int]:
    """Return every k > 0 whose vector is formed by doubling, in order: those of the lengths and, for wide steps, some
    between.

    >>> halves([1, 2, 8])
    [1, 3, 7]
    """
    formed = [0]
    for length in lengths:
        while 2 * formed[-1] + 1 < length - 1:
            formed.append(2 * formed[-1] + 1)
        if length - 1 > formed[-1]:
            formed.append(length - 1)
    return formed[1:]
