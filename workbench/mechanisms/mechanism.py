"""A mechanism: an engine, with the measures and the event log of its records.

This is the one place where the three meet.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.digests import digest
from workbench.engines.kit.engine import Engine
from workbench.identity import current
from workbench.mechanisms.catalogue import OWN
from workbench.mechanisms.manifest import Manifest
from workbench.metrics.measure import Measure
from workbench.parts.registry import Guests, Registry, attribute

Revision = int | tuple[int, str]
"""Of an engine: its number; of one that is not part of this package with the digest of its code."""


class Mechanism(NamedTuple):
    """What a sweep's `engine:` names."""

    engine: Engine
    measures: Mapping[str, Measure]
    measure: Callable[[Any], dict[str, float]]
    events: Callable[[Any], dict[str, np.ndarray]]

    @property
    def name(self) -> str:
        """Return the name of the engine."""
        return self.engine.name

    @property
    def built_in(self) -> bool:
        """Return whether its engine is part of this package."""
        return type(self.engine).__module__.startswith("workbench.")

    @property
    def revision(self) -> Revision:
        """Return the part of a run's id for the engine: its revision; of a user's also a digest of its code and its
        attributes.

        An engine of this package is held to its revision by a test of what it returns.
        """
        if self.built_in:
            return self.engine.revision
        return self.engine.revision, digest(current(type(self.engine)).digest + current(self.engine).digest)


def of_manifest(manifest: Manifest) -> Mechanism:
    """Return the mechanism that a manifest describes: import its engine, measures and events, and its policies.

    A manifest without events describes an engine that has no event log.
    """
    for room in manifest.rooms:
        importlib.import_module(room)
    measured = importlib.import_module(manifest.measured)
    events = attribute(manifest.events)() if manifest.events else _no_events
    return Mechanism(attribute(manifest.engine)()(), measured.MEASURES, measured.measure, events)


_BUILT_IN = {name: functools.partial(of_manifest, one) for name, one in OWN.items() if one.engine}
"""Each of the package's own, imported when it is first named."""


def _no_events(record: Any) -> dict[str, np.ndarray]:
    return {}


def _of_package(value: Mechanism | Manifest) -> Mechanism:
    return of_manifest(value) if isinstance(value, Manifest) else value


MECHANISMS: Registry[Mechanism] = Registry(
    "engine",
    later=_BUILT_IN,
    guests=Guests(
        "engine",
        lambda value: isinstance(value, (Manifest, Mechanism)),
        made=_of_package,
        home=lambda registered: type(registered.engine).__module__,
    ),
)


def mechanisms() -> list[str]:
    """Return the name of every mechanism; one of an installed package that cannot be used is left out."""
    broken = {name for name, guest in MECHANISMS.guests().items() if MECHANISMS.problem(guest)}
    return sorted({*MECHANISMS.names()} - (broken - {*_BUILT_IN}))


def is_known(name: str) -> bool:
    """Return True if there is a mechanism of a name; packages are looked through only if this package has none."""
    return MECHANISMS.has(name)


def is_built_in(name: str) -> bool:
    """Return True if a mechanism is part of this package."""
    return name in _BUILT_IN


def is_loaded(name: str) -> bool:
    """Return True if this process has imported a mechanism's modules, or it was entered."""
    return name in MECHANISMS


def enter(registered: Mechanism) -> None:
    """Let sweeps name a mechanism that is not part of this package; entered again, the later one counts.

    Raises
    ------
    InputError
        The name is one of the workbench's own.
    """
    MECHANISMS.join(registered.engine.name, registered)


def mechanism(name: str, where: str = "") -> Mechanism:
    """Return the mechanism of a name; its modules are imported at the first call."""
    return MECHANISMS.find(name, where)


def slots_by_question() -> dict[str, list[tuple[str, str]]]:
    """Return the engines and slots that ask each question, the engine with fewest slots first."""
    result: dict[str, list[tuple[str, str]]] = {}
    for name in sorted(mechanisms(), key=lambda name: len(mechanism(name).engine.slots)):
        for slot in (engine := mechanism(name).engine).slots:
            result.setdefault(engine.question_of(slot), []).append((name, slot))
    return result
