"""What a front trades, in words: from the point that is best in one objective to those that are best in the others."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.studies.sentences import amount, listed, number, per_cent
from workbench.studies.statistics import PairedComparison
from workbench.studies.tuning.front import Front
from workbench.studies.tuning.objectives import Objective, costs_of

FEWEST = 6
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
    same = [f"{name} is the same at all {len(places)} points ({number(mean, None)})" for name, mean in fixed]
    if len(moving) < 2:
        return [f"Nothing is traded: {'; '.join(same)}."]
    sentences = [_between(front, places, moving, j) for j in moving[1:]]
    return [*sentences, *([f"{'; '.join(same)}, so it is not traded."] if same else [])]


def _between(front: Front, places: Sequence[int], moving: Sequence[int], towards: int) -> str:
    """Return what the way from the end of the first moving objective to that of another costs and brings."""
    one, other = front.objectives[moving[0]], front.objectives[towards]
    start, end = _end(front, places, moving[0], towards), _end(front, places, towards, moving[0])
    names = [f"trial {front.trials[k].number}" for k in (start, end)]
    if start == end:
        return f"{names[0].capitalize()} has both {_extreme(one)} and {_extreme(other)}: neither costs the other."
    pairs = [(front.objectives[j], front.between(start, end, front.objectives[j])) for j in moving]
    seeds = min(paired.n for _, paired in pairs)
    fresh = f"at {seeds} fresh seed{'s' if seeds != 1 else ''}{f' (it takes {FEWEST})' if seeds < FEWEST else ''}"
    way = f"From the end with {_extreme(one)} ({names[0]}) to that with {_extreme(other)} ({names[1]})"
    return f"{way}: {gains_and_losses(pairs)}, {fresh}."


def gains_and_losses(pairs: Sequence[tuple[Objective, PairedComparison]]) -> str:
    """Return what is better of several objectives, what is worse, and what is not clear: medians with 95 % intervals.

    >>> from workbench.metrics.measure import Measure
    >>> from workbench.studies.statistics import compare
    >>> wait = Objective(Measure("wait_cycles", "cycles", "lower", ""), "minimize")
    >>> gains_and_losses([(wait, compare([20, 21, 22, 23, 24, 25], [30, 31, 32, 33, 34, 35]))])
    'loses wait_cycles 10 [10, 10] cycles more (44 %)'
    """
    gains = [_change(*one) for one in pairs if one[1].interval.above(0)]
    losses = [_change(*one) for one in pairs if one[1].interval.below(0)]
    unclear = [one.measure.name for one, paired in pairs if not (paired.interval.above(0) or paired.interval.below(0))]
    parts = [f"gains {', '.join(gains)}" if gains else "", f"loses {', '.join(losses)}" if losses else ""]
    return "; ".join(filter(None, [*parts, f"no clear change of {listed(unclear)}" if unclear else ""]))


def _change(objective: Objective, paired: PairedComparison) -> str:
    """Return the median difference of an objective with its interval, and as a share where there is one."""
    measure = objective.measure._replace(better=objective.better)
    share = f" ({per_cent(paired.saving.mean)})" if math.isfinite(paired.saving.mean) else ""
    return f"{measure.name} {amount(*paired.interval[:3], measure)}{share}"


def _end(front: Front, places: Sequence[int], objective: int, then: int) -> int:
    """Return the point that is best in one objective; of equal ones that which is best in another, then in all."""

    def order(k: int) -> tuple[float, ...]:
        costs = costs_of(front.means[k], front.objectives)
        return costs[objective], costs[then], *costs

    return min(places, key=order)


def _extreme(objective: Objective) -> str:
    return f"the {'least' if objective.direction == 'minimize' else 'most'} {objective.measure.name}"
