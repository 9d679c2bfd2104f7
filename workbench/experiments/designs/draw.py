"""From a sweep with ranges to a sweep with lists: the design is drawn, and its values step together."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, at
from workbench.experiments.designs.axis import Axis
from workbench.experiments.designs.design import Design
from workbench.experiments.designs.places import Place, inside, lever_at, places_of
from workbench.experiments.designs.ranges import is_range, read_range
from workbench.experiments.sweep import VARIED, Sweep

ZIP = "the design"
"""What the lists of a design are zipped by."""
_EXAMPLE = "design: {latin_hypercube: {points: 64, seed: 1}}"


class Drawn(NamedTuple):
    """What a design draws."""

    design: Design
    axes: tuple[Axis, ...]
    """In the order of the sweep."""
    rows: list[tuple[Any, ...]]
    """One a point, as the design orders them; some may be equal."""

    @property
    def different(self) -> list[tuple[Any, ...]]:
        """Return the rows without repetitions, in the order in which they first come."""
        return list({repr(row): row for row in self.rows}.values())

    def says(self) -> str:
        """Return the design in a sentence."""
        points = f"{len(self.rows)} points" if len(self.rows) == len(self.different) else self._repeated()
        return f"{self.design.short()}: {points} over {'; '.join(axis.says() for axis in self.axes)}"

    def plain(self) -> dict[str, Any]:
        """Return the same in plain types."""
        ranges = [{"path": axis.path, "says": axis.says()} for axis in self.axes]
        points = {"points": len(self.rows), "different": len(self.different)}
        return {self.design.name: self.design.plain(), **points, "ranges": ranges}

    def _repeated(self) -> str:
        return f"{len(self.rows)} points, {len(self.different)} of them different,"


def draw(sweep: Sweep) -> Drawn | None:
    """Return what the design of a sweep draws of its ranges; None where there is neither.

    Raises
    ------
    InputError
        A range or the design is not valid, or there is one without the other.
    """
    _, axes = _axes_of(sweep)
    return _drawn(sweep, axes)


def with_choices(sweep: Sweep) -> dict[str, Any]:
    """Return what a sweep says under the keys that may vary, with a list of choices in place of every range.

    The lists of the design step together. A range with a `count` is a list by itself, and multiplies like one. Nothing
    else is changed.

    Raises
    ------
    InputError
        As `draw`.
    """
    tree, axes = _axes_of(sweep)
    drawn = _drawn(sweep, axes)
    if drawn is None:
        return dict(tree)
    columns = iter(zip(*drawn.different))
    return dict(_filled(tree, columns))


def _drawn(sweep: Sweep, axes: list[Axis]) -> Drawn | None:
    given = sweep.said.get("design")
    if given is None:
        if axes:
            cure = f"say which points are drawn, such as {_EXAMPLE}, or how many values it has, vary: {{count: 5}}"
            raise InputError(at(sweep.where, f"{axes[0].path} varies over a range without a design; {cure}."))
        return None
    design = Design.read(given, "design", sweep.where)
    if not axes:
        cure = "write vary: {from: , to: } at a lever, or leave the design out"
        raise InputError(at(sweep.where, f"design has no range to draw from; {cure}."))
    try:
        return Drawn(design, tuple(axes), design.rows(axes))
    except ValueError as wrong:
        raise InputError(at(sweep.where, f"design {design.short()} cannot be drawn: {wrong}.")) from None


def _axes_of(sweep: Sweep) -> tuple[Any, list[Axis]]:
    """Return the tree with an axis in place of every range that the design draws, and these in order."""
    axes: list[Axis] = []
    read = functools.partial(_read, axes, sweep.where, sweep.folder)
    config = {key: sweep.said.get(key, {}) for key in VARIED}
    return read(config, places_of(sweep.mechanism.engine, sweep.folder), ""), axes


def _read(axes: list[Axis], where: str, folder: Path, node: Any, place: Place, path: str) -> Any:
    read = functools.partial(_read, axes, where, folder)
    if isinstance(node, Mapping) and "vary" in node:
        if is_range(node["vary"]):
            return _range(axes, node, place, path, where)
        if isinstance(node["vary"], (list, tuple)):
            return {**node, "vary": [read(item, place, path) for item in node["vary"]]}
        return node
    if isinstance(node, Mapping):
        return {
            key: read(value, inside(place, node, key, folder), f"{path}.{key}" if path else str(key))
            for key, value in node.items()
        }
    if isinstance(node, (list, tuple)):
        return [read(value, inside(place, node, k, folder), f"{path}[{k}]") for k, value in enumerate(node)]
    return node


def _range(axes: list[Axis], node: Mapping[str, Any], place: Place, path: str, where: str) -> Any:
    if len(node) > 1:
        other = next(key for key in node if key != "vary")
        raise InputError(at(where, f"{path} varies over a range, which takes no {other}: its design steps by itself."))
    axis = read_range(lever_at(place), node["vary"], path, where)
    if axis.points is not None:
        return {"vary": axis.spaced(axis.points)}
    axes.append(axis)
    return axis


def _filled(node: Any, columns: Iterator[tuple[Any, ...]]) -> Any:
    """Return the tree with the values of each axis, in the order in which they were found."""
    if isinstance(node, Axis):
        return {"vary": list(next(columns)), "zip": ZIP}
    if isinstance(node, Mapping):
        return {key: _filled(value, columns) for key, value in node.items()}
    return [_filled(value, columns) for value in node] if isinstance(node, list) else node
