"""Modules under the names of version 0.5: an import of one gives the words from where they are now, and warns.

The former names go with 0.7.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Any

_MOVED: dict[str, tuple[str, ...]] = {
    "workbench.paper": ("papers.six_open_gpus",),
    "workbench.experiments.circuit_measures": ("workbench.mechanisms.circuit_measures",),
    "workbench.experiments.failures": (
        "workbench.runs.faults",
        "workbench.runs.crashes",
        "workbench.runs.interrupts",
        "workbench.runs.output",
    ),
    "workbench.experiments.mechanism": (
        "workbench.mechanisms.mechanism",
        "workbench.mechanisms.user_measure",
        "workbench.mechanisms.measures",
        "workbench.mechanisms.measured_by",
        "workbench.mechanisms.compilation",
        "workbench.runs.cells",
        "workbench.runs.run",
    ),
    "workbench.experiments.notebooks": ("workbench.notebooks",),
    "workbench.experiments.pools": ("workbench.executors",),
    "workbench.experiments.row": (
        "workbench.runs.row",
        "workbench.runs.run",
        "workbench.mechanisms.measured_by",
        "workbench.digests",
    ),
    "workbench.experiments.scheduler": ("workbench.executors.scheduler", "workbench.executors.bundles"),
    "workbench.experiments.user_code": ("workbench.runs.user_code",),
    "workbench.experiments.watchdog": ("workbench.runs.watchdog",),
    "workbench.experiments.worker": ("workbench.runs.worker",),
    "workbench.studies": (),
    "workbench.studies.adaptive": ("workbench.statistics.adaptive_seeds",),
    "workbench.studies.claims": ("workbench.claims",),
    "workbench.studies.pool": ("workbench.advice.replay",),
    "workbench.studies.pool.demand": ("workbench.explain.pool_demand",),
    "workbench.studies.pool.heap_growth": ("workbench.explain.heap_growth",),
    "workbench.studies.pool.page_accesses": ("workbench.explain.page_accesses",),
    "workbench.studies.pool.remote_bound": ("workbench.explain.remote_bound",),
    "workbench.studies.pool.replay": ("workbench.advice.replay",),
    "workbench.studies.pool.resource_advice": ("workbench.advice.resource_advice",),
    "workbench.studies.pool.storage_service": ("workbench.pool_service.latency",),
    "workbench.studies.rmm": ("workbench.advice.rmm",),
    "workbench.studies.sentences": ("workbench.statistics.sentences",),
    "workbench.studies.statistics": ("workbench.statistics",),
    "workbench.studies.summary": ("workbench.statistics.summary",),
    "workbench.studies.torch_memory": ("workbench.advice.torch_memory",),
    "workbench.studies.tuning": ("workbench.tuning",),
}
"""Each module of 0.5 that moved, and the modules that hold its words now."""

_EXPLAIN = "workbench.studies."
"""Other modules of this package are in `workbench.explain` under their last name."""


def install() -> None:
    """Let former names be imported in this process."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def now(name: str) -> tuple[str, ...] | None:
    """Return the modules that hold the words of a module of 0.5; None if the name is not one that moved.

    >>> now("workbench.studies.blame"), now("workbench.studies.tuning.front"), now("workbench.engines")
    (('workbench.explain.blame',), ('workbench.tuning.front',), None)
    """
    if name in _MOVED:
        return _MOVED[name]
    package, _, rest = name.rpartition(".")
    if package in _MOVED and len(_MOVED[package]) == 1:
        return (f"{_MOVED[package][0]}.{rest}",)
    return (f"workbench.explain.{name.removeprefix(_EXPLAIN)}",) if name.startswith(_EXPLAIN) else None


class _FormerModule(ModuleType):
    """Gives the words of a module that moved."""

    def __getattr__(self, word: str) -> Any:
        for name in now(self.__name__) or () if not word.startswith("__") else ():
            module = importlib.import_module(name)
            if hasattr(module, word):
                message = f"{self.__name__}: {word} is in {name} since 0.6; the former name goes with 0.7"
                warnings.warn(message, DeprecationWarning, stacklevel=2)
                setattr(self, word, value := getattr(module, word))
                return value
        raise AttributeError(f"module {self.__name__!r} has no attribute {word!r}")


class _Finder:
    """Finds the modules of 0.5 that moved, also where an update left an empty folder of the former name."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: object = None) -> Any:
        """Return a spec whose module gives the words from where they are now."""
        names = now(name)
        if names is None or not all(_is_there(each) for each in names):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Return the module."""
        return _FormerModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Execute nothing: words are looked up when they are imported."""


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
