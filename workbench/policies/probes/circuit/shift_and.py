"""The probe by shifting as gates: groups, shifted states, chain, reductions, decoding (spec 3, R31-R50)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from workbench.policies.probes.circuit.gate_list import GateList
from workbench.policies.probes.circuit.netlist import DECODE, ONE, ZERO, Netlist


class Form(NamedTuple):
    """How a probe by shifting is built."""

    direction: Literal["right", "left"]
    encoding: Literal["free1", "free0"]
    decode: Literal["lut", "scan"]
    timing: str
    chain: Literal["running", "doubling"]


def build(blocks: int, lengths: Sequence[int], form: Form, groups: int = 0) -> GateList:
    """Build the circuit for the run lengths that it tells apart, counted in groups where there are any."""
    net, size = Netlist(blocks), blocks // groups if groups else 1
    state, piped = _grouped(net, size, form), form.timing != "comb_1cycle"
    shifted = _shifts(net, state, lengths, form)
    if piped:
        shifted = {k: net.held(vector) for k, vector in shifted.items()}
        net.next_cycle()
    chained = _doubled(net, shifted[0], lengths, form) if form.chain == "doubling" else _chained(net, shifted, form)
    kept = [chained[length - 1] for length in lengths]
    if piped:
        kept = [net.held(vector) for vector in kept]
        net.next_cycle()
    reduce = net.any_of if form.encoding == "free1" else net.not_all_of
    bits = np.concatenate([reduce(vector) for vector in kept])
    net.part = DECODE
    report = decoded(net, bits, [n * size for n in lengths], form)
    return GateList(net, report, reused=form.timing == "pipe_3cycle_shared_hw")


def decoded(net: Netlist, bits: np.ndarray, numbers: Sequence[int], form: Form) -> np.ndarray:
    """Return the number of the last 1 of a thermometer code, 0 without a 1: from a table, or by a scan from above."""
    width = max(numbers).bit_length()
    if form.decode == "lut":
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


def _grouped(net: Netlist, size: int, form: Form) -> np.ndarray:
    combine = net.all_of if form.encoding == "free1" else net.any_of
    return np.concatenate([combine(group) for group in net.inputs.reshape(-1, size)])


def moved(vector: np.ndarray, by: int, form: Form) -> np.ndarray:
    """Return a vector shifted, occupied blocks coming in: wiring, no gates."""
    coming = np.full(min(by, vector.size), _occupied(form), np.int32)
    if form.direction == "right":
        return np.concatenate([coming, vector[: vector.size - by]])
    return np.concatenate([vector[by:], coming])


def _shifts(net: Netlist, state: np.ndarray, lengths: Sequence[int], form: Form) -> dict[int, np.ndarray]:
    """Return S[0] to that of the longest length; a chain by doubling shifts its own vectors and needs S[0] alone."""
    most = 1 if form.chain == "doubling" else max(lengths)
    return {k: moved(state, k, form) for k in range(most)}


def _chained(net: Netlist, shifted: dict[int, np.ndarray], form: Form) -> dict[int, np.ndarray]:
    """Chain SA[i] = SA[i - 1] AND S[i]: passes through every i, sampled or not."""
    combine = net.and_ if form.encoding == "free1" else net.or_
    vectors = {0: shifted[0]}
    for i in range(1, len(shifted)):
        vectors[i] = combine(vectors[i - 1], shifted[i])
    return vectors


def _doubled(net: Netlist, state: np.ndarray, lengths: Sequence[int], form: Form) -> dict[int, np.ndarray]:
    """Form SA[k + d] = SA[k] AND SA[k] shifted by d, legal for d <= k + 1: from the shortest vector that reaches."""
    combine = net.and_ if form.encoding == "free1" else net.or_
    vectors, formed = {0: state}, [0, *halves(lengths)]
    for k in formed[1:]:
        base = formed[bisect_left(formed, k // 2)]
        vectors[k] = combine(vectors[base], moved(vectors[base], k - base, form))
    return vectors


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
