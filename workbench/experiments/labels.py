"""Labels of points: two policies of one name, alike but for their code, are told apart in tables."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.experiments.planned_point import PlannedPoint
from workbench.experiments.run_id import digest

_DIGITS = 4


def told_apart(points: Iterable[PlannedPoint]) -> list[PlannedPoint]:
    """Return the points; where two that differ in the user's code show the same, each shows digits of its code too.

    So `make(0)` and `make(60)`, two classes `Mine`, are `mine#1f0c` and `mine#83ab`, in every session.
    """
    known = list(points)
    alike: dict[str, list[int]] = {}
    for place, point in enumerate(known):
        if point.setup.code:
            alike.setdefault(repr(list(point.coordinates.items())), []).append(place)
    for places in alike.values():
        if len({_code(known[place]) for place in places}) > 1:
            for place in places:
                known[place] = _marked(known[place])
    return known


def _code(point: PlannedPoint) -> str:
    return digest(" ".join(digest for _, digest in point.setup.code))


def _marked(point: PlannedPoint) -> PlannedPoint:
    policies = [path for path in point.coordinates if path.startswith("policy.")] or list(point.coordinates)
    if not policies:
        return point
    text = f"{point.coordinates[policies[0]]}#{_code(point)[:_DIGITS]}"
    return point._replace(coordinates={**point.coordinates, policies[0]: text})
