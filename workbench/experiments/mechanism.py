"""A mechanism: an engine, with the measures and the event log of its records. The one place where they meet."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.engine import Engine
from workbench.errors import InputError, unknown_name
from workbench.experiments.run_id import Revision, digest
from workbench.identity import current
from workbench.metrics.measure import Measure


class Mechanism(NamedTuple):
    """What a sweep's `engine:` names."""

    engine: Engine
    measures: Mapping[str, Measure]
    measure: Callable[[Any], dict[str, float]]
    events: Callable[[Any], dict[str, np.ndarray]]

    @property
    def revision(self) -> Revision:
        """What a run's id holds of the engine: its revision; of a user's also a digest of its code and its attributes.

        An engine of this package is held to its revision by a test of what it returns.
        """
        if type(self.engine).__module__.startswith("workbench."):
            return self.engine.revision
        return self.engine.revision, digest(current(type(self.engine)).digest + current(self.engine).digest)


_MODULES = {
    "dispatch": (
        "workbench.engines.dispatch:Dispatch",
        "workbench.metrics.dispatch",
        "workbench.records.dispatch_events",
        ("workbench.policies.placement", "workbench.policies.probes", "workbench.policies.dispatch"),
    ),
    "malloc": (
        "workbench.engines.malloc:Malloc",
        "workbench.metrics.malloc",
        "workbench.records.malloc_events",
        ("workbench.policies.placement", "workbench.policies.malloc"),
    ),
    "pool": (
        "workbench.engines.pool:Pool",
        "workbench.metrics.pool",
        "workbench.records.pool_events",
        ("workbench.policies.pool",),
    ),
    "shared_memory": (
        "workbench.engines.shared_memory:SharedMemory",
        "workbench.metrics.shared_memory",
        "workbench.records.shared_memory_events",
        ("workbench.policies.placement", "workbench.policies.queueing"),
    ),
    "translation": (
        "workbench.engines.translation:Translation",
        "workbench.metrics.translation",
        "workbench.records.translation_events",
        ("workbench.policies.translation",),
    ),
}
_ready: dict[str, Mechanism] = {}


def mechanisms() -> list[str]:
    """The name of every mechanism."""
    return sorted({*_MODULES, *_ready})


def is_built_in(name: str) -> bool:
    """Return True if a mechanism is part of this package."""
    return name in _MODULES


def is_loaded(name: str) -> bool:
    """Return True if this process has imported a mechanism's modules, or it was entered."""
    return name in _ready


def enter(found: Mechanism) -> None:
    """Let sweeps name a mechanism that is not part of this package; entered again, the later one counts.

    Raises
    ------
    InputError
        The name is one of the workbench's own.
    """
    if found.engine.name in _MODULES:
        raise InputError(f"{found.engine.name} is an engine of the workbench; choose another name.")
    _ready[found.engine.name] = found


def mechanism(name: str, where: str = "") -> Mechanism:
    """The mechanism of a name; its modules are imported at the first call."""
    if not isinstance(name, str) or name not in mechanisms():
        raise unknown_name(where, "engine", name, mechanisms())
    if name not in _ready:
        engine, metrics, log, rooms = _MODULES[name]
        for room in rooms:
            importlib.import_module(room)
        module, cls = engine.split(":")
        judge = importlib.import_module(metrics)
        made = getattr(importlib.import_module(module), cls)()
        _ready[name] = Mechanism(made, judge.MEASURES, judge.measure, importlib.import_module(log).events)
    return _ready[name]
