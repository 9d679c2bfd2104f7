"""The best policies of a block: which rows of a table are bold, in a terminal, a notebook and a paper.

A block holds the policies of one workload and machine that are compared with one baseline, under one measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import numpy as np

from workbench.experiments.run_set import RunSet
from workbench.runs.run import PlannedPoint
from workbench.statistics.comparison import PairedComparison, over_workloads
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

Key = TypeVar("Key", bound=str)

MEANING = (
    "the best estimate, and every policy that cannot be told from it (multiple comparisons with the best, 95 % a "
    "block); no row if that is all of them"
)
"""What bold says, as captions print it."""
SHORT_MEANING = "best of the block, or cannot be told from it at 95 %; no * if all rows are"
"""The same, as the key of a table prints it."""


def bold_rows(
    estimates: Mapping[Key, float],
    against: Callable[[Key, Key], PairedComparison | None],
    called_worse: Collection[Key] = (),
    alpha: float = ALPHA,
) -> frozenset[Key]:
    """Return the rows of a block that are bold: the best estimate, and every row that cannot be told from it.

    These are multiple comparisons with the best, over paired seeds. Each of the other k - 1 rows is tested against the
    row with the best estimate at alpha / (k - 1), by the paired t of `compare`. The policy that is truly best is told
    from another with a chance of alpha at most, whatever the policies share. So it is in the set in 95 % of all blocks.
    The test is two-sided: of two rows, one alone is bold only if the printed interval leaves out what is no effect.

    - If all rows are in the set, no row is bold.
    - A row that a line calls worse than another is not bold. If that is the row with the best estimate, no row is bold.
    - A row that does not end at some seed is never bold. It is told from the best by the direction of the pairs.
    - Exact rows need no test: those with the best value are bold.
    - One seed is no sample, and tells nothing.

    Parameters
    ----------
    estimates : mapping
        By row, larger is better; minus infinity for a row that does not end at some seed, and no entry for a row
        without a value.
    against : callable
        Compares the best row, the first argument, with another: the second argument is the `other` side.
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
    >>> def against(best, other):
    ...     return compare(runs[best], runs[other])
    >>> sorted(bold_rows({name: -sum(values) for name, values in runs.items()}, against))
    ['a', 'b']
    """
    ended = {key: value for key, value in estimates.items() if value > -math.inf}
    if len(estimates) < 2 or not ended:
        return frozenset()
    best = max(ended, key=lambda key: ended[key])
    others = [key for key in estimates if key != best]
    inferior = {key for key in others if _is_inferior(against(best, key), alpha / len(others))}
    if not inferior or best in called_worse:
        return frozenset()
    return frozenset(key for key in ended if key not in inferior and key not in called_worse)


def _is_inferior(one: PairedComparison | None, alpha: float) -> bool:
    """Return whether the other side is shown to be worse than the best; None where nothing is compared."""
    if one is None:
        return False
    if one.exact:
        return one.losses > one.wins or one.size.mean < one.no_effect
    if one.ended < one.n:
        return one.losses > one.wins and one.p_direction < alpha
    return one.is_sized and one.size.mean < one.no_effect and one.p_size < alpha


def comparable(runs: RunSet) -> list[list[PlannedPoint]]:
    """Return the points that share a setting and a baseline, the baseline first, in the order of the sweep."""
    blocks: dict[tuple[object, ...], list[PlannedPoint]] = {}
    compared_with = {point.baseline for point in runs.points}
    for point in runs.points:
        setting = tuple((path, str(value)) for path, value in point.coordinates.items() if is_setting(path))
        against = point.id if point.id in compared_with else point.baseline
        blocks.setdefault((*setting, against), []).append(point)
    return [sorted(points, key=lambda point: point.id not in compared_with) for points in blocks.values()]


def bold_points(runs: RunSet, name: str, known: Judged | None = None) -> frozenset[str]:
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

        def against(best: str, other: str, points: dict[str, PlannedPoint] = points) -> PairedComparison:
            return compared(whole, points[best], points[other], name)

        words = {id: verdicts[name, id].word for id in points if (name, id) in verdicts}
        losers = {id for id, word in words.items() if "worse" in word}
        losers |= {str(points[id].baseline) for id, word in words.items() if "better" in word}
        result |= bold_rows(_estimates(whole, name, block), against, losers)
    return frozenset(result)


def bold_over(runs: RunSet, over: Sequence[OverWorkloads]) -> frozenset[str]:
    """Return the names of the policies that are bold over the workloads of a sweep, under one measure.

    The baseline takes part in the comparison under the name of nothing.
    """
    result: set[str] = set()
    by_id = {point.id: point for point in runs.points}
    groups: dict[tuple[str, ...], dict[str, list[PlannedPoint]]] = {}
    for one in over:
        members = sorted((by_id[id] for id in one.points), key=lambda point: str(point.baseline))
        against = tuple(str(point.baseline) for point in members)
        groups.setdefault(against, {_BASELINE: [by_id[id] for id in against]})[one.name] = members
    for points in groups.values():
        rows = {one.name: one.verdict for one in over if one.name in points}

        def compare_over(
            best: str, other: str, points: dict[str, list[PlannedPoint]] = points
        ) -> PairedComparison | None:
            pairs = zip(points[best], points[other], strict=True)
            members = [compared(runs, *sides, over[0].measure) for sides in pairs]
            return over_workloads(members, planned=planned_seeds(runs, [*points[best], *points[other]]))

        estimates = {_BASELINE: 1.0, **{label: verdict.of.size.mean for label, verdict in rows.items()}}
        losers = {label for label, verdict in rows.items() if "worse" in verdict.word}
        losers |= {_BASELINE for verdict in rows.values() if "better" in verdict.word}
        result |= bold_rows(estimates, compare_over, losers) - {_BASELINE}
    return frozenset(result)


_BASELINE = "\0"
"""Stands for the baseline, which has no name over workloads."""


def _estimates(runs: RunSet, name: str, points: Sequence[PlannedPoint]) -> dict[str, float]:
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
