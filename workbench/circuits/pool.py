"""The circuit of the memory pool: the weighted choice of a card by free memory and bandwidth (spec 5, R20)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit, added, at_least, circuit_after, larger_of, output_largest, widened
from workbench.circuits.registry import Maker, sizes_within
from workbench.circuits.vectors import Case, asked, leads_clearly
from workbench.errors import InputError, wrong_value
from workbench.gates import ONE, ZERO
from workbench.policies.pool.target.score import MaxBandwidth, MostFree
from workbench.streams import Streams

_INPUTS = {MostFree: "free", MaxBandwidth: "gbps"}


def build(policy: Any, size: Sequence[int]) -> Circuit:
    """Build the weighted sums of all cards side by side, and the first of the largest.

    Inputs: `size` of the request, and for each card `free_K` and `gbps_K`, whole numbers. Outputs: `any`, whether a
    card can hold the request, and `card`, the lowest of those with the largest sum; 0 where none can. The size is the
    number of cards, the bits of an amount of memory, and the bits of a bandwidth.

    Where each score is divided by the largest of the candidates, f/F + b/B is compared as f x B + b x F: products of
    whole numbers, which never round. The policy divides in floating point, so the two may differ where two cards' sums
    differ by less than its rounding: by a few parts in 10**16. `cases` judges the card only where the exact sums say
    who is first by more than that, or where no division is made.
    """
    cards, *widths = _size(size)
    terms = _terms(policy)
    net = circuit_after(policy, CARDS=cards, FREE_BITS=widths[0], GBPS_BITS=widths[1])
    requested = net.input("size", widths[0])
    free, gbps = ([net.input(f"{name}_{k}", bits) for k in range(cards)] for name, bits in _columns(widths))
    holds = [at_least(net, one, requested) if policy.filters() else np.array([ONE], np.int32) for one in free]
    net.signal("holds", np.concatenate(holds))
    columns = [({"free": free, "gbps": gbps}[name], weight) for name, weight in terms]
    sums = _sums(net, columns, holds, policy.normalises() and len(columns) > 1)
    output_largest(net, "card", sums, holds)
    return net


def _sums(net: Circuit, columns: list[Any], holds: list[Any], normalises: bool) -> list[np.ndarray]:
    """Return each card's weighted sum, with products by the other column's largest where scores are divided."""
    numbers = [(_weighted(net, column, weight), column) for column, weight in columns]
    if normalises:
        (first, one), (second, other) = numbers
        tops = [_largest(net, column, holds) for column in (other, one)]
        numbers = [([product(net, n, top) for n in column], None) for column, top in zip((first, second), tops)]
    bits = max(len(n) for column, _ in numbers for n in column) + 1
    total = [np.full(bits, ZERO, np.int32)] * len(holds)
    for column, _ in numbers:
        total = [added(net, a, b, bits) for a, b in zip(total, column, strict=True)]
    return [net.signal(f"sum_{k}", one) for k, one in enumerate(total)]


def _weighted(net: Circuit, column: list[Any], weight: int) -> list[np.ndarray]:
    bits = np.array([weight >> j & 1 for j in range(max(weight.bit_length(), 1))], np.int32)
    return [product(net, number, bits) for number in column]


def _largest(net: Circuit, column: list[Any], holds: list[Any]) -> np.ndarray:
    """Return the largest of the candidates, 1 where all of them are 0: nothing is divided then."""
    top, _ = larger_of(net, [net.and_(room, number) for room, number in zip(holds, column, strict=True)])
    return np.concatenate([net.or_(top[:1], net.not_(net.any_of(top))), top[1:]])


def product(net: Circuit, a: Any, b: Any) -> np.ndarray:
    """Return the product of two numbers: for each bit of the second the first is added, shifted."""
    bits = len(a) + len(b)
    total = np.full(bits, ZERO, np.int32)
    for shift, bit in enumerate(np.asarray(b, np.int32)):
        moved = np.concatenate([np.full(shift, ZERO, np.int32), net.and_(bit, a)])
        total = added(net, total, widened(moved, bits), bits)
    return total


def _columns(widths: Sequence[int]) -> list[tuple[str, int]]:
    return list(zip(("free", "gbps"), widths, strict=True))


def _terms(policy: Any) -> list[tuple[str, int]]:
    """Return the terms of the sum, with whole weights; terms of weight 0 are left out."""
    kept = [(term, weight) for term, weight in policy.terms() if weight]
    for term, weight in kept:
        if type(term) not in _INPUTS or term.shape != "linear":
            raise InputError(
                f"weighted_cards: {term.short()} is no whole number, which its circuit needs. Nearest: weight 0 for it."
            )
        if weight != int(weight) or weight >= 1 << 16:
            expected = "must be whole numbers below 65,536 for a circuit"
            raise wrong_value("", "weighted_cards.weights", expected, weight, min(max(round(weight), 1), 65_535))
    if not kept or len({type(term) for term, _ in kept}) < len(kept):
        raise InputError("weighted_cards: a circuit sums free memory and bandwidth, each once at most, one at least.")
    return [(_INPUTS[type(term)], int(weight)) for term, weight in kept]


def _size(size: Any) -> list[int]:
    what = "the cards, the bits of memory and of bandwidth"
    return sizes_within(size, what, "8, 16, 9", cards=(1, 64), free_bits=(1, 48), gbps_bits=(1, 16))


def cases(policy: Any, size: Sequence[int], count: int, seed: int = 0) -> Iterator[Case]:
    """Yield random cards, many of them alike so that there are ties, and which one the policy takes."""
    count_, *widths = _size(size)
    draw = Streams(seed)["cards"]
    for case in range(count):
        most = [max((1 << bits) // (1, 8)[case % 2], 2) for bits in widths]
        free, gbps = (draw.integers(0, one, count_).tolist() for one in most)
        wanted = int(draw.integers(0, most[0]))
        taken = policy.choose(wanted, [(f"gpu{k}", free[k], gbps[k]) for k in range(count_)])
        given = {"size": wanted, **{f"free_{k}": n for k, n in enumerate(free)}}
        given |= {f"gbps_{k}": n for k, n in enumerate(gbps)}
        outputs = {"any": int(taken is not None)}
        if clear(policy, wanted, free, gbps):
            outputs["card"] = int(taken[3:]) if taken else 0
        yield asked(given, outputs)


def clear(policy: Any, wanted: int, free: list[int], gbps: list[int]) -> bool:
    """Return whether rounding cannot change who is first: no division, one candidate, or a large enough lead."""
    held = [k for k in range(len(free)) if free[k] >= wanted or not policy.filters()]
    terms = _terms(policy)
    if not policy.normalises() or len(terms) < 2 or not held:
        return True
    tops = {"free": max(free[k] for k in held) or 1, "gbps": max(gbps[k] for k in held) or 1}
    rows = [{"free": free[k], "gbps": gbps[k]} for k in held]
    sums = [sum(weight * Fraction(row[name], tops[name]) for name, weight in terms) for row in rows]
    return leads_clearly([[*row.values()] for row in rows], sums)


MAKERS = [Maker("target.weighted_cards", build, cases, size="cards, bits of memory and of bandwidth")]
