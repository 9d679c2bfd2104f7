"""The coordinates of a point as tables show them: one value for each varied path.

Two policies of one name, alike but for their code, are told apart by a digest of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workbench.digests import digest
from workbench.engines.kit.engine import Setup
from workbench.levers import Spec
from workbench.machine.presets import is_preset_file
from workbench.runs.run import PlannedPoint


def display_values(coordinates: Mapping[str, Any], setup: Setup) -> dict[str, Any]:
    """Return what tables show of the coordinates of a point."""
    inner = [path.rsplit(".", 1)[-1] for path in coordinates]
    return {path: _display_value(path, value, setup, inner) for path, value in coordinates.items()}


def _display_value(path: str, value: Any, setup: Setup, inner: list[str]) -> Any:
    parts = path.split(".")
    if parts[0] == "policy" and len(parts) == 2:
        return setup.policies[parts[1]].short(always=inner)
    if parts[0] == "machine" and is_preset_file(value):
        return _file_name(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Spec):
        return value.short()
    if isinstance(value, Mapping) and parts in (["workload"], ["machine"]):
        value = {
            key: _file_name(inner) if key in ("file", "trace", "topology", "preset") else inner
            for key, inner in value.items()
        }
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, inside),) = value.items()
        return f"{name}({_inside(inside)})" if inside else str(name)
    return _inside(value) if isinstance(value, (Mapping, list)) else value


def _file_name(given: Any) -> Any:
    """Return a file's name alone: where it lies says nothing about what was run."""
    return Path(given).name if isinstance(given, str) else given


def _inside(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={_inside(v)}" for k, v in value.items())
    return ", ".join(_inside(v) for v in value) if isinstance(value, list) else str(value)


_DIGITS = 4


def distinguished(points: Iterable[PlannedPoint]) -> list[PlannedPoint]:
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
