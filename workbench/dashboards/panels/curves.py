"""Step functions as a browser draws them: the places at which they change, or a sample of many."""

from __future__ import annotations

import numpy as np

from workbench.dashboards.panels.canvas_widget import column
from workbench.metrics.statistics import Steps

MOST_PLACES = 4_000
"""A line with more changes than this is sampled at so many cycles."""


def curve(steps: Steps, until: int) -> dict[str, bytes]:
    """Return a step function from cycle 0 to a last one as two columns."""
    cycle, value = sampled(steps, until)
    return {"cycle": column(cycle), "value": column(value)}


def sampled(steps: Steps, until: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cycles from 0 to a last one at which a step function takes a value, and the values.

    >>> sampled(Steps(before=4, cycle=np.array([2, 5]), value=np.array([1, 3])), 9)
    (array([0, 2, 5, 9]), array([4, 1, 3, 3]))
    """
    changes = steps.cycle[: np.searchsorted(steps.cycle, until)]
    if len(changes) > MOST_PLACES:
        changes = np.linspace(0, until, MOST_PLACES).astype(np.int64)
    places = np.unique(np.concatenate([[0], changes, [until]]))
    return places, steps.at(places)


def note(until: int, whole: int) -> str:
    """Return what the axis of time adds where only the beginning of a long run is drawn.

    >>> note(900, 12_345), note(900, 900)
    (', the first 900 of 12,345', '')
    """
    return "" if until == whole else f", the first {until:,} of {whole:,}"
