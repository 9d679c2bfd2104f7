"""From a sweep with ranges to a sweep with lists: the design is drawn, and its values step together.

Which lever stands at a place of a sweep is found by walking down the declarations, before anything can be read. A
sweep with ranges in it is no setup yet, so the walk goes over what the sweep says and asks at each key what it leads
to: a policy, a law, a lever. Where that is not known (a misspelt name, a choice of names) it ends with None, and what
is wrong there is said by those who read the setup.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.engines.kit.engine import Engine
from workbench.errors import InputError, at
from workbench.experiments.coordinates import FileNames
from workbench.experiments.designs.design import Design
from workbench.experiments.designs.ranges import Axis, is_range, read_range
from workbench.experiments.sweep import VARIED, Sweep
from workbench.levers import Family, Kind, Lever, Spec
from workbench.parts import is_in_file
from workbench.policies.catalogue import policy_in_file
from workbench.policies.policy import Policy, policies
from workbench.workloads.generators import generator_in_file, regimes
from workbench.workloads.workload import Generator
from workbench.workloads.workload_key import of_file, outside

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
        many, different = len(self.rows), len(self.different)
        some = "" if many == different else f", {different} of them different,"
        return f"{self.design.short()}: {many} points{some} over {'; '.join(axis.says() for axis in self.axes)}"

    def plain(self) -> dict[str, Any]:
        """Return the same in plain types."""
        ranges = [{"path": axis.path, "says": axis.says()} for axis in self.axes]
        points = {"points": len(self.rows), "different": len(self.different)}
        return {self.design.name: self.design.plain(), **points, "ranges": ranges}


def draw(sweep: Sweep) -> Drawn | None:
    """Return the points that the design of a sweep draws of its ranges; None where there is neither.

    Raises
    ------
    InputError
        A range or the design is not valid, or there is one without the other.
    """
    _, axes = _axes_of(sweep)
    return _drawn(sweep, axes)


def with_choices(sweep: Sweep) -> dict[str, Any]:
    """Return the keys of a sweep that may vary, with a list of choices in place of every range.

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
    given = sweep.config.get("design")
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
    config = {key: sweep.config.get(key, {}) for key in VARIED}
    read = functools.partial(_read, axes, sweep.where, sweep.folder, FileNames(config, sweep.folder))
    return read(config, places_of(sweep.mechanism.engine, sweep.folder), ""), axes


def _read(axes: list[Axis], where: str, folder: Path, names: FileNames, node: Any, place: Place, path: str) -> Any:
    read = functools.partial(_read, axes, where, folder, names)
    if isinstance(node, Mapping) and "vary" in node:
        if is_range(node["vary"]):
            return _range(axes, node, place, path, where)
        if isinstance(node["vary"], (list, tuple)):
            return {**node, "vary": [read(item, place, path) for item in node["vary"]]}
        return node
    if isinstance(node, Mapping):
        return {
            key: read(value, inside(place, node, key, folder), f"{path}.{names(key)}" if path else names(key))
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


class Question(NamedTuple):
    """One policy by name."""

    name: str
    folder: Path
    """What the paths of policies in files start from."""


class Asked(NamedTuple):
    """A workload; what the engine wants of it."""

    wants: str
    folder: Path
    """What the paths of generators in files start from."""


class Listed(NamedTuple):
    """A list whose entries are all of one kind."""

    entry: Place


class Choices(NamedTuple):
    """A mapping whose keys are known by name: the slots of an engine."""

    parts: Mapping[str, Place]


Place = Lever | type[Spec] | Question | Choices | Listed | Asked | None


def places_of(engine: Engine, folder: Path) -> Choices:
    """Return the values at the keys of a sweep, to begin with."""
    slots = {slot: Question(engine.question_of(slot), folder) for slot in engine.slots}
    return Choices(
        {
            "machine": engine.machine,
            "workload": Asked(engine.workload_kind, folder),
            "policy": Choices(slots),
            "options": engine.options,
        }
    )


def inside(place: Place, node: Any, key: Any, folder: Path = Path()) -> Place:
    """Return the value at a key (or an entry) of a node that stands at a place.

    >>> from workbench.machine import Machine
    >>> engine_slots = Choices({"machine": Machine})
    >>> inside(inside(engine_slots, {}, "machine"), {}, "segments").most
    4096
    """
    if isinstance(place, Choices):
        return place.parts.get(key)
    if isinstance(place, Listed):
        return place.entry if isinstance(key, int) else None
    if isinstance(place, Question):
        return _policy(place, key)
    if isinstance(place, Asked):
        return _workload(place, node, key)
    return _of_spec(place, node, key, folder) if isinstance(place, type) else None


def lever_at(place: Place) -> Lever | None:
    """Return the lever that a value alone, or a range in its place, stands for."""
    if isinstance(place, Lever):
        return place
    if isinstance(place, type) and issubclass(place, Family):
        if place.name not in place.members:
            return lever_at(place.members[place.bare]) if place.bare else None
        return place.levers[place.brief[0]] if len(place.brief) == 1 else None
    return None


def _policy(question: Question, name: Any) -> Place:
    if isinstance(name, str) and is_in_file(name):
        return policy_in_file(name, question.folder, "")
    return policies(question.name).get(name)


def _workload(request: Asked, node: Any, key: Any) -> Place:
    """Return a lever of the workload that the other keys name; or the workload as it writes itself."""
    if key in Generator.members and len(node) == 1:
        generator: type[Spec] = Generator.members[key]
        return generator
    cls = _workload_class(request, node)
    return None if cls is None else _of_spec(cls, node, key, Path())


def _workload_class(request: Asked, node: Any) -> type[Spec] | None:
    if "synthetic" in node:
        name = node["synthetic"]
        if is_in_file(name):
            return generator_in_file(name, request.folder, "")
        return Generator.members.get(name) if isinstance(name, str) else None
    if "regime" in node:
        known = regimes(request.wants).get(node["regime"]) if isinstance(node["regime"], str) else None
        return None if known is None else type(known.workload)
    if "file" in node:
        name = node["file"]
        return of_file(str(Path(request.folder, name)) if isinstance(name, str) else name, request.wants)
    return outside("trace", request.wants) if "trace" in node else None


def _of_spec(cls: type[Spec], node: Any, key: Any, folder: Path) -> Place:
    if issubclass(cls, Family) and cls.noun and cls.name not in cls.members:
        member: type[Spec] | None = cls.members.get(key)
        return member
    if isinstance(node, (list, tuple)):
        brief = getattr(cls, "brief", ())
        key = brief[key] if isinstance(key, int) and key < len(brief) else None
    if key in cls.levers:
        return _of_lever(cls.levers[key], folder)
    return cls if key == cls.name else None


def _of_lever(lever: Lever, folder: Path) -> Place:
    if lever.kind in ("spec", "specs"):
        assert lever.spec is not None
        held = Question(lever.spec.question, folder) if issubclass(lever.spec, Policy) else lever.spec
        return Listed(held) if lever.kind == "specs" else held
    if lever.kind in ("integers", "numbers"):
        return Listed(_entry(lever))
    return lever


def _entry(lever: Lever) -> Lever:
    kind: Kind = "integer" if lever.kind == "integers" else "number"
    return Lever(lever.name, kind, lever.least, lever.least, lever.most, lever.step, lever.scale, lever.unit)
