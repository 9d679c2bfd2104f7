"""What the front of a study trades, and which of its points is the one to take, in sentences.

Both compare points seed by seed: `trades` on the fresh seeds of the front, `recommended_point` on those of the report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from workbench.experiments.run_set import RunSet
from workbench.number_text import number, per_cent, probability
from workbench.statistics import PairedComparison, holm
from workbench.statistics.comparisons import Family
from workbench.statistics.floors import ALPHA
from workbench.statistics.quantities import amount, listed
from workbench.tuning.front import Front
from workbench.tuning.objectives import Objective, costs_of

FEWEST_PAIRS = 6
"""Pairs below which no difference is clear: of five that all have one sign the two-sided p is 2 / 2^5, above 0.05."""


def trades(front: Front) -> list[str]:
    """Return what it costs to go from the first objective's end of a front to each other end, one sentence an end.

    Ends are those of the points that are still best on fresh seeds. Of points that are equal in an end's objective the
    one that is best in the other end's is the end, then the first. A change is the median paired difference between the
    two points, over the seeds on which both have a value; where its interval holds zero no figure is given.

    Returns
    -------
    list of str
        None with one objective. One that says so where nothing is traded: there is one such point, or fewer than two
        objectives differ over them. Objectives that are the same at all of them are named last.
    """
    objectives, places = front.objectives, [k for k, is_best in enumerate(front.best) if is_best]
    if len(objectives) < 2:
        return []
    if not places:
        return ["No point of the front keeps its place on fresh seeds, so what it trades is unknown."]
    if len(places) == 1:
        left = "The front is one point" if len(front) == 1 else "On fresh seeds one point is left of the front"
        return [f"{left} (trial {front.trials[places[0]].number}), so nothing is traded."]
    differs = [len({front.means[k][j] for k in places}) > 1 for j in range(len(objectives))]
    moving = [j for j, does in enumerate(differs) if does]
    fixed = [(objectives[j].measure.name, front.means[places[0]][j]) for j, does in enumerate(differs) if not does]
    same = [f"{name} is the same at all {len(places)} points ({number(mean)})" for name, mean in fixed]
    if len(moving) < 2:
        return [f"Nothing is traded: {'; '.join(same)}."]
    sentences = [_between(front, places, moving, j) for j in moving[1:]]
    return [*sentences, *([f"{'; '.join(same)}, so it is not traded."] if same else [])]


def _between(front: Front, places: Sequence[int], moving: Sequence[int], towards: int) -> str:
    """Return what the way from the end of the first moving objective to that of another costs and brings."""
    one, other = front.objectives[moving[0]], front.objectives[towards]
    start, end = _end_of_front(front, places, moving[0], towards), _end_of_front(front, places, towards, moving[0])
    names = [f"trial {front.trials[k].number}" for k in (start, end)]
    if start == end:
        return f"{names[0].capitalize()} has both {_extreme(one)} and {_extreme(other)}: neither costs the other."
    pairs = [(front.objectives[j], front.between(start, end, front.objectives[j])) for j in moving]
    seeds = min(paired.n for _, paired in pairs)
    few = f" (it takes {FEWEST_PAIRS})" if seeds < FEWEST_PAIRS else ""
    fresh = f"at {seeds} fresh seed{'s' if seeds != 1 else ''}{few}"
    way = f"From the end with {_extreme(one)} ({names[0]}) to that with {_extreme(other)} ({names[1]})"
    return f"{way}: {gains_and_losses(pairs)}, {fresh}."


def recommended_point(front: Front, report: RunSet | None) -> list[str]:
    """Return which point of a front is the one to take, and what it gains and loses on seeds that it was not chosen on.

    It is the baseline where no objective is clearly better than its, after Holm's correction over the objectives, or
    where a constraint is broken there; where some are better and some worse, that is said and the reader chooses.

    Parameters
    ----------
    report : RunSet, optional
        The chosen point beside its baseline on further seeds; None where there is no such comparison.
    """
    point, trial = front.points[front.chosen], front.trials[front.chosen].number
    named, baseline = f"trial {trial}, {front.name(point)}", front.baseline_of(point)
    if baseline is None:
        return [f"the one to take: {named}; the study names no baseline to compare it with"]
    other = f"the baseline, {front.name(baseline)}"
    if baseline.id == point.id:
        return [f"the one to take: {other}, which is trial {trial} of the front"]
    if report is None:
        return [f"the one to take: {named}; nothing says how it does on runs that it was not chosen on"]
    compared = [
        (one, paired) for one in front.objectives if (paired := front.comparison(point, one, report)) and paired.n
    ]
    if not compared:
        return [f"the one to take: {other}; the runs of {named} failed on the seeds of the report"]
    p_values = holm({one.measure.name: paired.p_value for one, paired in compared})
    gains = [paired.interval.mean > 0 for one, paired in compared if p_values[one.measure.name] < ALPHA]
    broken = front.broken(point, report)
    if broken or not any(gains):
        first = f"{other}: {named} is the best of the front and does not beat it"
    else:
        first = named if all(gains) else f"{named}, if its gains are worth its losses; else {other}"
    seeds = min(paired.n for _, paired in compared)
    where = f"at {seeds} seed{'s' * (seeds != 1)} that neither tuning nor choosing saw"
    words = f"trial {trial} against the baseline {where}: {gains_and_losses(compared, p_values)}"
    few = Family(len(compared), seeds).note if seeds > 1 else ""
    return list(
        filter(None, [f"the one to take: {first}", "; breaks ".join(filter(None, [words, listed(broken)])), few])
    )


def gains_and_losses(
    pairs: Sequence[tuple[Objective, PairedComparison]], p_values: Mapping[str, float] | None = None
) -> str:
    """Return what is better of several objectives, what is worse, and what is not clear: medians with 95 % intervals.

    Clear is what has an interval without 0, or where corrected p-values are given by objective, one below 5 %.

    >>> from workbench.metrics.measure import Measure
    >>> from workbench.statistics import compare
    >>> wait = Objective(Measure("wait_cycles", "cycles", "lower", ""), "minimize")
    >>> gains_and_losses([(wait, compare([20, 21, 22, 23, 24, 25], [30, 31, 32, 33, 34, 35]))])
    'loses wait_cycles 10 [10, 10] cycles more (44 %)'
    """
    alone = {one.measure.name: paired.p_value for one, paired in pairs}
    clear = {name for name, p in (p_values or alone).items() if p < ALPHA}
    changes: dict[bool, list[str]] = {True: [], False: []}
    for one, paired in pairs:
        if one.measure.name in clear:
            p = "" if p_values is None else f", p {probability(p_values[one.measure.name])}"
            changes[paired.interval.mean > 0].append(f"{_change(one, paired)}{p}")
    unclear = [one.measure.name for one, _ in pairs if one.measure.name not in clear]
    parts = [
        f"{word} {', '.join(changes[side])}" for side, word in ((True, "gains"), (False, "loses")) if changes[side]
    ]
    return "; ".join([*parts, *([f"no clear change of {listed(unclear)}"] if unclear else [])])


def _change(objective: Objective, paired: PairedComparison) -> str:
    """Return the median difference of an objective with its interval, and as a share where there is one."""
    measure = objective.measure._replace(better=objective.better)
    share = f" ({per_cent(paired.saving.mean)})" if math.isfinite(paired.saving.mean) else ""
    return f"{measure.name} {amount(*paired.interval[:3], measure)}{share}"


def _end_of_front(front: Front, places: Sequence[int], objective: int, then: int) -> int:
    """Return the point that is best in one objective; of equal ones that which is best in another, then in all."""

    def order(k: int) -> tuple[float, ...]:
        costs = costs_of(front.means[k], front.objectives)
        return costs[objective], costs[then], *costs

    return min(places, key=order)


def _extreme(objective: Objective) -> str:
    return f"the {'least' if objective.direction == 'minimize' else 'most'} {objective.measure.name}"
