"""Modules and words under the names of version 0.5: an import gives what has the name now, and warns.

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
    "paper": ("papers.six_open_gpus",),
    "experiments.circuit_measures": ("workbench.circuits.measures",),
    "experiments.failures": (
        "workbench.runs.faults",
        "workbench.runs.crashes",
        "workbench.runs.interrupts",
        "workbench.runs.output",
    ),
    "experiments.mechanism": (
        "workbench.mechanisms.mechanism",
        "workbench.mechanisms.user_measure",
        "workbench.mechanisms.measures",
        "workbench.mechanisms.measured_by",
        "workbench.mechanisms.compilation",
        "workbench.runs.cells",
        "workbench.runs.run",
    ),
    "experiments.notebooks": ("workbench.notebooks",),
    "experiments.pools": ("workbench.executors",),
    "experiments.run_set": ("workbench.experiments.results", "workbench.experiments.hangs"),
    "experiments.row": (
        "workbench.runs.row",
        "workbench.runs.run",
        "workbench.mechanisms.measured_by",
        "workbench.digests",
    ),
    "experiments.scheduler": ("workbench.executors.scheduler", "workbench.executors.bundles"),
    "experiments.user_code": ("workbench.runs.user_code", "workbench.runs.pickled_setups"),
    "experiments.watchdog": ("workbench.runs.watchdog",),
    "experiments.worker": ("workbench.runs.worker", "workbench.runs.execution"),
    "studies": (),
    "studies.adaptive": ("workbench.statistics.adaptive_seeds", "workbench.experiments.stop_rule"),
    "studies.claims": ("workbench.claims",),
    "studies.discovery.scenario": (
        "workbench.explain.discovery.scenario",
        "workbench.explain.discovery.discovery",
        "workbench.explain.discovery.sentences",
    ),
    "studies.malloc_validation": ("workbench.validation.lock_fit",),
    "studies.pool": ("workbench.advice.replay",),
    "studies.pool.demand": ("workbench.explain.pool_demand",),
    "studies.pool.heap_growth": ("workbench.explain.heap_growth",),
    "studies.pool.page_accesses": ("workbench.explain.page_accesses",),
    "studies.pool.remote_bound": ("workbench.explain.remote_bound",),
    "studies.pool.replay": ("workbench.advice.replay",),
    "studies.pool.resource_advice": ("workbench.advice.resource_advice",),
    "studies.pool.storage_service": ("workbench.pool_service.latency",),
    "studies.probe_success": ("workbench.explain.probe_success", "workbench.explain.chance"),
    "studies.rmm": (
        "workbench.advice.rmm",
        "workbench.advice.rmm.resource",
        "workbench.advice.rmm.pool",
        "workbench.advice.rmm.arena",
        "workbench.advice.rmm.binning",
    ),
    "studies.sentences": ("workbench.statistics.sentences", "workbench.statistics.quantities"),
    "studies.statistics": ("workbench.statistics",),
    "studies.statistics.interval": (
        "workbench.statistics.interval",
        "workbench.statistics.pairs",
        "workbench.statistics.corrections",
    ),
    "studies.summary": ("workbench.statistics.summary", "workbench.statistics.notes"),
    "studies.torch_memory": ("workbench.advice.torch_memory",),
    "studies.torch_memory.sentences": (
        "workbench.advice.torch_memory.sentences",
        "workbench.advice.torch_memory.advice_json",
        "workbench.advice.torch_memory.diagnosis",
    ),
    "studies.tuning": ("workbench.tuning",),
    "studies.tuning.driver": (
        "workbench.tuning.driver",
        "workbench.tuning.objective_function",
        "workbench.tuning.optuna_trials",
    ),
    "studies.tuning.results": (
        "workbench.tuning.results",
        "workbench.tuning.trades",
        "workbench.tuning.importances",
        "workbench.tuning.parallel_coordinates",
    ),
    "studies.tuning.space": ("workbench.tuning.space", "workbench.tuning.space_file", "workbench.tuning.dimension"),
}
"""Each module of 0.5 that moved, below `workbench`, and the modules that hold its words now."""

_RENAMED = {"docs.drawings": {"shown": "drawing"}, "experiments.run_set": {"RunSet": "Results"}}
"""Words of 0.5 that have another name now, by the module of 0.5 below `workbench`."""

_GONE = {"studies.malloc_validation": {"survey_table": "`workbench validate malloc` compares allocators with a card"}}
"""Words of 0.5 that are gone, by the module below `workbench`, and what to use today."""

_PACKAGE = "workbench."
_STUDIES = "studies."
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
    former = name.removeprefix(_PACKAGE) if name.startswith(_PACKAGE) else ""
    if former in _MOVED:
        return _MOVED[former]
    package, _, rest = former.rpartition(".")
    if len(_MOVED.get(package, ())) == 1:
        return (f"{_MOVED[package][0]}.{rest}",)
    return (f"workbench.explain.{former.removeprefix(_STUDIES)}",) if former.startswith(_STUDIES) else None


def moved() -> dict[str, tuple[str, ...]]:
    """Return each module of 0.5 that moved by its full name, with the modules that hold its words now.

    >>> moved()["workbench.studies.tuning"]
    ('workbench.tuning',)
    """
    return {f"{_PACKAGE}{former}": names for former, names in _MOVED.items() if names}


def renamed(module: str, word: str) -> Any:
    """Return the value of a word of 0.5 in a module, with a warning; a module's `__getattr__` calls it.

    Raises
    ------
    AttributeError
        The module has no such word.
    """
    today = _RENAMED.get(module.removeprefix(_PACKAGE), {}).get(word)
    if today is None:
        raise AttributeError(f"module {module!r} has no attribute {word!r}")
    message = f"{module}: {word} is {today} since 0.6; the former name goes with 0.7"
    warnings.warn(message, DeprecationWarning, stacklevel=3)
    return getattr(sys.modules[module], today)


class _FormerModule(ModuleType):
    """Gives the words of a module that moved."""

    def __getattr__(self, word: str) -> Any:
        former = self.__name__.removeprefix(_PACKAGE)
        name_now = _RENAMED.get(former, {}).get(word, word)
        for name in now(self.__name__) or () if not word.startswith("__") else ():
            module = importlib.import_module(name)
            if hasattr(module, name_now):
                moved_to = f"in {name}" if name_now == word else f"{name_now} in {name}"
                message = f"{self.__name__}: {word} is {moved_to} since 0.6; the former name goes with 0.7"
                warnings.warn(message, DeprecationWarning, stacklevel=2)
                setattr(self, word, value := getattr(module, name_now))
                return value
        if today := _GONE.get(former, {}).get(word):
            raise ImportError(f"{self.__name__}: {word} is gone since 0.6; {today}")  # `from` hides an AttributeError
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
