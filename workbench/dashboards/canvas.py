"""Panels on a canvas, and the table of measures: curves, intervals, paired differences, points.

The browser is told what to draw in one message, and says how many pictures it has drawn. Paired differences of all
seeds are a histogram with their median and its interval, or small multiples of several policies on one axis; of points
a click chooses one.

An engine's panels are rows of what is noted of its runs, or pictures of one seed over time.

Canvases of our own, because everything changes at every move of a slider. A plotly FigureWidget in their place,
measured on the same page of Voila on two busy cores: its 5 MB of JavaScript put the first line 12 s behind the first
canvas, a move took 48 ms longer, and what changed before that script had arrived was lost, because such a figure inside
a box is told of changes alone and never of its state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import anywidget
import ipywidgets as widgets
import numpy as np
import traitlets

from workbench.dashboards.elements import escaped
from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.figures.estimates import Means, mean_curve, rests_on
from workbench.figures.savings import DrainDifference, Histogram, drain_difference_data
from workbench.metrics.measure import Measure
from workbench.metrics.statistics import Steps
from workbench.studies.statistics import Pairs, compare, pair
from workbench.units import bytes_said

if TYPE_CHECKING:
    from workbench.dashboards.paired_runs import Notes, PairedRuns


class CanvasWidget(anywidget.AnyWidget):
    """The base of every panel on a canvas."""

    scene = traitlets.Dict({}).tag(sync=True)
    """What is drawn: plain values, and columns of numbers as bytes."""
    drawn = traitlets.Int(0).tag(sync=True)
    """How many scenes have been shown; the canvas carries the number once it has drawn that one."""

    def put(self, scene: dict[str, Any]) -> None:
        """Show a scene."""
        with self.hold_sync():
            self.scene = scene
            self.drawn += 1


class PickingWidget(CanvasWidget):
    """A picture in which a click, or a key, picks something by its number."""

    def __init__(self, picked: Callable[[int], None]) -> None:
        super().__init__()
        self._picked = picked
        self.on_msg(self._heard)

    def _heard(self, _widget: object, message: dict[str, Any], _pieces: object) -> None:
        if message.get("what") == "pick":
            self._picked(int(message["k"]))


def script(*names: str) -> str:
    """Return the JavaScript of a panel, one file after the other, behind the words that all panels share."""
    folder = Path(__file__).parent / "scripts"
    return "\n".join((folder / file).read_text() for file in ("canvas.js", "pdf_ink.js", *names))


def column(values: Any) -> bytes:
    """Return numbers as the browser reads them: float64, exact for whole numbers up to 2^53."""
    return np.asarray(values, "<f8").tobytes()


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


FAR_APART = 30
"""Where the highest mean is so many times the lowest, the axis of values is logarithmic."""

_NOTHING: dict[str, Any] = {"words": "", "lines": []}


class Side(NamedTuple):
    """The baseline (place 0) or the other (1)."""

    place: int
    x: np.ndarray
    means: Means


class IntervalsPanel(CanvasWidget):
    """Dots with their intervals, or lines with a band where there are many places."""

    _esm = script("intervals.js")

    def show(
        self, title: str, x: str, y: str, sides: Sequence[Side], doubling: bool = False, names: Sequence[str] = ()
    ) -> None:
        """Show both sides; with `doubling` the axis of places is logarithmic, `names` are those of places 0, 1, ..."""
        self.put(intervals_scene(title, x, y, sides, doubling, names))

    def say(self, sentence: str) -> None:
        """Show a sentence instead: there is nothing to see."""
        self.put({**_NOTHING, "words": sentence})


def intervals_scene(
    title: str, x: str, y: str, sides: Sequence[Side], doubling: bool = False, names: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what the browser draws."""
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
        nothing: str = "",
    ) -> None:
        """Show numbers of a record beside each other.

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
        nothing : str
            What to say where a run has no such numbers.
        """
        super().__init__()
        self.heading, self.note, self.names = title, note, names
        self._axes, self._places, self._nothing = (x, y), places, nothing

    def show_runs(self, runs: PairedRuns) -> None:
        """Show the runs so far."""
        columns = [np.stack(side) for side in runs.noted(self.heading)]
        if self._nothing and not all(column.size and np.isfinite(column).all() for column in columns):
            self.say(self._nothing)
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


def beside(*widgets_shown: widgets.Widget) -> widgets.Widget:
    """Return widgets side by side as far as the page is wide; one alone as it is."""
    if len(widgets_shown) == 1:
        return widgets_shown[0]
    row = widgets.HBox(widgets_shown)
    row.add_class("wb-beside")
    return row


_SIDES = '<b class="wb-baseline">&mdash;</b> baseline, <b class="wb-other">&mdash;</b> other'


class NotedPanels:
    """The panels of an engine: those of one seed, what the means rest on, and rows of panels of all runs."""

    def __init__(self, *rows: Sequence[IntervalsPanel], of_seed: Sequence[widgets.Widget] = ()) -> None:
        self.seeds = widgets.HTML()
        self.seeds.add_class("wb-says")
        self.noted = [panel for row in rows for panel in row if isinstance(panel, NotedPanel)]
        self.widgets: list[widgets.Widget] = [*of_seed, self.seeds, *(beside(*row) for row in rows)]

    @property
    def notes(self) -> Notes:
        """Return what is to be noted of every run."""
        return {panel.heading: panel.note for panel in self.noted}

    def show_seed(self, names: Sequence[str], records: Sequence[Any], view: Any) -> None:
        """Show nothing of a single run."""

    def show_runs(self, runs: PairedRuns, run_set: RunSet, view: Any) -> None:
        """Show all that has been run."""
        self.seeds.value = f"{_SIDES}; {rests_on([runs.done])}."
        for panel in self.noted:
            panel.show_runs(runs)


def _known(limits: np.ndarray) -> list[float | None]:
    return [limit if math.isfinite(limit) else None for limit in limits.tolist()]


_NO_DIFFERENCE: dict[str, Any] = {"words": "", "label": "", "edges": [], "counts": []}


class HistogramPanel(CanvasWidget):
    """Bars right of zero: seeds on which the other policy is better than the baseline."""

    _esm = script("histogram.js")

    def show(self, runs: RunSet, measure: str) -> None:
        """Show the differences of one measure."""
        self.put(histogram_scene(drain_difference_data(runs, measure)))

    def say(self, sentence: str) -> None:
        """Show a sentence instead: there is nothing to compare."""
        self.put({**_NO_DIFFERENCE, "words": sentence})


def histogram_scene(difference: DrainDifference) -> dict[str, Any]:
    """Return what the browser draws of one comparison."""
    (panel,) = difference.panels
    return {
        "words": difference_words(difference),
        "label": difference.label,
        "edges": difference.edges.tolist(),
        "most": 1.3 * max(int(panel.counts.max()), panel.of.paired.ties),
        **_bars(panel),
    }


def _bars(panel: Histogram) -> dict[str, Any]:
    """Return the bars of a panel, and the estimate with the limits that are known."""
    interval = panel.of.paired.interval
    known = math.isfinite(interval.low)
    return {
        "counts": panel.counts.tolist(),
        "tied": panel.of.paired.ties,
        "mean": interval.mean,
        "low": interval.low if known else None,
        "high": interval.high if known else None,
    }


def difference_words(difference: DrainDifference) -> str:
    """Return the result in a line; a share never stands without the word "undecided" where its interval holds zero."""
    (panel,) = difference.panels
    paired = panel.of.paired
    mean, saving = paired.interval, paired.saving.mean
    unit = f" {difference.unit}" if difference.unit and difference.unit != "bytes" else ""
    low, middle, high = (in_unit(value, difference.unit) for value in (mean.low, mean.mean, mean.high))
    limits = f" [{low}, {high}]" if math.isfinite(mean.low) else ""
    share = f" = {saving:.2%}" if math.isfinite(saving) else ""
    seeds = paired.n
    undecided = "" if mean.above(0) or mean.below(0) else f" (undecided at {seeds} seed{'s' * (seeds != 1)})"
    if seeds == 1:
        verdict = "the same" if paired.ties else difference.better if paired.wins else difference.worse
        return f"{panel.of.name} against {panel.of.baseline}, one run: {verdict} by {middle}{unit}{share}{undecided}."
    counts = f"{difference.better} on {paired.wins} seeds, {difference.worse} on {paired.losses}, tied on {paired.ties}"
    estimate = f"{paired.estimand} gain {middle}{limits}{unit}{share}{undecided}"
    return f"{panel.of.name} against {panel.of.baseline}: {estimate}; {counts}."


class MultiplesPanel(PickingWidget):
    """A histogram a policy, with its mean and interval, from the best mean to the worst."""

    _esm = script("multiples.js")

    def show(self, difference: DrainDifference, order: list[int]) -> None:
        """Show the panels of a comparison; `order` is what each is called when it is picked."""
        self.put(multiples_scene(difference, order))

    def clear(self) -> None:
        """Show nothing."""
        self.put({"panels": [], "edges": [], "label": ""})


def multiples_scene(difference: DrainDifference, order: list[int]) -> dict[str, Any]:
    """Return what the browser draws: the best first."""
    ordered = sorted(zip(order, difference.panels, strict=True), key=lambda one: -one[1].of.paired.interval.mean)
    return {
        "label": difference.label,
        "edges": difference.edges.tolist(),
        "most": 1.25 * max(int(max(panel.counts.max(), panel.of.paired.ties)) for _, panel in ordered),
        "panels": [
            {"k": k, "name": panel.of.name, "words": _words(panel, difference.unit), **_bars(panel)}
            for k, panel in ordered
        ],
    }


def _words(panel: Histogram, unit: str) -> str:
    """Return the estimate with its interval; "undecided" where that holds zero."""
    mean = panel.of.paired.interval
    low, middle, high = (in_unit(value, unit) for value in (mean.low, mean.mean, mean.high))
    limits = f" [{low}, {high}]" if math.isfinite(mean.low) else ""
    return f"{middle}{limits}{'' if mean.above(0) or mean.below(0) else ' undecided'}"


class PointsPanel(PickingWidget):
    """A dot a point; the chosen one is filled, the arrow keys choose the next."""

    _esm = script("points.js")

    def show(
        self,
        measures: Sequence[str],
        places: Sequence[Sequence[float]],
        names: Sequence[str],
        chosen: int,
        pale: Sequence[Sequence[float]] = (),
    ) -> None:
        """Show the points, and pale ones behind them that cannot be chosen; those without both values are left out of
        the picture."""
        kept = [k for k, place in enumerate(places) if all(map(math.isfinite, place))]
        behind = [[float(value) for value in place] for place in pale if all(map(math.isfinite, place))]
        points = [{"k": k, "x": places[k][0], "y": places[k][1], "name": names[k]} for k in kept]
        self.put({"x": measures[0], "y": measures[1], "points": points, "chosen": chosen, "pale": behind})

    def choose(self, place: int) -> None:
        """Fill another point."""
        if self.scene:
            self.put({**self.scene, "chosen": place})


def measures_table(runs: RunSet, names: Sequence[str], points: Sequence[PlannedPoint]) -> str:
    """Return the table as HTML: one row a measure that is defined on both sides, the baseline's and the other's.

    Means and median differences are over the seeds at which both are defined; a difference above 0 is for the better.
    """
    sides = map(escaped, names)
    head = "".join(
        f"<th>{word}</th>" for word in ("measure", *sides, "median difference, 95 % interval", "better / worse")
    )
    body = "".join(_rows(runs, points))
    return f'<table class="wb-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _rows(runs: RunSet, points: Sequence[PlannedPoint]) -> Iterator[str]:
    for name, measure in runs.plan.sweep.mechanism.measures.items():
        values = [_finite(runs, point, name) for point in points]
        if values[0].keys() & values[1].keys():
            pairs = pair(*values)
            means = "".join(f"<td>{in_unit(side.mean(), measure.unit)}</td>" for side in (pairs.baseline, pairs.other))
            named = f'<td title="{escaped(measure.description)}">{_named(measure)}</td>'
            yield f"<tr>{named}{means}{_difference(pairs, measure)}</tr>"


def _finite(runs: RunSet, point: PlannedPoint, name: str) -> dict[int, float]:
    return {seed: value for seed, value in runs.values(point, name).items() if math.isfinite(value)}


def _named(measure: Measure) -> str:
    arrow = {"lower": "↓", "higher": "↑", "neither": ""}[measure.better]
    return f"{escaped(measure.label)} {arrow}".rstrip()


def _difference(pairs: Pairs, measure: Measure) -> str:
    if measure.better == "neither":
        return "<td></td><td></td>"
    gained = pairs.differences() if measure.better == "lower" else -pairs.differences()
    interval = compare(pairs.baseline, pairs.other, better=measure.better).interval
    clear = "better" if interval.above(0) else "worse" if interval.below(0) else "even"
    low, mean, high = (in_unit(value, measure.unit) for value in (interval.low, interval.mean, interval.high))
    limits = f" [{low}, {high}]" if math.isfinite(interval.low) else ""
    counted = f"{(gained > 0).sum()} / {(gained < 0).sum()}"
    return f'<td class="wb-{clear}">{mean}{limits}</td><td>{counted}</td>'


def in_unit(value: float, unit: str) -> str:
    """Return a number of some unit as a table shows it: bytes in the unit that a person reads.

    >>> in_unit(3_661_627_392, "bytes"), in_unit(-1536, "bytes"), in_unit(16113.25, "cycles")
    ('3.41 GiB', '-1.5 KiB', '16,113')
    """
    if unit != "bytes" or not math.isfinite(value):
        return number(value)
    return f"{'-' if value < 0 else ''}{bytes_said(abs(value))}"


def number(value: float) -> str:
    """Return a number as a table shows it: four digits, thousands set apart.

    >>> number(16113.25), number(0.09123), number(float("nan")), number(0.0), number(float("inf"))
    ('16,113', '0.09123', '-', '0', 'inf')
    """
    if math.isnan(value):
        return "-"
    if math.isinf(value) or value == 0:
        return f"{value:g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
