"""Module choices by what is left of each resource: vector packing.

`MostResidual` is the proposal of the source document for balancing resources.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.arguments import check_weights
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.view import ChoiceView

NORMALISE, OF, WEIGHTS = 0, 1, 2
LONGEST = 1


class MostResidual(Choice):
    """Take the module with the largest weighted sum of what is left of its resources; ties as the engine breaks them.

    The score of a module is the sum over the resources of weight x what is left. Amounts differ by orders of magnitude
    (128 register blocks, 10 wave slots), so a raw sum with equal weights follows the large ones; `normalise` divides
    each by what an empty module has. The document's own remedy is to calibrate the weights (`ResourceCalibrator`).

    What is left is the free amount, or with `of="longest"` the longest run that is reported: for a resource of units
    the shortest of its units', to be compared with a single unit's demand. Totals stay those of the whole module.

    References
    ----------
    spec 3, R69-R72, E19, V32, V33; source document ¶237-259. Without weights and normalized, it is worst fit by sums.

    Examples
    --------
    >>> MostResidual(weights=(3, 1, 0.5, 2), normalise=False).choose([(10, 20, 8, 4), (12, 10, 16, 3)])
    0
    >>> MostResidual(normalise=True).choose([(100, 40, 40, 1), (80, 40, 40, 9)], totals=(128, 64, 48, 10))
    1
    """

    weights: tuple[float, ...] = lever(
        (), least=0, most=1e12, description="weight of each resource of the machine, in its order; none = all alike"
    )
    normalise: bool = lever(False, description="divide what is left by what an empty module has")
    of: Literal["free", "longest"] = lever(
        "free", description="what counts as left: the free amount or the longest run"
    )

    @staticmethod
    def answer(see: ChoiceView) -> None:
        resources = see.totals.size
        for k in range(see.count):
            score = 0.0
            for r in range(resources):
                weight = see.levers[WEIGHTS + r] if see.levers.size > WEIGHTS else 1.0
                at = see.modules[k] * resources + r
                left = float(see.longest[at]) if see.levers[OF] == LONGEST else float(see.free[at])
                score += weight * (left / see.totals[r]) if see.levers[NORMALISE] else weight * left
            see.scores[k] = score

    def parameters(self) -> np.ndarray:
        return np.array([float(self.normalise), float(self.of == "longest"), *self.weights])

    def needs_totals(self) -> bool:
        return self.normalise

    def check(self) -> None:
        if self.weights and not any(self.weights):
            check_weights(self.weights, ["resource"] * len(self.weights), "resource", f"{self.name}.weights")

    def check_resources(self, names: Sequence[str], path: str = "", where: str = "") -> None:
        if self.weights:
            check_weights(self.weights, names, "resource", f"{path or self.name}.weights", where)


class ByShares(Choice, abstract=True):
    """A choice by shares of what an empty module has."""

    def needs_totals(self) -> bool:
        return True


class BestFitModule(ByShares):
    """Take the module in which the group leaves the shortest vector of residual shares; ties as the engine breaks them.

    A share is what would be left of a resource over what an empty module has; the length is Euclidean. Modules fill
    one after another, and empty ones are kept for large groups.

    References
    ----------
    spec 3, section 7 and H3.18. Panigrahy, Talwar, Uyeda, Wieder, "Heuristics for Vector Bin Packing", Microsoft
    Research, 2011: the norm-based greedy rule.

    Examples
    --------
    >>> BestFitModule().choose([(90, 9), (50, 5), (60, 9)], demand=(10, 1), totals=(100, 10))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = -squared_length(see.modules[k], see.demand, see.free, see.totals)


class WorstFitModule(ByShares):
    """Take the module in which the group leaves the longest vector of residual shares; ties as the engine breaks them.

    The opposite of `best_fit_module`. Most residual, normalized and without weights, is worst fit by the sum of the
    shares instead of their length.

    References
    ----------
    spec 3, section 7 and H3.18.

    Examples
    --------
    >>> WorstFitModule().choose([(90, 9), (50, 5), (60, 9)], demand=(10, 1), totals=(100, 10))
    0
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = squared_length(see.modules[k], see.demand, see.free, see.totals)


class DominantResource(ByShares):
    """Take the module whose scarcest resource is left least scarce by the group; ties as the engine breaks them.

    Scarcity is told by the share that would be left, over what an empty module has; the smallest share is the score.

    References
    ----------
    spec 3, section 7: dominant-resource fit. The dominant share is that of Ghodsi et al., "Dominant Resource
    Fairness", NSDI 2011, here of a module instead of a user.

    Examples
    --------
    >>> DominantResource().choose([(90, 2), (50, 5), (60, 4)], demand=(10, 1), totals=(100, 10))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            scarcest = share_left(see.modules[k], 0, see.demand, see.free, see.totals)
            for resource in range(1, see.totals.size):
                scarcest = min(scarcest, share_left(see.modules[k], resource, see.demand, see.free, see.totals))
            see.scores[k] = scarcest


class DotProduct(ByShares):
    """Take the module whose free shares point the way of the group's demand; ties as the engine breaks them.

    The score is the sum over the resources of demand share x free share, shares being of an empty module: a group that
    wants registers goes where registers are free, whatever is left of the rest.

    References
    ----------
    spec 3, section 7. Panigrahy, Talwar, Uyeda, Wieder, "Heuristics for Vector Bin Packing", Microsoft Research, 2011;
    Grandl et al., "Multi-Resource Packing for Cluster Schedulers", SIGCOMM 2014, which calls it alignment.

    Examples
    --------
    >>> DotProduct().choose([(90, 2), (50, 8)], demand=(10, 4), totals=(100, 10))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        resources = see.totals.size
        for k in range(see.count):
            score = 0.0
            for r in range(resources):
                score += (see.demand[r] / see.totals[r]) * (see.free[see.modules[k] * resources + r] / see.totals[r])
            see.scores[k] = score


@kernel
def share_left(module: int, resource: int, demand: Any, free: Any, totals: Any) -> float:
    """Return the share of a resource that would be left in a module with the group in it."""
    return float((free[module * totals.size + resource] - demand[resource]) / totals[resource])


@kernel
def squared_length(module: int, demand: Any, free: Any, totals: Any) -> float:
    """Return the square of the length of the vector of shares that would be left."""
    total = 0.0
    for resource in range(totals.size):
        left = share_left(module, resource, demand, free, totals)
        total += left * left
    return total
