"""Weighted choice: the sum of any scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from workbench.levers import lever
from workbench.policies.dispatch.choice.least_recent_energy import LeastRecentEnergy
from workbench.policies.dispatch.choice.most_residual import MostResidual
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.weighted_sum import check_sum, laid_flat

_PROPOSALS: tuple[type[Choice], ...] = (MostResidual, LeastRecentEnergy)


class WeightedChoice(Choice):
    """Take the module with the largest weighted sum of other choices' scores; ties as the engine breaks them.

    Each score is first normalised over the modules with room, (score - least) / (most - least), 0 where all are equal;
    the sum is formed in the order of the terms. A sum within a sum is laid flat, its weights multiplied; all terms are
    normalised alike. The default is the document's: what is left against what has run, half and half.

    References
    ----------
    spec 3, R81, E20; source document ¶283.

    Examples
    --------
    >>> counts = [(9, 0, 0, 0, 0, 0), (3, 0, 0, 0, 0, 0), (5, 0, 0, 0, 0, 0)]
    >>> WeightedChoice().choose([(90,), (10,), (80,)], recent=counts)
    2
    >>> both = WeightedChoice(choices=(MostResidual(), LeastRecentEnergy()), weights=(0.25, 0.75))
    >>> [weight for _, weight in WeightedChoice(choices=(both, MostResidual()), weights=(2, 1)).terms()]
    [0.5, 1.5, 1.0]
    """

    choices: tuple[Choice, ...] = lever(tuple(cls() for cls in _PROPOSALS), description="the scores that are summed")
    weights: tuple[float, ...] = lever((0.5, 0.5), least=0, most=1e12, description="weight of each of the choices")

    def check(self) -> None:
        check_sum(self.name, self.choices, self.weights, "most_residual")

    def terms(self) -> tuple[tuple[Choice, float], ...]:
        """Return the terms of every choice with their weights, sums within laid flat."""
        return laid_flat(self.choices, self.weights)

    def bound(self, names: Sequence[str]) -> Self:
        """Return the same sum of choices that know the machine's resources."""
        return self.but(choices=tuple(choice.bound(names) for choice in self.choices))

    def check_resources(self, names: Sequence[str], path: str = "", where: str = "") -> None:
        for k, choice in enumerate(self.choices):
            choice.check_resources(names, f"{path or self.name}.choices[{k}].{choice.name}", where)

    def needs_heat(self) -> bool:
        return any(choice.needs_heat() for choice in self.choices)

    def needs_totals(self) -> bool:
        return any(choice.needs_totals() for choice in self.choices)

    @property
    def draws(self) -> bool:  # type: ignore[override]
        """Return whether any of the choices draws random numbers."""
        return any(choice.draws for choice in self.choices)
