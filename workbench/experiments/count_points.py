"""How many points does a mapping with choices stand for? Counted before any is made, as `expand` makes them.

Choices multiply; those of one zip name step together. What is kept of a part is how many of its alternatives stand at
each set of steps, so that a thousand choices are counted as fast as one, and only zips cost anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import prod
from typing import Any, NamedTuple

from workbench.errors import InputError, at
from workbench.experiments.agreeing import agreeing

Tally = Counter[frozenset[tuple[str, int]]]
"""How many alternatives stand at each set of (zip name, step)."""


class _Weighted(NamedTuple):
    """Alternatives that stand at the same steps."""

    steps: dict[str, int]
    alternatives: int


def refuse_too_many(node: Any, most: int, where: str = "") -> None:
    """Refuse a mapping that stands for more points than there may be.

    Raises
    ------
    InputError
        It does; the sentence says how many.

    Examples
    --------
    >>> refuse_too_many({key: {"vary": [0] * 1000} for key in "abc"}, 100_000)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.errors.InputError: its choices multiply to 1,000,000,000 points, more than most_points (100,000); ...
    """
    count, exact = count_points(node, most)
    if count > most:
        about = "" if exact else "at least "
        cure = "vary less at once, zip what belongs together, draw points by a `design`, or say `most_points`"
        sentence = f"its choices multiply to {about}{count:,} points, more than most_points ({most:,}); {cure}."
        raise InputError(at(where, sentence))


def count_points(node: Any, most: int) -> tuple[int, bool]:
    """Return how many points a mapping stands for, and whether that is exact.

    Parameters
    ----------
    most : int
        The number that matters: beyond it unrelated zips are not counted to their end.

    Examples
    --------
    >>> count_points({"a": {"vary": [1, 2]}, "b": {"vary": [1, 2, {"vary": [3, 4]}]}}, 100)
    (8, True)
    """
    counting = _Counting(most)
    return counting.of(node).total(), not counting.at_least


class _Counting:
    """Counts alternatives; where unrelated zips alone make more points than there may be, that many are enough."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.at_least = False
        """Whether there are more still."""

    def of(self, node: Any) -> Tally:
        """Return the tally of a node; one that no `expand` would take counts as one, and is refused there."""
        if isinstance(node, Mapping) and "vary" in node:
            return self._varied(node)
        if isinstance(node, Mapping):
            return self._joined(node.values())
        if isinstance(node, (list, tuple)):
            return self._joined(node)
        return Tally({frozenset(): 1})

    def _varied(self, node: Mapping[str, Any]) -> Tally:
        tally, items = Tally(), node["vary"]
        for step, item in enumerate(items if isinstance(items, (list, tuple)) else ()):
            own = {str(node["zip"]): step} if "zip" in node else {}
            for steps, count in self.of(item).items():
                tally[frozenset({**dict(steps), **own}.items())] += count
        return tally or Tally({frozenset(): 1})

    def _joined(self, nodes: Iterable[Any]) -> Tally:
        tally, factor = Tally({frozenset(): 1}), 1
        for part in map(self.of, nodes):
            if set(part) == {frozenset()}:
                factor *= part[frozenset()]
            elif self._apart(tally, part) and len(tally) * len(part) > self._most:
                self.at_least = True
                return Tally({frozenset(): factor * tally.total() * part.total()})
            else:
                tally = _agreeing(tally, part)
        return Tally({steps: count * factor for steps, count in tally.items()})

    @staticmethod
    def _apart(one: Tally, other: Tally) -> bool:
        """Return whether two tallies have no zip name in common."""
        names = [{name for steps in tally for name, _ in steps} for tally in (one, other)]
        return not (names[0] & names[1])


def _agreeing(one: Tally, other: Tally) -> Tally:
    parts = [[_Weighted(dict(steps), count) for steps, count in tally.items()] for tally in (one, other)]
    result = Tally()
    for chosen in agreeing(parts):
        steps = {name: step for part in chosen for name, step in part.steps.items()}
        result[frozenset(steps.items())] += prod(part.alternatives for part in chosen)
    return result
