"""Most residual: the proposal of the source document for balancing resources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from workbench.levers import lever
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.view import ChoiceView
from workbench.policies.weights import check_weights

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
    spec 3, R69-R72, E19, V32, V33; source document ¶237-259. Without weights and normalised, it is worst fit by sums.

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
