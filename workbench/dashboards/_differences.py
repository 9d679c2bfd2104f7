"""Paired differences on a page: a histogram, small multiples of several policies, the table of measures.

Of one measure a histogram shows the differences of all seeds with their mean and its interval. The table has every
measure, with the size of its comparison and the verdict. The measure of the picture is the question, and is tested
alone. The verdicts of the other rows are corrected over these rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from workbench.dashboards._canvas import CanvasWidget, PickingWidget, script
from workbench.dashboards._elements import escaped, in_unit
from workbench.experiments.plan import Plan
from workbench.experiments.results import Results
from workbench.figures.drain_difference import DrainDifference, Histogram, drain_difference_data
from workbench.figures.estimates import gain_of
from workbench.figures.labels import measure_words
from workbench.metrics.measure import Measure
from workbench.number_text import FIGURE, with_limits
from workbench.runs.run import PlannedPoint
from workbench.statistics import Interval, Pairs, Verdict, judge, pair
from workbench.statistics.comparisons import compared
from workbench.statistics.interval import mean_interval
from workbench.statistics.quantities import sized
from workbench.statistics.result_rows import TIMES, Cells, ResultRow, verdict_words
from workbench.statistics.result_table import result_table
from workbench.statistics.sentences import shown

_NO_DIFFERENCE: dict[str, Any] = {
    "headline": "",
    "side": "",
    "sides": [],
    "brief": "",
    "words": "",
    "label": "",
    "edges": [],
    "counts": [],
}


class ComparedMeasures(NamedTuple):
    """Every measure that is defined on both sides."""

    pairs: dict[str, Pairs]
    """By measure, the values of the baseline and the other side at the seeds at which both are defined."""
    verdicts: dict[str, Verdict]
    """By measure, if more or less of it is better."""


def compared_measures(runs: Results, points: Sequence[PlannedPoint], question: str) -> ComparedMeasures:
    """Compare the baseline, the first point, with the other side in every measure; `question` is tested alone."""
    known, pairs, (baseline, other) = runs.plan.sweep.mechanism.measures, {}, points
    for name in known:
        values = [_finite(runs, point, name) for point in points]
        if values[0].keys() & values[1].keys():
            pairs[name] = pair(*values)
    tested = {name: compared(runs, baseline, other, name) for name in pairs if known[name].better != "neither"}
    alone = {question: tested.pop(question)} if question in tested else {}
    return ComparedMeasures(pairs, judge(alone) | judge(tested))


class HistogramPanel(CanvasWidget):
    """Bars right of zero: seeds on which the other policy is better than the baseline."""

    _esm = script("hover.js", "histogram.js")

    def show(self, runs: Results, measure: str, names: tuple[str, str], verdict: Verdict | None = None) -> None:
        """Show the differences of one measure; `names` are the baseline's and the other's."""
        self.put(histogram_scene(drain_difference_data(runs, measure), names, verdict))

    def say(self, sentence: str) -> None:
        """Show a sentence instead: there is nothing to compare."""
        self.put({**_NO_DIFFERENCE, "words": sentence})


def histogram_scene(
    difference: DrainDifference, names: tuple[str, str] | None = None, verdict: Verdict | None = None
) -> dict[str, Any]:
    """Return the data that the browser draws of one comparison; it is judged by itself if no verdict is given."""
    (panel,) = difference.panels
    names = names or (panel.of.baseline, panel.of.name)
    verdict = verdict or judge({"": panel.of.paired})[""]
    return {
        "headline": headline(verdict, difference.measure),
        "side": verdict.side,
        "sides": names[::-1],
        "brief": _brief(verdict, difference.measure),
        "words": difference_words(verdict, difference.measure, names),
        "label": difference.label.replace(panel.of.baseline, names[0]),
        "edges": difference.edges.tolist(),
        "most": 1.3 * max(int(panel.counts.max()), panel.of.paired.ties),
        **_bars(panel),
    }


def difference_words(verdict: Verdict, measure: Measure, names: tuple[str, str]) -> str:
    """Return the result in a line: the size of the comparison, its verdict, and what it needs to tell."""
    text = "; ".join(filter(None, shown(verdict, measure)))
    return f"{names[1]} against {names[0]}: {text}."


def headline(verdict: Verdict, measure: Measure) -> str:
    """Return the result as a reader sees it first: by how much, and how sure that is.

    >>> from workbench.statistics import compare
    >>> times = Measure("makespan", "cycles", "lower", "", compared_by="ratio")
    >>> faster = compare([1050 + 3 * k for k in range(12)], [1000 + 2 * k for k in range(12)], compared_by="ratio")
    >>> headline(judge({"": faster})[""], times)
    '1.0549x faster, sure'
    """
    one = verdict.of
    if not one.n:
        return "Not compared: no seed has a value on both sides"
    if one.is_same:
        return "No difference"
    size = re.sub(r" ?\[.*?\]", "", sized(one, measure))
    word = "sure" if verdict.word == "better" and not verdict.is_small else verdict_words(verdict, measure)
    if not one.is_ratio:
        return f"{measure_words(measure)}: {size}, {word}"
    is_time = measure.better == "lower" and measure.unit in TIMES
    more, as_much = ("faster", "as fast") if is_time else ("better", "as good")
    name = "" if is_time else f"{measure_words(measure)}: "
    return f"{name}{size} {as_much if one.size.mean < 1 else more}, {word}"


def _brief(verdict: Verdict, measure: Measure) -> str:
    """Return the size with its interval, and at how many seeds the other side is better."""
    size, counts = shown(verdict, measure)
    one = verdict.of
    if one.n > 1 and not one.is_same and not one.exact:
        counts = f"better at {one.wins} of {one.n} seeds"
    return "; ".join(filter(None, [size, counts]))


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
    """Return the data that the browser draws: the best first."""
    verdicts = judge({k: panel.of.paired for k, panel in zip(order, difference.panels, strict=True)})
    ordered = sorted(zip(order, difference.panels, strict=True), key=lambda one: -_mean(one[1]).mean)
    return {
        "label": difference.label,
        "edges": difference.edges.tolist(),
        "most": 1.25 * max(int(max(panel.counts.max(), panel.of.paired.ties)) for _, panel in ordered),
        "panels": [
            {"k": k, "name": panel.of.name, "words": _words(panel, verdicts[k].word, difference.unit), **_bars(panel)}
            for k, panel in ordered
        ],
    }


def _words(panel: Histogram, word: str, unit: str) -> str:
    """Return the mean difference with its interval; "undecided" where no word is earned."""
    return f"{_with_limits(_mean(panel), unit)}{' undecided' if word == 'undecided' else ''}"


def _with_limits(interval: Interval, unit: str) -> str:
    """Return an estimate with its limits; bytes in the unit that a person reads."""
    ends = (interval.mean, interval.low, interval.high)
    if unit != "bytes":
        return with_limits(*ends, FIGURE)
    middle, low, high = (in_unit(value, unit) for value in ends)
    return f"{middle} [{low}, {high}]" if math.isfinite(interval.low) else middle


def _mean(panel: Histogram) -> Interval:
    return gain_of(panel.of.paired, False)


def _bars(panel: Histogram) -> dict[str, Any]:
    """Return the bars of a panel, and the estimate with the limits that are known."""
    interval = _mean(panel)
    known = math.isfinite(interval.low)
    return {
        "counts": panel.counts.tolist(),
        "tied": panel.of.paired.ties,
        "mean": interval.mean,
        "low": interval.low if known else None,
        "high": interval.high if known else None,
    }


def policies_table(runs: Results, measure: str) -> str:
    """Return the table of results of one measure as HTML: the policies from the best to the worst, as everywhere."""
    chosen = runs.plan.sweep._replace(measures=[measure])
    return result_table(Results(Plan(chosen, runs.plan.points), runs.rows.values()))._repr_html_()


def measures_table(runs: Results, names: Sequence[str], measures: ComparedMeasures) -> str:
    """Return the table as HTML: one row a measure that is defined on both sides, the baseline's and the other's.

    Means and sizes are over the seeds at which both are defined.
    """
    sides = map(escaped, names)
    head = "".join(f"<th>{word}</th>" for word in ("measure", *sides, "speed-up or difference", "better at", "verdict"))
    body = "".join(_rows(runs, measures))
    return f'<table class="wb-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _rows(runs: Results, measures: ComparedMeasures) -> Iterator[str]:
    for name, pairs in measures.pairs.items():
        measure = runs.plan.sweep.mechanism.measures[name]
        verdict = measures.verdicts.get(name)
        baseline, other = _cells(pairs.baseline, None, measure), _cells(pairs.other, verdict, measure)
        named = f'<td title="{escaped(measure.description)}">{_named(measure)}</td>'
        color = "" if verdict is None else f' class="wb-{verdict.side or "even"}"'
        size = "" if verdict is None else other.size
        rest = "" if verdict is None else f' title="worse at {verdict.of.losses}, the same at {verdict.of.ties}"'
        texts = (
            ("", baseline.value),
            ("", other.value),
            (color, size),
            (rest, other.better_at),
            (color, other.verdict),
        )
        yield f"<tr>{named}{''.join(f'<td{look}>{text}</td>' for look, text in texts)}</tr>"


def _cells(values: Any, verdict: Verdict | None, measure: Measure) -> Cells:
    """Return the cells of a side as the table of results has them; bytes in the unit that a person reads."""
    mean = mean_interval(values)
    cells = ResultRow("", mean, verdict, verdict is None, False).cells(measure)
    if measure.unit != "bytes":
        return cells
    cells = cells._replace(value=in_unit(mean.mean, measure.unit))
    if verdict is None or verdict.of.is_ratio:
        return cells
    return cells._replace(size=_with_limits(verdict.of.size, measure.unit))


def _finite(runs: Results, point: PlannedPoint, name: str) -> dict[int, float]:
    return {seed: value for seed, value in runs.values(point, name).items() if math.isfinite(value)}


def _named(measure: Measure) -> str:
    arrow = {"lower": "↓", "higher": "↑", "neither": ""}[measure.better]
    return f"{escaped(measure.label)} {arrow}".rstrip()
