"""`vary` at any depth: one mapping with choices in it becomes every mapping that it stands for.

`{vary: [a, b]}` stands for a, then b. Choices multiply (a grid), except those that carry the same `zip` name: they
step together. A choice within a choice belongs to its item alone. The dotted path of each choice is a coordinate of
the point.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.experiments.agreeing import agreeing


class Point(NamedTuple):
    """One alternative: what it says, and which choice it made at each path."""

    value: Any
    coordinates: dict[str, Any]
    steps: dict[str, int]
    """The position of each zip name."""


def expand(node: Any, path: str = "", where: str = "") -> list[Point]:
    """Return every alternative of a node, the last choice varying fastest.

    >>> [p.value for p in expand({"a": {"vary": [1, 2]}, "b": {"vary": [3, 4]}})]
    [{'a': 1, 'b': 3}, {'a': 1, 'b': 4}, {'a': 2, 'b': 3}, {'a': 2, 'b': 4}]
    >>> [p.value for p in expand({"a": {"vary": [1, 2], "zip": "z"}, "b": {"vary": [3, 4], "zip": "z"}})]
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 4}]
    >>> [p.coordinates for p in expand({"a": [5, {"vary": [1, 2]}]})]
    [{'a[1]': 1}, {'a[1]': 2}]
    """
    if isinstance(node, Mapping) and "vary" in node:
        return list(_varied(node, path, where))
    if isinstance(node, Mapping):
        parts = [expand(value, f"{path}.{key}" if path else str(key), where) for key, value in node.items()]
        return [_joined(dict(zip(node, _values(chosen))), chosen) for chosen in _agreeing(parts, where)]
    if isinstance(node, (list, tuple)):
        parts = [expand(value, f"{path}[{k}]", where) for k, value in enumerate(node)]
        return [_joined(_values(chosen), chosen) for chosen in _agreeing(parts, where)]
    return [Point(node, {}, {})]


def _varied(node: Mapping[str, Any], path: str, where: str) -> Iterator[Point]:
    for key in node:
        if key not in ("vary", "zip"):
            raise unknown_name(at(where, path), "key", key, ("vary", "zip"))
    items = node["vary"]
    if not isinstance(items, (list, tuple)) or not items:
        raise wrong_value(where, f"{path}.vary", "must be a list of at least one choice", items)
    for step, item in enumerate(items):
        for inner in expand(item, path, where):
            steps = {**inner.steps, **({str(node["zip"]): step} if "zip" in node else {})}
            yield Point(inner.value, {path: inner.value, **inner.coordinates}, steps)


def _agreeing(parts: list[list[Point]], where: str) -> Iterator[tuple[Point, ...]]:
    _refuse_uneven(parts, where)
    return agreeing(parts)


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
