"""How often something came about among repetitions, with the exact interval of the rate."""

from __future__ import annotations

from typing import NamedTuple

from workbench.statistics import Interval, proportion_interval


class Rate(NamedTuple):
    """A rate of simulated studies."""

    happened: int
    studies: int

    @property
    def interval(self) -> Interval:
        """The rate with its 95 % interval."""
        return proportion_interval(self.happened, self.studies)

    def above(self, level: float) -> bool:
        """Whether the whole interval lies above a level."""
        return self.interval.above(level)

    def __str__(self) -> str:
        result = self.interval
        return f"{100 * result.mean:.1f} % [{100 * result.low:.1f}, {100 * result.high:.1f}]"
