"""Figures of any engine's runs, and of the engine of this package."""

from typing import NamedTuple

import numpy as np

from workbench.figures.registry import ANY, Recipe, on_paper


class Spread(NamedTuple):
    """The least and the most of a measure."""

    names: list
    low: np.ndarray
    high: np.ndarray

    def columns(self):
        """Return the columns of the CSV file."""
        return self._asdict()


def spread_data(runs, measure=None):
    """Return the least and the most of a measure over the seeds."""
    measure = measure or runs.plan.sweep.measures[0]
    values = [list(runs.values(point, measure).values()) for point in runs.points]
    names = [runs.label(point) for point in runs.points]
    return Spread(names, np.array([min(one) for one in values]), np.array([max(one) for one in values]))


@on_paper
def draw(data):
    """Draw a bar a point."""
    from workbench.figures import plot_style

    figure, (axes,) = plot_style.stacked(1, 1.4)
    axes.barh(data.names, data.high - data.low, left=data.low)
    return figure


SPREAD = Recipe("spread", ANY, "The least and the most of a measure over the seeds.", spread_data, draw)
HEADS = Recipe("heads", "guest_coin", "The least and the most share of heads.", spread_data, draw)
