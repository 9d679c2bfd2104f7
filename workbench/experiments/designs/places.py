"""Which lever stands at a place of a sweep? Found by walking down the declarations, before anything can be read.

A sweep with ranges in it is no setup yet, so the walk goes over what the sweep says and asks at each key what it leads
to: a policy, a law, a lever. Where that is not known (a misspelt name, a choice of names) it ends with None, and what
is wrong there is said by those who read the setup.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.engines.engine import Engine
from workbench.levers import Family, Kind, Lever, Spec
from workbench.policies.catalogue import is_in_file, policy_in_file
from workbench.policies.policy import Policy, policies
from workbench.workloads.outside import of_file, outside
from workbench.workloads.synthetic.generators import Generator, generator_in_file
from workbench.workloads.synthetic.regimes import regimes


class Question(NamedTuple):
    """One policy by name."""

    name: str
    folder: Path
    """What the paths of policies in files start from."""


class Choices(NamedTuple):
    """A mapping whose keys are known by name: the slots of an engine."""

    parts: Mapping[str, Place]


class Listed(NamedTuple):
    """A list whose entries are all of one kind."""

    entry: Place


class Asked(NamedTuple):
    """A workload; what the engine wants of it."""

    wants: str
    folder: Path
    """What the paths of generators in files start from."""


Place = Lever | type[Spec] | Question | Choices | Listed | Asked | None


def places_of(engine: Engine, folder: Path) -> Choices:
    """Return where to begin: what stands under the keys of a sweep."""
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
    """Return what stands at a key (or an entry) of a node that stands at a place.

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
