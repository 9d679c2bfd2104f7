"""Weighted cards: the document's sums of weights."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.pool.target.least_borrowed import LeastBorrowed
from workbench.policies.pool.target.max_bandwidth import MaxBandwidth
from workbench.policies.pool.target.most_free import MostFree
from workbench.policies.pool.target.question import Target
from workbench.policies.weighted_sum import check_sum, laid_flat

_PROPOSALS: tuple[type[Target], ...] = (MostFree, MaxBandwidth, LeastBorrowed)


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
