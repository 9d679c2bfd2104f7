"""The table of results: one block per workload and measure, one row per policy, the baseline first.

Terminal, notebook and paper show the rows of this one object. `result_rows` has its cells, `result_text` writes it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import unknown_name
from workbench.experiments.results import Results
from workbench.metrics.measure import Measure
from workbench.runs.run import PlannedPoint
from workbench.statistics.best import NO_BEST, SHORT_MEANING, bold_over, bold_points, comparable
from workbench.statistics.comparisons import Judged, is_setting, judged, measure_of, values_of
from workbench.statistics.quantities import least_text
from workbench.statistics.result_rows import SIZE, ResultBlock, ResultRow
from workbench.statistics.result_text import html, lines
from workbench.statistics.sentences import looks_note, point_name, too_few_seeds
from workbench.statistics.summary import point_mean
from workbench.statistics.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator


_ALWAYS = "hangs (a of b): at every seed; a of b groups never start"
_AT_SOME = "hangs at: mean and speed-up are of the other seeds; in the verdict such a seed is the worst"
"""What rows that hang mean."""


class ResultTable(NamedTuple):
    """The results of a sweep, block by block."""

    blocks: list[ResultBlock]
    notes: list[str]
    """Sentences on seeds that belong to the table."""

    def lines(self, width: int | None, is_terminal: bool = False) -> Iterator[str]:
        """Yield the table with its key and its notes, line by line; see `result_text.lines`."""
        return lines(self.blocks, [*self.key, *self.notes], width, is_terminal)

    def text(self, width: int = 80) -> str:
        """Return the table in lines of a width, with its key and its notes."""
        return "\n".join(self.lines(width))

    def __repr__(self) -> str:
        """Return the table in 80 columns, which `print` and a plain terminal show."""
        return self.text()

    def _repr_html_(self) -> str:
        return html(self.blocks, [*self.key, *self.notes])

    @property
    def key(self) -> list[str]:
        """Return the meaning of columns, marks and words, of those that the table has."""
        rows = [(row, block.measure) for block in self.blocks for row in block.rows]
        judged_by = [(row.verdict, measure) for row, measure in rows if row.verdict is not None]
        known = [one for one, _ in judged_by if one.of.n]
        texts = "\n".join(row.verdict_cell(measure) for row, measure in rows)
        marked = {any(row.bold for row in block.rows) for block in self.blocks if block.is_compared}
        lines = [f"*: {SHORT_MEANING}"] * (True in marked) + [f"no *: {NO_BEST}"] * (False in marked)
        kinds = dict.fromkeys(one.of.compared_by == "ratio" for one in known)
        lines += [f"{SIZE[kind]}: {_SIZES[kind]}" for kind in kinds]
        family = max((one.comparisons for one in known), default=0)
        together = f"{family} comparison{'s' * (family != 1)}"
        least = {least_text(one, at.of.is_ratio) for at, one in judged_by if one.least is not None and at.of.least}
        effect = f"the least effect ({least.pop()})" if len(least) == 1 else "the least effect"
        lines += [
            f"{word}: {meaning.format(m=together, e=effect)}"
            for word, (sign, meaning) in _MEANINGS.items()
            if sign in texts
        ]
        return lines + [_ALWAYS] * any(row.always_hangs for row, _ in rows) + [_AT_SOME] * ("hangs at " in texts)


_SIZES = {
    True: "geometric mean of paired ratios; the 95 % interval is of one row alone",
    False: "mean paired difference; the 95 % interval is of one row alone",
}
_MEANINGS = {
    "sure": ("sure", "on average and at more than half of the seeds, corrected over {m} (Holm)"),
    "on average": ("on average", "the size is shown, the direction is not"),
    "on most seeds": ("on most seeds", "the direction is shown, the size is not"),
    "as good as equal": ("as good as equal", "the 90 % interval lies within {e}"),
    "undecided": (" more seeds", "so many more seeds show {e} with a chance of 80 %"),
    "exact": ("exact", "nothing is drawn, so one run is all that there is"),
    "not compared": ("not compared", "no seed has a value of both"),
}
"""By word of a verdict: the text of a row that calls for it, and its meaning."""


def result_table(runs: Results, measure: str | None = None) -> ResultTable:
    """Return the results of a sweep as a table.

    Rows are sorted by speed-up, the baseline first; of a measure that is compared by differences, by difference. A row
    that hangs at every seed is the last. Policies over several workloads have a block of their own.

    Parameters
    ----------
    measure : str, optional
        The blocks of one measure of the sweep; of all if None.

    Raises
    ------
    InputError
        The runs are of a shard, or the sweep has no such measure.

    Examples
    --------
    >>> import workbench as wb
    >>> sweep = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}, "seeds": 20}
    >>> sweep |= {"policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}}, "measures": ["drain_cycles"]}
    >>> results = wb.run({**sweep, "baseline": {"placement": "first_fit"}}, workers=0)
    >>> [(row.name, row.bold) for row in result_table(results).blocks[0].rows]
    [('first_fit', False), ('nearest_boundary', True)]
    """
    every = judged(runs)
    if measure is not None and measure not in runs.plan.sweep.measures:
        raise unknown_name("", "measure of this sweep", measure, runs.plan.sweep.measures)
    names = runs.plan.sweep.measures if measure is None else [measure]
    blocks = [block for name in names for block in _blocks(runs, name, every)]
    is_compared = any(row.verdict is not None for block in blocks for row in block.rows)
    return ResultTable(blocks, [*looks_note(runs), *too_few_seeds(runs.plan)] if is_compared else [])


def _blocks(runs: Results, name: str, every: Judged) -> Iterator[ResultBlock]:
    measure, bold = measure_of(runs, name), bold_points(runs, name, every)
    groups = comparable(runs)
    for points in groups:
        shared = _shared([point.coordinates for point in points])
        verdicts = {point.id: every.verdicts.get((name, point.id)) for point in points}
        baselines = {point.baseline for point in points if verdicts[point.id] is not None}
        rows = [_row(runs, point, name, shared, verdicts[point.id], baselines, bold) for point in points]
        if all(row.bold for row in rows):  # of some rows of a block: they are not told from each other
            rows = [row._replace(bold=False) for row in rows]
        setting = point_name(shared) if shared and len(groups) > 1 else ""
        yield ResultBlock(measure, setting, _seeds(rows), _in_order(rows, measure))
    over = [one for one in every.over if one.measure == name]
    if over:
        best = bold_over(runs, over)
        rows = [ResultRow(one.name or "all", None, one.verdict, False, one.name in best, over=one) for one in over]
        yield ResultBlock(measure, "over workloads", f"{len(runs.seeds)} seeds", _in_order(rows, measure))


def _shared(coordinates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the coordinates that several points have in common; of one point alone, those of machine and workload."""
    first = coordinates[0]
    if len(coordinates) == 1:
        return {path: value for path, value in first.items() if is_setting(path)}
    return {
        path: value
        for path, value in first.items()
        if all(path in other and str(other[path]) == str(value) for other in coordinates)
    }


def _row(
    runs: Results,
    point: PlannedPoint,
    name: str,
    shared: Mapping[str, Any],
    verdict: Verdict | None,
    baselines: Collection[str | None],
    bold: frozenset[str],
) -> ResultRow:
    own = {path: value for path, value in point.coordinates.items() if path not in shared}
    has_hang = measure_of(runs, name).refusals or runs.hung(point, name)
    mean = point_mean(runs, point, name)
    return ResultRow(
        point_name(own or point.coordinates),
        mean,
        verdict,
        point.id in baselines,
        point.id in bold,
        point.id,
        runs.hang(point) if has_hang else None,
        sum(map(math.isinf, values_of(runs, point, name).values())) if mean.method == "infinite" else 0,
    )


def _in_order(rows: list[ResultRow], measure: Measure) -> list[ResultRow]:
    """Return the baseline, then the rows from the best to the worst; those that do not end at any seed are the last."""

    def place(row: ResultRow) -> tuple[int, float]:
        if row.is_baseline:
            return 0, 0.0
        if row.has_size and row.verdict is not None:
            one = row.verdict.of
            return (1 if one.is_ratio or measure.compared_by != "ratio" else 2), -one.size.mean
        if row.always_hangs or (row.verdict is not None and row.verdict.of.n):
            return 4, 0.0
        mean = math.nan if row.mean is None or measure.better == "neither" else row.mean.mean
        return 3, 0.0 if math.isnan(mean) else (-mean if measure.better == "higher" else mean)

    return sorted(rows, key=place)


def _seeds(rows: Sequence[ResultRow]) -> str:
    """Return the number of seeds that rows are compared at; of rows that are not compared, those with a value."""
    compared = [row.verdict.of.n for row in rows if row.verdict is not None]
    counts = compared or [row.mean.n for row in rows if row.mean is not None]
    counts = [count for count in counts if count] or [0]
    least, most = min(counts), max(counts)
    return f"{most} seed{'s' * (most != 1)}" if least == most else f"{least} to {most} seeds"
