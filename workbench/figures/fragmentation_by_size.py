"""How does fragmentation grow with the largest request? A measure against a varied number, one line a policy."""

from __future__ import annotations

from workbench.experiments.run_set import RunSet
from workbench.figures.compared import chosen_measure
from workbench.figures.measure_by_lever import MeasureByLever, by_lever, draw
from workbench.figures.recipe import ANY, Recipe


def fragmentation_by_size_data(runs: RunSet, measure: str | None = None, lever: str | None = None) -> MeasureByLever:
    """Compute the mean of a measure over the seeds with its 95 % interval, at each value of a varied number.

    Parameters
    ----------
    measure : str, optional
        Any measure of the engine; if None external fragmentation, or the first of the sweep where there is no such.
    lever : str, optional
        The dotted path of the varied number on the axis; needed where a sweep varies more than one.

    Raises
    ------
    InputError
        As `measure_by_lever_data`.
    """
    return by_lever(runs, chosen_measure(runs, measure, "mean_external_fragmentation"), lever, FIGURE.name)


FIGURE = Recipe(
    "fragmentation_by_size",
    ANY,
    "External fragmentation, or any measure, against a varied number such as the largest request, with intervals.",
    fragmentation_by_size_data,
    draw,
)
