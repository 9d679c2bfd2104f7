"""When is a trial hopeless? After a few seeds it may be given up, which saves the others.

A trial is hopeless when one trial of the front is better than it in every objective, on every one of the seeds that
both have run so far, each time by more than a margin. Seeds are paired, so no luck of a workload is in that
comparison; and the front is the one at the start of the batch, so neither workers nor an interruption change who is
given up. A trial that is given up has no values: nothing that is reported of the others rests on fewer seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from workbench.errors import wrong_value
from workbench.levers import Spec, lever
from workbench.studies.tuning.objectives import Costs


class Pruning(Spec):
    """When trials are given up."""

    after: int = lever(2, least=1, most=1000, unit="seeds", description="seeds that every trial is run on")
    margin: float = lever(
        0.05,
        least=0,
        most=1000,
        description="by how much a trial of the front must be better, as a share of its own value",
    )


def read_pruning(given: Any, seeds: int, where: str) -> Pruning | None:
    """Read the rule of a study file: `true`, a mapping, or `false` for none.

    Raises
    ------
    InputError
        A lever is unknown, or no seeds would be left to save.
    """
    if given is False or given is None:
        return None
    rule = Pruning.read({} if given is True else given, "pruning", where)
    if rule.after >= seeds:
        raise wrong_value(where, "pruning.after", f"must be less than seeds ({seeds})", rule.after, max(seeds - 1, 1))
    return rule


class Incumbent(NamedTuple):
    """A trial of the front."""

    number: int
    costs: Costs
    """In the mean over all seeds."""
    point: Any


class Incumbents:
    """The front of the trials so far, the first of equals."""

    def __init__(self) -> None:
        self.front: list[Incumbent] = []

    def take(self, number: int, costs: Costs, point: Callable[[], Any]) -> None:
        """Learn of a trial that is over; its point is asked for only where it is on the front."""
        if any(_at_least_as_good(one.costs, costs) for one in self.front):
            return
        self.front = [one for one in self.front if not _at_least_as_good(costs, one.costs)]
        self.front.append(Incumbent(number, costs, point()))


def _at_least_as_good(one: Costs, other: Costs) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def beaten_by(
    front: Iterable[Incumbent],
    costs_of: Callable[[Any], Sequence[Costs]],
    costs: Sequence[Costs],
    margin: float,
) -> int | None:
    """Return the number of the trial of the front that makes another hopeless, None where there is none.

    Parameters
    ----------
    costs_of : callable
        The costs of a point on the seeds so far, one row a seed.
    costs : costs
        The same of the trial that is judged.

    Examples
    --------
    >>> front = [Incumbent(3, (1.5, 2.0), "a")]
    >>> rows = {"a": [(1.0, 2.0), (2.0, 2.0)]}
    >>> beaten_by(front, rows.get, [(1.2, 2.5), (2.3, 2.5)], margin=0.1)
    3
    >>> beaten_by(front, rows.get, [(1.2, 2.5), (2.1, 2.5)], margin=0.1)
    """
    for one in front:
        if all(_clearly_better(a, b, margin) for a, b in zip(costs_of(one.point), costs, strict=True)):
            return one.number
    return None


def _clearly_better(one: Costs, other: Costs, margin: float) -> bool:
    return all(b - a > margin * abs(a) for a, b in zip(one, other, strict=True))
