"""Panels of means with their intervals over the seeds, and the rows of such panels of an engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import ipywidgets as widgets
import numpy as np

from workbench.dashboards._canvas import CanvasWidget, script
from workbench.experiments.results import Results
from workbench.figures.estimates import Means, mean_curve, rests_on

if TYPE_CHECKING:
    from workbench.dashboards.paired_runs import Notes, PairedRuns


FAR_APART = 30
"""Where the highest mean is so many times the lowest, the axis of values is logarithmic."""

_EMPTY_SCENE: dict[str, Any] = {"words": "", "lines": []}


class Side(NamedTuple):
    """The baseline (place 0) or the other (1)."""

    place: int
    x: np.ndarray
    means: Means


class IntervalsPanel(CanvasWidget):
    """Dots with their intervals, or lines with a band where there are many places."""

    _esm = script("hover.js", "intervals.js")

    def show(
        self, title: str, x: str, y: str, sides: Sequence[Side], doubling: bool = False, names: Sequence[str] = ()
    ) -> None:
        """Show both sides; with `doubling` the axis of places is logarithmic, `names` are those of places 0, 1, ..."""
        self.put(intervals_scene(title, x, y, sides, doubling, names))

    def say(self, sentence: str) -> None:
        """Show a sentence instead: there is nothing to see."""
        self.put({**_EMPTY_SCENE, "words": sentence})


def intervals_scene(
    title: str, x: str, y: str, sides: Sequence[Side], doubling: bool = False, names: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the data that the browser draws."""
    means = np.concatenate([side.means.mean for side in sides])
    return {
        "words": "",
        "title": title,
        "x": x,
        "y": y,
        "log": bool(means.min() > 0 and means.max() >= FAR_APART * means.min()),
        "doubling": doubling,
        "names": list(names),
        "lines": [
            {
                "place": side.place,
                "x": side.x.tolist(),
                "mean": side.means.mean.tolist(),
                "low": _known(side.means.low),
                "high": _known(side.means.high),
            }
            for side in sides
        ],
    }


def _known(limits: np.ndarray) -> list[float | None]:
    return [limit if math.isfinite(limit) else None for limit in limits.tolist()]


class NotedPanel(IntervalsPanel):
    """What was noted of every run of either side, averaged over the seeds."""

    def __init__(
        self,
        title: str,
        x: str,
        y: str,
        note: Callable[[Any], np.ndarray],
        names: Sequence[str] = (),
        places: int | np.ndarray = 0,
        empty_text: str = "",
    ) -> None:
        """Show numbers of a record side by side.

        Parameters
        ----------
        title, x, y : str
            Of the panel and of its axes.
        note : callable
            From a record to its numbers.
        names : sequence of str
            Of the places, where the axis of places shows names.
        places : int or array
            Where the numbers stand: from a whole number on, or at these places.
        empty_text : str
            What to say where a run has no such numbers.
        """
        super().__init__()
        self.heading, self.note, self.names = title, note, names
        self._axes, self._places, self._empty_text = (x, y), places, empty_text

    def show_runs(self, runs: PairedRuns) -> None:
        """Show the runs so far."""
        columns = [np.stack(side) for side in runs.noted(self.heading)]
        if self._empty_text and not all(column.size and np.isfinite(column).all() for column in columns):
            self.say(self._empty_text)
            return
        places = self._places
        if isinstance(places, int):
            places = places + np.arange(columns[0].shape[1])
        sides = [Side(k, places, mean_curve(column)) for k, column in enumerate(columns)]
        self.show(self.heading, *self._axes, sides, names=self.names)


def shares_of(quantiles: Sequence[float]) -> list[str]:
    """Return shares as the names of places.

    >>> shares_of((0.5, 0.999))
    ['50 %', '99.9 %']
    """
    return [f"{100 * share:g} %" for share in quantiles]


_SIDES = '<b class="wb-baseline">&mdash;</b> baseline, <b class="wb-other">&mdash;</b> other'


class NotedPanels:
    """The panels of an engine: those of one seed, what the means rest on, and rows of panels of all runs."""

    def __init__(self, *rows: Sequence[IntervalsPanel], of_seed: Sequence[widgets.Widget] = ()) -> None:
        self.seeds = widgets.HTML()
        self.seeds.add_class("wb-says")
        self.noted = [panel for row in rows for panel in row if isinstance(panel, NotedPanel)]
        self.widgets: list[widgets.Widget] = [*of_seed, self.seeds, *(side_by_side(*row) for row in rows)]

    @property
    def notes(self) -> Notes:
        """Return the notes to take of every run."""
        return {panel.heading: panel.note for panel in self.noted}

    def show_seed(self, names: Sequence[str], records: Sequence[Any], view: Any) -> None:
        """Show nothing of a single run."""

    def show_runs(self, runs: PairedRuns, run_set: Results, view: Any) -> None:
        """Show all that has been run."""
        self.seeds.value = f"{_SIDES}; {rests_on([runs.n_done])}."
        for panel in self.noted:
            panel.show_runs(runs)


def side_by_side(*panels: widgets.Widget) -> widgets.Widget:
    """Return widgets side by side as far as the page is wide; one alone as it is."""
    if len(panels) == 1:
        return panels[0]
    row = widgets.HBox(panels)
    row.add_class("wb-beside")
    return row
