"""Which choices of several parts go together? Those that stand at the same step of every zip that they share."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar


class Stepped(Protocol):
    """A choice that stands at a step of each of its zips."""

    @property
    def steps(self) -> Mapping[str, int]:
        """Return the position of each zip name."""


Choice = TypeVar("Choice", bound=Stepped)


def agreeing(parts: Sequence[Sequence[Choice]]) -> Iterator[tuple[Choice, ...]]:
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
