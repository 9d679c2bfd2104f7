"""The choices of a mapping: `vary` at any depth becomes every mapping that it stands for (`expand`).

`{vary: [a, b]}` stands for a, then b. Choices multiply (a grid), except those that carry the same `zip` name: they step
together. A choice within a choice belongs to its item alone. The dotted path of each choice is a coordinate of the
point. Points are counted before any is made: of each part, the number of alternatives at each set of steps is kept. So
a thousand choices are counted as fast as one, and only zips cost anything.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, Protocol, TypeVar

from workbench.errors import InputError, at, unknown_name, wrong_value


class Point(NamedTuple):
    """One alternative: what it says, and which choice it made at each path."""

    value: Any
    coordinates: dict[str, Any]
    steps: dict[str, int]
    """The position of each zip name."""


Called = Callable[[Any], str]
"""What paths call a key."""


def expand(node: Any, path: str = "", where: str = "", called: Called = str) -> list[Point]:
    """Return every alternative of a node, the last choice varying fastest.

    >>> [p.value for p in expand({"a": {"vary": [1, 2]}, "b": {"vary": [3, 4]}})]
    [{'a': 1, 'b': 3}, {'a': 1, 'b': 4}, {'a': 2, 'b': 3}, {'a': 2, 'b': 4}]
    >>> [p.value for p in expand({"a": {"vary": [1, 2], "zip": "z"}, "b": {"vary": [3, 4], "zip": "z"}})]
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 4}]
    >>> [p.coordinates for p in expand({"a": [5, {"vary": [1, 2]}]})]
    [{'a[1]': 1}, {'a[1]': 2}]
    """
    if isinstance(node, Mapping) and "vary" in node:
        return list(_varied(node, path, where, called))
    if isinstance(node, Mapping):
        paths = [f"{path}.{called(key)}" if path else called(key) for key in node]
        parts = [expand(value, inside, where, called) for inside, value in zip(paths, node.values())]
        return [_joined(dict(zip(node, _values(chosen))), chosen) for chosen in _zipped(parts, where)]
    if isinstance(node, (list, tuple)):
        parts = [expand(value, f"{path}[{k}]", where, called) for k, value in enumerate(node)]
        return [_joined(_values(chosen), chosen) for chosen in _zipped(parts, where)]
    return [Point(node, {}, {})]


def _varied(node: Mapping[str, Any], path: str, where: str, called: Called) -> Iterator[Point]:
    for key in node:
        if key not in ("vary", "zip"):
            raise unknown_name(at(where, path), "key", key, ("vary", "zip"))
    items = node["vary"]
    if not isinstance(items, (list, tuple)) or not items:
        raise wrong_value(where, f"{path}.vary", "must be a list of at least one choice", items)
    for step, item in enumerate(items):
        for inner in expand(item, path, where, called):
            steps = {**inner.steps, **({str(node["zip"]): step} if "zip" in node else {})}
            yield Point(inner.value, {path: inner.value, **inner.coordinates}, steps)


def _zipped(parts: list[list[Point]], where: str) -> Iterator[tuple[Point, ...]]:
    _refuse_uneven(parts, where)
    return zip_choices(parts)


def _refuse_uneven(parts: list[list[Point]], where: str) -> None:
    lengths: dict[str, int] = {}
    for part in parts:
        for name in {name for point in part for name in point.steps}:
            length = 1 + max(point.steps[name] for point in part if name in point.steps)
            if lengths.setdefault(name, length) != length:
                sentence = f"choices zipped as {name!r} must be equally many. Got {lengths[name]} and {length}."
                raise InputError(at(where, sentence))


def _values(chosen: tuple[Point, ...]) -> list[Any]:
    return [point.value for point in chosen]


def _joined(value: Any, chosen: tuple[Point, ...]) -> Point:
    coordinates = {path: choice for point in chosen for path, choice in point.coordinates.items()}
    steps = {name: step for point in chosen for name, step in point.steps.items()}
    return Point(value, coordinates, steps)


class Stepped(Protocol):
    """A choice that stands at a step of each of its zips."""

    @property
    def steps(self) -> Mapping[str, int]:
        """Return the position of each zip name."""


Choice = TypeVar("Choice", bound=Stepped)


def zip_choices(parts: Sequence[Sequence[Choice]]) -> Iterator[tuple[Choice, ...]]:
    """Return one choice of each part, in every way that agrees; the last part varies fastest.

    Parts are looked up by their steps: thousands of zipped choices take as many looks, not their product.
    """
    combinations: list[tuple[tuple[Choice, ...], dict[str, int]]] = [((), {})]
    for part in parts:
        fitting = _Fitting(part)
        combinations = [
            ((*chosen, choice), {**steps, **choice.steps})
            for chosen, steps in combinations
            for choice in fitting.of(steps)
        ]
    return (chosen for chosen, _ in combinations)


class _Fitting:
    """The choices of a part, to be found by the steps that are taken already."""

    def __init__(self, part: Sequence[Any]) -> None:
        self._kinds: dict[tuple[str, ...], list[tuple[int, Any]]] = {}
        for place, choice in enumerate(part):
            self._kinds.setdefault(tuple(choice.steps), []).append((place, choice))
        self._table = functools.cache(self._indexed)

    def of(self, steps: Mapping[str, int]) -> list[Any]:
        """Return those that agree with some steps, in their order."""
        fitting: list[tuple[int, Any]] = []
        for names in self._kinds:
            shared = tuple(name for name in names if name in steps)
            fitting += self._table(names, shared).get(tuple(steps[name] for name in shared), [])
        return [choice for _, choice in (sorted(fitting, key=_place) if len(self._kinds) > 1 else fitting)]

    def _indexed(self, names: tuple[str, ...], shared: tuple[str, ...]) -> dict[tuple[int, ...], list[tuple[int, Any]]]:
        table: dict[tuple[int, ...], list[tuple[int, Any]]] = {}
        for place, choice in self._kinds[names]:
            table.setdefault(tuple(choice.steps[name] for name in shared), []).append((place, choice))
        return table


def _place(entry: tuple[int, Any]) -> int:
    return entry[0]


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
    """Return the number of points that a mapping stands for, and whether that is exact.

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
            zipped = {str(node["zip"]): step} if "zip" in node else {}
            for steps, count in self.of(item).items():
                tally[frozenset({**dict(steps), **zipped}.items())] += count
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
                tally = _count_zipped(tally, part)
        return Tally({steps: count * factor for steps, count in tally.items()})

    @staticmethod
    def _apart(one: Tally, other: Tally) -> bool:
        """Return whether two tallies have no zip name in common."""
        names = [{name for steps in tally for name, _ in steps} for tally in (one, other)]
        return not (names[0] & names[1])


def _count_zipped(one: Tally, other: Tally) -> Tally:
    parts = [[_Weighted(dict(steps), count) for steps, count in tally.items()] for tally in (one, other)]
    result = Tally()
    for together in zip_choices(parts):
        steps = {name: step for part in together for name, step in part.steps.items()}
        result[frozenset(steps.items())] += prod(part.alternatives for part in together)
    return result
