"""Paired differences on a page: a histogram, small multiples of several policies, the table of measures.

Of one measure a histogram shows the differences of all seeds with their median and its interval; the table has every
measure, with the median difference and its interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from workbench.dashboards._canvas import CanvasWidget, PickingWidget, script
from workbench.dashboards._elements import escaped, in_unit
from workbench.experiments.run_set import RunSet
from workbench.figures.drain_difference import DrainDifference, Histogram, drain_difference_data
from workbench.metrics.measure import Measure
from workbench.runs.run import PlannedPoint
from workbench.statistics import Pairs, compare, pair

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
