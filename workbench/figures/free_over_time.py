"""How much memory lies idle? Free segments over time (Fig. 13 of spec 1's source, R33b)."""

from __future__ import annotations

from workbench.experiments.run_set import RunSet
from workbench.figures.over_time import OverTime, draw, over_time
from workbench.figures.recipe import Recipe
from workbench.metrics.shared_memory import free_over_time


def free_over_time_data(runs: RunSet) -> OverTime:
    """Compute the free segments: mean over the seeds with its 95 % interval; a run that is over has all of them
    free."""
    return over_time(runs, FIGURE.name, "free segments", "segments", free_over_time)


FIGURE = Recipe(
    "free_over_time",
    "shared_memory",
    "Free segments over time, mean over the seeds with its 95 % interval.",
    free_over_time_data,
    draw,
)
