"""Which points belong together? A way to run is everything but the ranges: a policy, a workload by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from workbench.experiments.choices import Point, expand
from workbench.experiments.designs import Axis, Drawn, with_choices
from workbench.experiments.designs.draw import ZIP
from workbench.experiments.plan import read_setup
from workbench.experiments.row import canonical, point_id
from workbench.experiments.saved_results import named
from workbench.experiments.sweep import Sweep


class Way(NamedTuple):
    """The points of one way to run, in the order of the design."""

    name: str
    """The choices that are no ranges; empty where there is one way alone."""
    axes: tuple[int, ...]
    """The places, among those of the design, of the ranges that this way has."""
    points: list[str]
    """The id of the point of each row of the design; equal rows have the same."""


def ways(sweep: Sweep, drawn: Drawn) -> list[Way]:
    """Return every way to run that has a range, in the order of the sweep."""
    result: dict[str, tuple[dict[str, Any], set[str], dict[int, str]]] = {}
    paths = {axis.path for axis in drawn.axes}
    for alternative in expand(with_choices(sweep), "", sweep.where):
        if ZIP in alternative.steps:
            chosen = _chosen(alternative, paths)
            _, ranged, ids = result.setdefault(canonical(chosen), (chosen, set(), {}))
            ranged |= paths & alternative.coordinates.keys()
            setup = read_setup(sweep, alternative.value)
            ids[alternative.steps[ZIP]] = point_id(setup.identity(), sweep.mechanism.revision)
    place = {repr(row): k for k, row in enumerate(drawn.different)}
    rows = [place[repr(row)] for row in drawn.rows]
    return [
        Way(_name(chosen), _places(drawn.axes, ranged), [ids[k] for k in rows])
        for chosen, ranged, ids in result.values()
    ]


def _places(axes: tuple[Axis, ...], ranged: set[str]) -> tuple[int, ...]:
    return tuple(k for k, axis in enumerate(axes) if axis.path in ranged)


def _chosen(alternative: Point, ranges: set[str]) -> dict[str, Any]:
    """Return what was chosen but not drawn, by path, the values of ranges within it left out."""
    others = {path: value for path, value in alternative.coordinates.items() if path not in ranges}
    return {path: _without(named(value), path, ranges) for path, value in others.items()}


def _without(node: Any, path: str, ranges: set[str]) -> Any:
    if isinstance(node, Mapping):
        kept = {key: value for key, value in node.items() if f"{path}.{key}" not in ranges}
        return {key: _without(value, f"{path}.{key}", ranges) for key, value in kept.items()}
    if isinstance(node, list):
        kept_at = [(k, value) for k, value in enumerate(node) if f"{path}[{k}]" not in ranges]
        return [_without(value, f"{path}[{k}]", ranges) for k, value in kept_at]
    return node


def _name(chosen: Mapping[str, Any]) -> str:
    """Return the outermost choices as a legend says them."""
    outermost = [p for p in chosen if not any(p != q and p.startswith((f"{q}.", f"{q}[")) for q in chosen)]
    return ", ".join(_told(path, chosen[path]) for path in outermost)


def _told(path: str, value: Any) -> str:
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, inside),) = value.items()
        return f"{name}({_inside(inside)})" if inside else str(name)
    if isinstance(value, str):
        return value
    last = path.rsplit(".", 1)[-1].replace("_", " ")
    return f"{last} {_inside(value)}"


def _inside(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={_inside(inner)}" for key, inner in value.items())
    return ", ".join(map(_inside, value)) if isinstance(value, list) else str(value)
