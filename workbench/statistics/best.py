"""The best policies of a block: which rows of a table are bold, in a terminal, a notebook and a paper.

A block holds the policies of one workload and machine that are compared with one baseline, under one measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import numpy as np

from workbench.experiments.results import Results
from workbench.runs.run import PlannedPoint
from workbench.statistics.comparison import PairedComparison, size_between
from workbench.statistics.comparisons import (
    Judged,
    OverWorkloads,
    by_seed,
    compared,
    is_setting,
    judged,
    measure_of,
    planned_seeds,
)
from workbench.statistics.floors import ALPHA
from workbench.statistics.verdict import Verdict

Key = TypeVar("Key", bound=str)

MEANING = (
    "the best estimate, and every policy that cannot be told from it (multiple comparisons with the best, 95 % a "
    "block); no row if that is all of them"
)
"""What bold says, as captions print it."""
SHORT_MEANING = "the best of its block, and all that may be as good (95 %)"
"""The same, as the key of a table prints it."""
NO_BEST = "no policy of that block is shown to be the best"
"""What a block without a bold row says."""


def bold_rows(
    estimates: Mapping[Key, float],
    is_inferior: Callable[[Key, Key, float], bool],
    called_worse: Collection[Key] = (),
    alpha: float = ALPHA,
) -> frozenset[Key]:
    """Return the rows of a block that are bold: the best estimate, and every row that cannot be told from it.

    These are multiple comparisons with the best, over paired seeds. Each of the other k - 1 rows is tested against the
    row with the best estimate at alpha / (k - 1), by the paired t of `compare`. The policy that is truly best is told
    from another with a chance of alpha at most, whatever the policies share. So it is in the set in 95 % of all blocks.

    - If all rows are in the set, no row is bold.
    - A row that a line calls worse than another is not bold. If that is the row with the best estimate, no row is bold.
    - Where a line compares two rows, its verdict decides, and not a second test that may contradict it.
    - A row that does not end at some seed is never bold. It is told from the best by the direction of the pairs.
    - Exact rows need no test: those with the best value are bold.
    - One seed is no sample, and tells nothing.

    Parameters
    ----------
    estimates : mapping
        By row, larger is better; minus infinity for a row that does not end at some seed, and no entry for a row
        without a value.
    is_inferior : callable
        Returns whether the second row is shown to be worse than the first, the best one, at the level that is given.
        Of two rows that a line compares it returns False, as `called_worse` has what the line says.
    called_worse : collection
        The rows that a verdict calls worse than another one.

    References
    ----------
    Hsu (1984), "Constrained simultaneous confidence intervals for multiple comparisons with the best", Annals of
    Statistics 12. Nelson and Matejcik (1995), "Using common random numbers for indifference-zone selection and
    multiple comparisons in simulation", Management Science 41: paired differences with Bonferroni's inequality.

    Examples
    --------
    >>> from workbench.statistics import compare
    >>> runs = {"a": [50, 52, 51, 53, 50, 51, 52, 50], "b": [51, 50, 52, 52, 51, 51, 50, 53]}
    >>> runs["c"] = [value + 9 + k % 3 for k, value in enumerate(runs["a"])]
    >>> def inferior(best, other, alpha):
    ...     return is_worse(compare(runs[best], runs[other]), alpha)
    >>> sorted(bold_rows({name: -sum(values) for name, values in runs.items()}, inferior))
    ['a', 'b']
    """
    ended = {key: value for key, value in estimates.items() if value > -math.inf}
    if len(estimates) < 2 or not ended:
        return frozenset()
    best = max(ended, key=lambda key: ended[key])
    others = [key for key in estimates if key != best]
    level = alpha / len(others)
    inferior = {key for key in others if key in called_worse or is_inferior(best, key, level)}
    if not inferior or best in called_worse:
        return frozenset()
    return frozenset(key for key in ended if key not in inferior)


def is_worse(one: PairedComparison, alpha: float) -> bool:
    """Return whether the other side of a comparison is shown to be worse."""
    if one.exact:
        return one.side_of_values == "worse"
    if one.ended < one.n:
        return one.losses > one.wins and one.p_direction < alpha
    return one.is_sized and one.size.mean < one.no_effect and one.p_size < alpha


def comparable(runs: Results) -> list[list[PlannedPoint]]:
    """Return the points that share a setting and a baseline, the baseline first, in the order of the sweep."""
    blocks: dict[tuple[object, ...], list[PlannedPoint]] = {}
    compared_with = {point.baseline for point in runs.points}
    for point in runs.points:
        setting = tuple((path, str(value)) for path, value in point.coordinates.items() if is_setting(path))
        against = point.id if point.id in compared_with else point.baseline
        blocks.setdefault((*setting, against), []).append(point)
    return [sorted(points, key=lambda point: point.id not in compared_with) for points in blocks.values()]


def bold_points(runs: Results, name: str, known: Judged | None = None) -> frozenset[str]:
    """Return the ids of the points that are bold under a measure; of some points of a sweep, those of the whole.

    `known` are the comparisons of these runs, where they are judged already.
    """
    whole = runs if runs.whole is None else runs.whole
    if measure_of(whole, name).better == "neither":
        return frozenset()
    verdicts = (judged(whole) if known is None or whole is not runs else known).verdicts
    result: set[str] = set()
    for block in comparable(whole):
        points = {point.id: point for point in block}
        lines = {id: verdicts[name, id] for id in points if (name, id) in verdicts}
        baselines = {id: str(points[id].baseline) for id in lines}

        def is_inferior(
            best: str, other: str, alpha: float, points: dict[str, PlannedPoint] = points, lines: Lines = lines
        ) -> bool:
            both = points[best], points[other]
            if best in lines and other in lines and lines[best].of.is_sized and lines[other].of.is_sized:
                return _is_worse_by_sizes(lines[best].of, lines[other].of, alpha, planned_seeds(whole, both))
            return is_worse(compared(whole, *both, name), alpha)

        estimates = _estimates_of_lines(block, lines) or _estimates(whole, name, block)
        result |= _bold_of_lines(estimates, lines, baselines, is_inferior)
    return frozenset(result)


def bold_over(runs: Results, over: Sequence[OverWorkloads]) -> frozenset[str]:
    """Return the names of the policies that are bold over the workloads of a sweep, under one measure.

    The baseline takes part in the comparison under the name of nothing.
    """
    result: set[str] = set()
    by_id = {point.id: point for point in runs.points}
    groups: dict[tuple[str | None, ...], dict[str, OverWorkloads]] = {}
    for one in over:
        against = tuple(sorted(str(by_id[id].baseline) for id in one.points))
        groups.setdefault(against, {})[one.name] = one
    for rows in groups.values():
        lines = {label: one.verdict for label, one in rows.items()}

        def is_inferior(
            best: str, other: str, alpha: float, rows: dict[str, OverWorkloads] = rows, lines: Lines = lines
        ) -> bool:
            planned = planned_seeds(runs, [by_id[id] for label in (best, other) for id in rows[label].points])
            return _is_worse_by_sizes(lines[best].of, lines[other].of, alpha, planned)

        estimates = {_BASELINE: 1.0, **{label: line.of.size.mean for label, line in lines.items()}}
        result |= _bold_of_lines(estimates, lines, dict.fromkeys(lines, _BASELINE), is_inferior) - {_BASELINE}
    return frozenset(result)


_BASELINE = "\0"
"""Stands for the baseline, which has no name over workloads."""
Lines = Mapping[str, Verdict]
"""The verdicts that lines print, by row."""


def _bold_of_lines(
    estimates: Mapping[str, float],
    lines: Lines,
    baselines: Mapping[str, str],
    is_inferior: Callable[[str, str, float], bool],
) -> frozenset[str]:
    """Return the bold rows; of two rows that a line compares, the line alone decides.

    A row that is the same as its baseline at every seed has the lines of the baseline.
    """
    sides = {key: line.of.side_of_values if line.word == "exact" else line.word for key, line in lines.items()}
    twins = {key: baselines[key] if side == "same" else key for key, side in sides.items()}

    def is_told(best: str, other: str, alpha: float) -> bool:
        first, second = twins.get(best, best), twins.get(other, other)
        by_line = first in (second, baselines.get(second)) or baselines.get(first) == second
        return not by_line and is_inferior(best, other, alpha)

    losers = {baselines[key] for key, side in sides.items() if "better" in side}
    losers |= {key for key, side in sides.items() if "worse" in side}
    return bold_rows(estimates, is_told, losers | {key for key, twin in twins.items() if twin in losers})


def _is_worse_by_sizes(
    best: PairedComparison, other: PairedComparison, alpha: float, planned: Collection[int] | None
) -> bool:
    """Return whether a row is shown to be worse than the best, from the sizes of both against one baseline."""
    size, p = size_between(best, other, planned)
    return size < 0 and ((best.exact and other.exact) or p < alpha)


def _estimates_of_lines(points: Sequence[PlannedPoint], lines: Lines) -> dict[str, float]:
    """Return the sizes that lines print as estimates, the baseline's too; empty where the lines do not tell them."""
    sized = {id: line.of for id, line in lines.items() if line.of.is_sized}
    baselines = [point.id for point in points if point.id not in sized]
    kinds = {(one.seeds, one.no_effect) for one in sized.values()}
    if len(baselines) != 1 or len(kinds) != 1 or len(sized) < len(lines):
        return {}
    [(_, no_effect)] = kinds
    return {baselines[0]: no_effect, **{id: one.size.mean for id, one in sized.items()}}


def _estimates(runs: Results, name: str, points: Sequence[PlannedPoint]) -> dict[str, float]:
    """Return an estimate a point at the seeds that all points with a value have, on the scale of the comparison.

    Minus infinity stands for a point that does not end at some seed. Empty where there is no common seed, or no ratio.
    """
    measure = measure_of(runs, name)
    known = {
        point.id: {seed: value for seed, value in by_seed(runs, point, name).items() if not math.isnan(value)}
        for point in points
    }
    ended = {id: row for id, row in known.items() if row and np.isfinite([*row.values()]).all()}
    shared = sorted(set(runs.seeds).intersection(*ended.values()))
    is_ratio, sign = measure.compared_by == "ratio", 1.0 if measure.better == "higher" else -1.0
    if not shared or (is_ratio and any(value <= 0 for row in ended.values() for value in row.values())):
        return {}
    means = {id: np.array([row[seed] for seed in shared]) for id, row in ended.items()}
    estimates = {id: sign * float((np.log(row) if is_ratio else row).mean()) for id, row in means.items()}
    return {**{id: -math.inf for id, row in known.items() if row}, **estimates}
