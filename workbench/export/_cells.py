"""The statistics behind tables and macros: one cell a point and measure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from workbench.experiments.results import Results
from workbench.figures.labels import words
from workbench.figures.panels import panels
from workbench.metrics.measure import Measure
from workbench.runs.run import PlannedPoint, run_id
from workbench.statistics import Interval, PairedComparison, Verdict
from workbench.statistics.best import bold_over
from workbench.statistics.comparisons import OverWorkloads, judged, measure_of, values_of
from workbench.statistics.result_rows import ResultRow
from workbench.statistics.result_table import result_table
from workbench.statistics.summary import point_mean


class Place(NamedTuple):
    """A point as tables and macros name it."""

    setting: str
    """Machine and workload, where the sweep varies them."""
    name: str
    """The policies and options that it varies."""
    point: PlannedPoint

    @property
    def words(self) -> str:
        """Return the name as papers print it."""
        return words(self.name)


class Cell(NamedTuple):
    """One measure of one point."""

    place: Place
    measure: Measure
    mean: Interval
    verdict: Verdict | None
    """On the comparison with the baseline, corrected over all comparisons of the bundle; None for the baseline itself
    and where neither direction is better."""
    runs: list[str]
    """The sets of runs behind the mean."""
    pairs: list[str]
    """The sets of runs behind the comparison."""
    hang: str
    """What a table says of runs that hang and so lack the measure; empty if none does."""
    bold: bool
    """Whether it is the best of its block, or cannot be told from it (`bold_rows`)."""
    rank: int
    """Its place in the table of results, where rows are sorted by speed-up."""
    is_baseline: bool
    """Whether other points are compared with it."""

    @property
    def against(self) -> PairedComparison | None:
        """Return the comparison with the baseline."""
        return None if self.verdict is None else self.verdict.of


class RunSets:
    """Names the sets of runs that numbers rest on: the same set has one name, however many numbers use it."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, tuple[int, ...]], str] = {}

    def name(self, point: PlannedPoint, seeds: Iterable[Hashable]) -> str:
        """Return the name of the runs of a point at some seeds."""
        key = (point.id, tuple(sorted(int(str(seed)) for seed in seeds)))
        return self._names.setdefault(key, f"runs {len(self._names) + 1}")

    def plain(self) -> dict[str, dict[str, object]]:
        """Return every set: its point and the ids of its runs."""
        return {
            name: {"point": point, "runs": [run_id(point, seed) for seed in seeds]}
            for (point, seeds), name in self._names.items()
        }


def places(runs: Results) -> list[Place]:
    """Return the points in the order and under the names of the figures."""
    return [Place(panel.title, line.name, line.point) for panel in panels(runs) for line in panel.lines]


def cells(runs: Results, sets: RunSets, named: Sequence[Place]) -> list[Cell]:
    """Return every measure of the sweep at every point; the p-values are corrected together."""
    ranked: dict[tuple[str, str], ResultRow] = {}
    for block in result_table(runs).blocks:
        ranked |= {(block.measure.name, row.point): row for row in block.rows if row.point}
    ranks = {key: rank for rank, key in enumerate(ranked)}
    return [
        _cell(runs, sets, place, measure_of(runs, name), ranked[key], ranks[key])
        for name in runs.plan.sweep.measures
        for place in named
        for key in [(name, place.point.id)]
    ]


def _cell(runs: Results, sets: RunSets, place: Place, measure: Measure, row: ResultRow, rank: int) -> Cell:
    verdict = row.verdict
    finite = values_of(runs, place.point, measure.name)
    baseline = runs.baseline_of(place.point)
    both = [one for one in (baseline, place.point) if one is not None]
    pairs = [sets.name(one, verdict.of.seeds) for one in both] if verdict else []
    mean = point_mean(runs, place.point, measure.name)
    hang = runs.hang(place.point) if measure.refusals else None
    hangs = hang.text if hang is not None else ""
    return Cell(
        place, measure, mean, verdict, [sets.name(place.point, finite)], pairs, hangs, row.bold, rank, row.is_baseline
    )


class OverCell(NamedTuple):
    """A policy over the workloads of a sweep, under one measure."""

    one: OverWorkloads
    bold: bool
    """As of a `Cell`, among the policies over the same workloads."""


def over_cells(runs: Results) -> list[OverCell]:
    """Return every policy over the workloads of a sweep, by measure."""
    over = judged(runs).over
    groups = {name: [one for one in over if one.measure == name] for name in runs.plan.sweep.measures}
    bold = {name: bold_over(runs, group) for name, group in groups.items()}
    return [OverCell(one, one.name in bold[one.measure]) for one in over]


def half_width(interval: Interval) -> float:
    """Return half the width of an interval, NaN where its limits are unknown."""
    return (interval.high - interval.low) / 2
