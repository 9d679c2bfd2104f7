"""The shared probe as a netlist: loading, masks, chain and reductions, and what sharing saves (spec 3, R52-R59, V17).

What sharing saves (H3.12) is the gates of one probe for several resources in turn, against a probe for each, counted on
generated gate lists (loading, masks, chain, reductions; R52-R59) by the rules of `ProbeCost`. The document counts the
chain alone, 8,128 AND gates instead of 11,272; the masks are gates too. Those of every shift, as it has them, cost more
than sharing saves; those of the first crossings give the same reports and cost next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workbench.gates import AND, ONE, OR, SEARCH, ZERO, Netlist
from workbench.policies.probes.shared_gates import Masks, fields, mask, shifted


class SharedCost(NamedTuple):
    """Gates of the search in the encoding `free1`; decoding is left out on both sides."""

    periods: int
    """Periods of a round: how much later a report may be than that of a probe of its own."""
    chain_gates: int
    """AND gates of the shared chain."""
    mask_gates: int
    """AND and OR gates that keep bits within their resource."""
    reduction_gates: int
    """OR gates, those that join the parts of a resource included."""
    load_gates: int
    """AND and OR gates that bring the period's states in."""
    separate_chain_gates: int
    """AND gates of a probe for each resource."""
    separate_reduction_gates: int
    """OR gates of a probe for each resource."""

    @property
    def saved(self) -> float:
        """Return the share of AND gates that sharing saves, masks left out, as the document counts."""
        return 1 - self.chain_gates / self.separate_chain_gates

    @property
    def saved_with_masks(self) -> float:
        """Return the same with the masks counted."""
        return 1 - (self.chain_gates + self.mask_gates) / self.separate_chain_gates

    @property
    def saved_in_all(self) -> float:
        """Return the share of all gates that sharing saves, those of loading and reductions counted as well."""
        shared = self.chain_gates + self.mask_gates + self.reduction_gates + self.load_gates
        return 1 - shared / (self.separate_chain_gates + self.separate_reduction_gates)


def shared_cost(period: Sequence[int], blocks: Sequence[int], width: int, masks: Masks = "every_shift") -> SharedCost:
    """Count a shared probe and the probes that it replaces.

    Parameters
    ----------
    period, blocks : sequences of int
        The period of each resource, from 0, and its blocks.
    width : int
        Blocks that the shared probe looks at.
    masks : {"every_shift", "first_crossing", "none"}
        As the lever of `SharedRun`.

    References
    ----------
    spec 3, section 4 (hardware-cost proxies), V17.

    Examples
    --------
    >>> cost = shared_cost([0, 1, 1], [128, 64, 48], 128)
    >>> cost.chain_gates, cost.separate_chain_gates, round(100 * cost.saved, 1)
    (8128, 11272, 27.9)
    >>> cost.mask_gates, shared_cost([0, 1, 1], [128, 64, 48], 128, "first_crossing").mask_gates
    (4096, 64)
    """
    circuit = shared_netlist(period, blocks, width, masks).circuit
    separate = [shared_netlist([0], [size], size, "none").circuit for size in blocks]
    return SharedCost(
        max(period) + 1,
        sum(circuit.count(AND)),
        sum(circuit.count(AND, OR, part=MASKS)),
        sum(circuit.count(OR)),
        sum(circuit.count(AND, OR, part=LOAD)),
        sum(sum(one.count(AND)) for one in separate),
        sum(sum(one.count(OR)) for one in separate),
    )


LOAD, MASKS = 2, 3
"""Parts of the gate list other than `SEARCH`: those that bring the period's states in, and those that keep bits within
their resource."""


class SharedNetlist(NamedTuple):
    """A shared probe without its decoders; encoding `free1`, shifts toward lower positions."""

    circuit: Netlist
    """Its inputs: the states of all resources one after the other, then one wire a period, 1 in that period alone."""
    sequences: tuple[np.ndarray, ...]
    """The wires of each resource's SAR, good in its period."""


def shared_netlist(period: Sequence[int], blocks: Sequence[int], width: int, masks: Masks) -> SharedNetlist:
    """Generate the gates of a probe that serves resources in turn.

    Parameters
    ----------
    period, blocks : sequences of int
        The period of each resource, from 0, and its blocks.
    width : int
        Blocks that the probe looks at.
    masks : {"every_shift", "first_crossing", "none"}
        As the lever of `SharedRun`.
    """
    circuit = Netlist(sum(blocks) + max(period) + 1)
    states = np.split(circuit.inputs, np.cumsum(blocks))
    in_period = [[k for k, p in enumerate(period) if p == now] for now in range(max(period) + 1)]
    starts = [fields([blocks[k] for k in inside], width) for inside in in_period]
    word = loaded(circuit, [np.concatenate([states[k] for k in inside]) for inside in in_period], states[-1], width)
    passing = _mask_wires(circuit, starts, width, masks, states[-1])
    bits = _reduced(circuit, word, passing, starts)
    where = {
        k: (int(one[at]), int(one[at + 1])) for one, inside in zip(starts, in_period) for at, k in enumerate(inside)
    }
    return SharedNetlist(circuit, tuple(bits[where[k]][: blocks[k]] for k in range(len(blocks))))


def loaded(circuit: Netlist, words: Iterable[np.ndarray], now: np.ndarray, width: int) -> np.ndarray:
    """Return D0: what each period has at a bit, selected by the period's wire; nothing to select where there is one
    period."""
    circuit.part = LOAD
    word = np.full(width, ZERO, np.int32)
    for states, wire in zip(words, now if len(now) > 1 else [ONE]):
        filled = np.concatenate([states, np.full(width - states.size, ZERO, np.int32)])
        word = circuit.or_(word, circuit.and_(filled, wire))
    return word


def _mask_wires(circuit: Netlist, starts: list[np.ndarray], width: int, masks: Masks, now: np.ndarray) -> np.ndarray:
    """Return the mask of every shift as wires, int32[width, width]: 1 in the periods in which the bit may pass."""
    circuit.part = MASKS
    passes = sum(
        (np.array([mask(one, by, False, masks) for by in range(width)], np.int64) << p for p, one in enumerate(starts)),
        np.zeros((width, width), np.int64),
    )
    sets, which = np.unique(passes, return_inverse=True)
    wires = [_any_period(circuit, int(periods), now, len(starts)) for periods in sets]
    return np.array(wires, np.int32)[which.reshape(passes.shape)]


def _any_period(circuit: Netlist, periods: int, now: np.ndarray, count: int) -> int:
    """Return a wire that is 1 in a set of periods, given as bits."""
    if periods == (1 << count) - 1:
        return ONE
    return int(circuit.any_of([now[p] for p in range(count) if periods >> p & 1])[0])


def _reduced(
    circuit: Netlist, word: np.ndarray, passing: np.ndarray, starts: list[np.ndarray]
) -> dict[tuple[int, int], np.ndarray]:
    """Return SAR of every field of every period, int32[width] each; fields are made of parts that they share (R59)."""
    cuts = sorted({int(cut) for one in starts for cut in one})
    by_field: dict[tuple[int, int], list[int]] = {
        (int(first), int(end)): [] for one in starts for first, end in pairwise(one)
    }
    circuit.part, row = SEARCH, word
    for by in range(word.size):
        row = following(circuit, row, shifted(word, by, left=False), passing[by]) if by else row
        parts = {first: circuit.any_of(row[first:end]) for first, end in pairwise(cuts)}
        for (first, end), wires in by_field.items():
            inside = [parts[cut] for cut in cuts if first <= cut < end]
            wires.append(int(circuit.any_of(np.concatenate(inside))[0]))
    return {field: np.array(wires, np.int32) for field, wires in by_field.items()}


def following(circuit: Netlist, row: np.ndarray, moved: np.ndarray, passing: np.ndarray) -> np.ndarray:
    """Return SA[e] of SA[e - 1] and the word shifted by e, which is masked and AND-ed."""
    circuit.part = MASKS
    inside = circuit.and_(moved, passing)
    circuit.part = SEARCH
    return circuit.and_(row, inside)
