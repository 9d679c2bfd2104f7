"""How fast does the queue empty? Workgroups left in the queue over time (Fig. 12 of spec 1's source, R33a)."""

from __future__ import annotations

from workbench.experiments.run_set import RunSet
from workbench.figures.over_time import OverTime, draw, over_time
from workbench.figures.recipe import Recipe
from workbench.metrics.shared_memory import queue_over_time


def remaining_over_time_data(runs: RunSet) -> OverTime:
    """Compute the workgroups that have joined the queue and are not granted yet: mean over the seeds with its 95 %
    interval."""
    return over_time(runs, FIGURE.name, "workgroups left in the queue", "workgroups", queue_over_time)


FIGURE = Recipe(
    "remaining_over_time",
    "shared_memory",
    "Workgroups left in the queue over time, mean over the seeds with its 95 % interval.",
    remaining_over_time_data,
    draw,
)
