"""Cards by a score: bandwidth, free memory, what was borrowed, load, distance, and weighted sums of these.

The document's policies are the largest bandwidth, a bandwidth threshold and then the most free memory, and sums of
weights. A shape is how a quantity becomes a score: an increasing function of free memory or bandwidth (spec 5, R20).
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.arguments import check_sum, laid_flat
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetView

Shape = Literal["linear", "square_root", "square"]


class MaxBandwidth(Target):
    """Take the card with the fastest path to the borrower; ties as the engine breaks them.

    In a sum it is the weight w2, an increasing function of the bandwidth.

    References
    ----------
    spec 5, R18, R20, V12.

    Examples
    --------
    >>> cards = [("gpu1", 10, 24), ("gpu3", 40, 150), ("gpu6", 60, 150), ("gpu5", 200, 16), ("cpu0", 52, 16)]
    >>> MaxBandwidth().choose(20, cards), MaxBandwidth().choose(20, cards, tie="most_free")
    ('gpu3', 'gpu6')
    """

    shape: Shape = lever("linear", description="the increasing function of the bandwidth")

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = shaped(see.gbps[see.cards[k]], see.levers.shape)


FALLBACKS = 0
"""Memory: how often no candidate met the threshold."""


class BandwidthThenMostFree(Target):
    """Of the cards whose path has at least the threshold take the one with the most free memory; ties as the engine's.

    Where none has it, the fastest path counts, as in `max_bandwidth`, and the event is counted.

    References
    ----------
    spec 5, R19, E10, V9, V10.

    Examples
    --------
    >>> near = [("gpu1", 10, 24), ("gpu3", 40, 150), ("gpu6", 60, 150), ("gpu5", 200, 16)]
    >>> BandwidthThenMostFree(threshold_gbps=48).choose(size=20, cards=near)
    'gpu6'
    >>> BandwidthThenMostFree(threshold_gbps=48).choose(20, [("gpu4", 90, 12), ("gpu5", 30, 16)])
    'gpu5'
    """

    threshold_gbps: float = lever(
        48.0, least=0, most=1e6, unit="GB/s", description="least bandwidth of a path that counts"
    )

    @staticmethod
    def answer(see: TargetView) -> None:
        fastest = 0.0
        for k in range(see.count):
            fastest = max(fastest, see.gbps[see.cards[k]])
        if fastest < see.levers.threshold_gbps:
            see.memory[FALLBACKS] += 1
        for k in range(see.count):
            if fastest < see.levers.threshold_gbps:
                see.scores[k] = see.gbps[see.cards[k]]
            else:
                see.scores[k] = (
                    float(see.free[see.cards[k]]) if see.gbps[see.cards[k]] >= see.levers.threshold_gbps else -1.0
                )

    def fallbacks(self, memory: np.ndarray) -> int:
        return int(memory[FALLBACKS])


class MostFree(Target):
    """Take the card with the most free memory, cached bytes included; ties as the engine breaks them.

    In a sum it is the weight w1, an increasing function of the free memory.

    References
    ----------
    spec 5, R20, E1, section 7.

    Examples
    --------
    >>> MostFree().choose(20, [("gpu3", 40, 150), ("gpu5", 200, 16)])
    'gpu5'
    """

    shape: Shape = lever("linear", description="the increasing function of the free memory")

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = shaped(float(see.free[see.cards[k]]), see.levers.shape)


RECIPROCAL, SHARE, HALVING = range(3)


class LeastBorrowed(Target):
    """Take the card from which the borrower got memory least often lately; ties as the engine breaks them.

    In a sum it is the weight w3, a decreasing function of the count c: 1 / (1 + c), 1 - c / total, or 2 to the power of
    -c. Over how many requests grants are counted, and whether bytes are, is up to the engine.

    References
    ----------
    spec 5, R21, E13.

    Examples
    --------
    >>> cards, history = [("gpu3", 40, 150), ("gpu6", 60, 150)], {"gpu3": 1, "gpu6": 3}
    >>> LeastBorrowed().scores(20, cards, history=history)
    {'gpu3': 0.5, 'gpu6': 0.25}
    >>> LeastBorrowed(shape="share").scores(20, cards, history=history)
    {'gpu3': 0.75, 'gpu6': 0.25}
    """

    shape: Literal["reciprocal", "share", "halving"] = lever(
        "reciprocal", description="the decreasing function of how often a card lent"
    )

    @staticmethod
    def answer(see: TargetView) -> None:
        total = 0.0
        for card in range(see.lent.size):
            total += see.lent[card]
        for k in range(see.count):
            times = see.lent[see.cards[k]]
            if see.levers.shape == RECIPROCAL:
                see.scores[k] = 1.0 / (1.0 + times)
            elif see.levers.shape == SHARE:
                see.scores[k] = 1.0 - times / total if total > 0.0 else 1.0
            else:
                see.scores[k] = 2.0 ** -min(times, 1000.0)


class LeastLoaded(Target):
    """Take the card of whose memory the smallest share is in use; ties as the engine breaks them.

    References
    ----------
    spec 5, section 7.

    Examples
    --------
    >>> LeastLoaded().choose(20, [("gpu1", 90, 24), ("gpu2", 95, 24)], held=(10, 905))
    'gpu1'
    """

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = -(see.held[see.cards[k]] / see.totals[see.cards[k]])


class Nearest(Target):
    """Take the card that the fewest direct links lead to, the widest path of those; ties as the engine breaks them.

    References
    ----------
    spec 5, section 7 (nearest hop).

    Examples
    --------
    >>> Nearest().choose(20, [("gpu3", 40, 150), ("gpu6", 60, 24), ("gpu5", 60, 25)], hops=(2, 1, 1))
    'gpu5'
    """

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = see.gbps[see.cards[k]] - 1e7 * see.hops[see.cards[k]]


_PROPOSALS: tuple[type[Target], ...] = (MostFree, MaxBandwidth, LeastBorrowed)
LINEAR, SQUARE_ROOT, SQUARE = range(3)


@kernel
def shaped(amount: float, shape: float) -> float:
    """Return the amount, its square root or its square: all of them exact or correctly rounded."""
    if shape == SQUARE_ROOT:
        return math.sqrt(amount)
    return amount * amount if shape == SQUARE else amount


class WeightedCards(Target):
    """Take the card with the largest weighted sum of other choices' scores; ties as the engine breaks them.

    Each score is first divided by the largest of the candidates, unless `normalise` is off; the sum is formed in the
    order of the terms, sums within laid flat. The default is w1 + w2: free memory and bandwidth; with weights (1, 1, 1)
    it is w1 + w2 + w3, which also spreads what is borrowed.

    References
    ----------
    spec 5, R20, R21, E11-E14.

    Examples
    --------
    >>> cards = [("gpu1", 10, 24), ("gpu3", 40, 150), ("gpu6", 60, 150), ("gpu5", 200, 16), ("cpu0", 52, 16)]
    >>> WeightedCards().choose(20, cards), WeightedCards(normalise=False).choose(20, cards)
    ('gpu6', 'gpu5')
    >>> WeightedCards(weights=(1, 1, 1)).choose(20, cards, history={"gpu6": 3, "gpu3": 1})
    'gpu5'
    """

    choices: tuple[Target, ...] = lever(tuple(cls() for cls in _PROPOSALS), description="the scores that are summed")
    weights: tuple[float, ...] = lever((1.0, 1.0, 0.0), least=0, most=1e12, description="weight of each of the choices")
    normalise: bool = lever(
        True, description="whether each score is divided by the largest of the candidates (spec 5, E12)"
    )
    filtered: bool = lever(
        True,
        description="whether only cards that can hold the request are ranked (spec 5, E11); off = as claim 6 reads",
    )

    def check(self) -> None:
        check_sum(self.name, self.choices, self.weights, "max_bandwidth")

    def terms(self) -> tuple[tuple[Target, float], ...]:
        return laid_flat(self.choices, self.weights)

    def normalises(self) -> bool:
        return self.normalise

    def filters(self) -> bool:
        return self.filtered

    def own_first(self) -> bool:
        return all(choice.own_first() for choice in self.choices)

    @property
    def draws(self) -> bool:  # type: ignore[override]
        """Return whether any of the choices draws random numbers."""
        return any(choice.draws for choice in self.choices)
