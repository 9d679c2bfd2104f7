"""Can a sweep's family of comparisons reach its level at all? With few seeds the smallest p-value is too large.

Of n pairs that all favour one side, 2 of 2^n patterns of signs look as clear, so no p-value of the sign test is below
2^(1 - n); Holm multiplies the smallest by the number of comparisons. A mean is judged from 40 seeds on, whose p-values
have no such floor.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from workbench.experiments.plan import Plan
from workbench.studies.statistics import least_p

ALPHA = 0.05


class Family(NamedTuple):
    """The comparisons of a sweep, which are corrected together."""

    comparisons: int
    seeds: int
    alpha: float = ALPHA

    @property
    def least_p(self) -> float:
        """Return the smallest adjusted p-value that there can be, at most 1."""
        return min(1.0, self.comparisons * least_p(self.seeds))

    @property
    def reaches(self) -> bool:
        """Return whether any comparison can be below alpha; true where nothing is compared."""
        return not self.comparisons or self.least_p < self.alpha

    @property
    def seeds_needed(self) -> int:
        """Return the fewest seeds with which a comparison can be below alpha.

        >>> Family(40, 10).seeds_needed, Family(1, 3).seeds_needed, Family(0, 1).seeds_needed
        (11, 6, 1)
        """
        if not self.comparisons:
            return 1
        needed = math.floor(1 + math.log2(self.comparisons / self.alpha)) - 1
        while self.comparisons * least_p(needed) >= self.alpha:
            needed += 1
        return needed

    @property
    def note(self) -> str:
        """Return a sentence where no comparison can be below alpha, and an empty one elsewhere."""
        if self.reaches:
            return ""
        several = f"{self.comparisons} comparisons" if self.comparisons > 1 else "one comparison"
        have = "have" if self.comparisons > 1 else "has"
        return (
            f"cannot decide: {several} at {self.seeds} seeds {have} no corrected p below {self.alpha:g}, the smallest "
            f"is {self.least_p:.2g}; it takes {self.seeds_needed} seeds"
        )


def family_of(plan: Plan) -> Family:
    """Return the family of a plan: every point that has a baseline, by every measure with a better direction.

    One seed a point, as a recorded trace has, is no sample: its differences are shown and none is tested.
    """
    measures, seeds = plan.sweep.mechanism.measures, len(plan.sweep.seeds)
    judged = sum(measures[name].better != "neither" for name in plan.sweep.measures) if seeds > 1 else 0
    return Family(judged * sum(point.baseline is not None for point in plan.points), seeds)
