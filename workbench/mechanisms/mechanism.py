"""A mechanism: an engine, with the measures and the event log of its records.

This is the one place where the three meet.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.digests import digest
from workbench.engines.kit.engine import Engine
from workbench.identity import current
from workbench.metrics.measure import Measure
from workbench.parts.registry import Registry, attribute

Revision = int | tuple[int, str]
"""Of an engine: its number; of one that is not part of this package with the digest of its code."""


class Mechanism(NamedTuple):
    """What a sweep's `engine:` names."""

    engine: Engine
    measures: Mapping[str, Measure]
    measure: Callable[[Any], dict[str, float]]
    events: Callable[[Any], dict[str, np.ndarray]]

    @property
    def built_in(self) -> bool:
        """Return whether its engine is part of this package."""
        return type(self.engine).__module__.startswith("workbench.")

    @property
    def revision(self) -> Revision:
        """Return what a run's id holds of the engine: its revision; of a user's also a digest of its code and its
        attributes.

        An engine of this package is held to its revision by a test of what it returns.
        """
        if self.built_in:
            return self.engine.revision
        return self.engine.revision, digest(current(type(self.engine)).digest + current(self.engine).digest)


def _of_modules(engine: str, name: str, *packages: str) -> Callable[[], Mechanism]:
    """Return what imports the modules of an engine, of its measures and events and the packages of its policies."""

    def made() -> Mechanism:
        for package in packages:
            importlib.import_module(f"workbench.policies.{package}")
        judge = importlib.import_module(f"workbench.metrics.{name}")
        events = importlib.import_module(f"workbench.records.{name}").events
        return Mechanism(attribute(f"workbench.engines.{engine}")()(), judge.MEASURES, judge.measure, events)

    return made


_BUILT_IN = {
    "dispatch": _of_modules("dispatch:Dispatch", "dispatch", "placement", "probes", "dispatch"),
    "malloc": _of_modules("malloc:Malloc", "malloc", "placement", "malloc"),
    "node": _of_modules("node.engine:Node", "node", "placement", "probes", "dispatch", "translation", "malloc", "pool"),
    "pool": _of_modules("pool:Pool", "pool", "pool"),
    "shared_memory": _of_modules("shared_memory:SharedMemory", "shared_memory", "placement"),
    "torch_allocator": _of_modules("torch_allocator.engine:TorchAllocator", "torch_allocator"),
    "translation": _of_modules("translation:Translation", "translation", "translation"),
}
"""Each of the package's own, imported when it is first named."""

_ready: Registry[Mechanism] = Registry("engine", later=_BUILT_IN)


def mechanisms() -> list[str]:
    """Return the name of every mechanism."""
    return _ready.names()


def is_built_in(name: str) -> bool:
    """Return True if a mechanism is part of this package."""
    return name in _BUILT_IN


def is_loaded(name: str) -> bool:
    """Return True if this process has imported a mechanism's modules, or it was entered."""
    return name in _ready


def enter(registered: Mechanism) -> None:
    """Let sweeps name a mechanism that is not part of this package; entered again, the later one counts.

    Raises
    ------
    InputError
        The name is one of the workbench's own.
    """
    _ready.join(registered.engine.name, registered)


def mechanism(name: str, where: str = "") -> Mechanism:
    """Return the mechanism of a name; its modules are imported at the first call."""
    return _ready.find(name, where)
