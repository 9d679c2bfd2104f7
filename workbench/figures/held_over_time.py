"""How much of the heap is granted? Bytes over time, one line a policy (spec 2, H2.10)."""

from __future__ import annotations

from workbench.experiments.run_set import RunSet
from workbench.figures.over_time import OverTime, draw, over_time
from workbench.figures.recipe import Recipe
from workbench.metrics.malloc import held_over_time
from workbench.records.malloc import MallocRecord


def held_over_time_data(runs: RunSet) -> OverTime:
    """Compute the granted bytes: mean over the seeds with its 95 % interval, until the last change of any run of a
    panel."""
    return over_time(runs, FIGURE.name, "granted (bytes)", "bytes", held_over_time, last_change)


def last_change(record: MallocRecord) -> int:
    """Return the last cycle at which something was granted or came back."""
    return int(max(record.granted.max(initial=0), record.returned.max(initial=0)))


FIGURE = Recipe(
    "held_over_time",
    "malloc",
    "Bytes that the heap has granted, over time, mean over the seeds with its 95 % interval.",
    held_over_time_data,
    draw,
)
