"""What the front of a study trades, in sentences: its ends against each other on the fresh seeds of the front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.number_text import number
from workbench.statistics.comparisons import Family
from workbench.statistics.quantities import listed
from workbench.tuning.contrasts import Decided, decide
from workbench.tuning.front import Front
from workbench.tuning.objectives import Objective, costs_of


def trades(front: Front) -> list[str]:
    """Return the costs of going from the first objective's end of a front to each other end, one sentence an end.

    Ends are those of the points that are still best on fresh seeds. Of points that are equal in an end's objective the
    one that is best in the other end's is the end, then the first. A change has a figure where a word is earned, by
    Holm's correction over all changes.

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
        return [f"{left} ({front.trials[places[0]].name}), so nothing is traded."]
    differs = [len({front.means[k][j] for k in places}) > 1 for j in range(len(objectives))]
    moving = [j for j, does in enumerate(differs) if does]
    fixed = [(objectives[j].measure.name, front.means[places[0]][j]) for j, does in enumerate(differs) if not does]
    same = [f"{name} is the same at all {len(places)} points ({number(mean)})" for name, mean in fixed]
    if len(moving) < 2:
        return [f"Nothing is traded: {'; '.join(same)}."]
    ends = {j: _ends_of(front, places, moving, j) for j in moving[1:]}
    contrasts = {
        (j, k): front.between(*ends[j], front.objectives[k]) for j in ends if len(set(ends[j])) > 1 for k in moving
    }
    decided = decide(contrasts)
    sentences = [_between(front, ends[j], moving, j, decided) for j in ends]
    return [*sentences, *([f"{'; '.join(same)}, so it is not traded."] if same else [])]


def _ends_of(front: Front, places: Sequence[int], moving: Sequence[int], towards: int) -> tuple[int, int]:
    """Return the end of the first moving objective and that of another."""
    return _end_of_front(front, places, moving[0], towards), _end_of_front(front, places, towards, moving[0])


def _between(
    front: Front, ends: tuple[int, int], moving: Sequence[int], towards: int, decided: Mapping[tuple[int, int], Decided]
) -> str:
    """Return the costs and gains of the way from the end of the first moving objective to that of another."""
    one, other = front.objectives[moving[0]], front.objectives[towards]
    start, end = ends
    names = [front.trials[k].name for k in (start, end)]
    if start == end:
        return f"{names[0].capitalize()} has both {_extreme(one)} and {_extreme(other)}: neither costs the other."
    changes = [decided[towards, j] for j in moving]
    seeds = min(one.verdict.of.n for one in changes)
    needed = Family(changes[0].verdict.comparisons, seeds).seeds_needed
    few = f" (it takes {needed} to be sure)" if seeds < needed else ""
    fresh = f"at {seeds} fresh seed{'s' if seeds != 1 else ''}{few}"
    way = f"From the end with {_extreme(one)} ({names[0]}) to that with {_extreme(other)} ({names[1]})"
    return f"{way}: {gains_and_losses(changes)}, {fresh}."


def gains_and_losses(decided: Sequence[Decided]) -> str:
    """Return the objectives that are better, those that are worse, and those that are not shown, with sizes and
    intervals.

    >>> from workbench.metrics.measure import Measure
    >>> from workbench.statistics import compare
    >>> from workbench.tuning.contrasts import Contrast
    >>> wait = Objective(Measure("wait_cycles", "cycles", "lower", ""), "minimize")
    >>> slower = compare([20, 21, 22, 23, 24, 25, 26], [30, 31, 33, 33, 34, 35, 36])
    >>> gains_and_losses(list(decide({"": Contrast(wait, slower, ())}).values()))
    'loses wait_cycles 10.1 [9.8, 10.5] cycles more (sure)'
    """
    parts = {"gains": (True, False), "loses": (False, True), "trades": (True, True)}
    words = []
    for word, sides in parts.items():
        changes = [
            f"{one.measure.name} {one.size} ({_how(one)})" for one in decided if (one.is_gain, one.is_loss) == sides
        ]
        words += [f"{word} {', '.join(changes)}"] if changes else []
    unclear = [one for one in decided if not one.is_gain and not one.is_loss]
    names = [f"{one.measure.name} ({_how(one)})" for one in unclear]
    return "; ".join([*words, *([f"no shown change of {listed(names)}"] if names else [])])


def _how(one: Decided) -> str:
    """Return the certainty of a change."""
    word = one.verdict.word
    if one.verdict.is_sure:
        return "sure"
    if word == "undecided":
        return one.telling or word
    return word if " " not in word or "," in word else word.partition(" ")[2]


def _end_of_front(front: Front, places: Sequence[int], objective: int, then: int) -> int:
    """Return the point that is best in one objective; of equal ones that which is best in another, then in all."""

    def order(k: int) -> tuple[float, ...]:
        costs = costs_of(front.means[k], front.objectives)
        return costs[objective], costs[then], *costs

    return min(places, key=order)


def _extreme(objective: Objective) -> str:
    return f"the {'least' if objective.direction == 'minimize' else 'most'} {objective.measure.name}"
