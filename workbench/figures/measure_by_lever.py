"""How does a measure change with a varied number? The first that the sweep shows, or any, one line a policy."""

from __future__ import annotations

from workbench.experiments.run_set import RunSet
from workbench.figures.compared import chosen_measure
from workbench.figures.fragmentation_by_size import MeasureByLever, by_lever, draw
from workbench.figures.recipe import ANY, Recipe


def measure_by_lever_data(runs: RunSet, measure: str | None = None, lever: str | None = None) -> MeasureByLever:
    """The mean of a measure over the seeds with its 95 % interval, at each value of a varied number.

    Parameters
    ----------
    measure : str, optional
        Any measure of the engine; the first that the sweep shows if None.
    lever : str, optional
        The dotted path of the varied number on the axis; needed where a sweep varies more than one.

    Raises
    ------
    InputError
        As `fragmentation_by_size_data`.
    """
    return by_lever(runs, chosen_measure(runs, measure, ""), lever, FIGURE.name)


FIGURE = Recipe(
    "measure_by_lever",
    ANY,
    "The first measure that the sweep shows, or any, against a varied number, with intervals.",
    measure_by_lever_data,
    draw,
)
