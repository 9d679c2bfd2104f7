"""A mechanism: an engine, with the measures and the event log of its records, and how it is compiled before runs.

This is the one place where the three meet. Measures are the engine's own, and those that are computed where a sweep
names them: the user's, functions of a record, and those of a setup. What one of them does instead of giving a cell is
one sentence. An edited measure makes its cells missing, never its runs foreign: one digest stands for all measures of
an engine, as one function computes them; each of the user's has its own.

A mechanism is compiled once, before many runs or many processes would all wait for the same compilation. Whoever waits
is told first that an engine is compiled, and about how long that takes: as long as it took this machine the last time,
or else one on which it was measured.
"""

from __future__ import annotations

import fcntl
import functools
import importlib
import json
import math
import numbers
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.compiled import INTERPRETED
from workbench.compiled.kernel import code_home, sources
from workbench.engines.kit.engine import RENAMED, Engine, Setup
from workbench.errors import InputError, WorkbenchError, at, shown, unknown_name, wrong_value
from workbench.experiments.failures import MOST_OF_NAME, fault, is_own, shortened
from workbench.experiments.row import MeasuredBy, Revision, digest
from workbench.files import cache_home
from workbench.identity import Snapshot, current, snapshot
from workbench.metrics.measure import Better, Measure
from workbench.parts import from_file, is_in_file
from workbench.parts.registry import Registry, attribute, first_paragraph, take_old_words
from workbench.process import COMPILING


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


def _of_modules(engine: str, name: str, *rooms: str) -> Callable[[], Mechanism]:
    """Return what imports the modules of an engine, of its measures and events and the rooms of its policies."""

    def made() -> Mechanism:
        for room in rooms:
            importlib.import_module(f"workbench.policies.{room}")
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

    An engine in the words of 0.4 (`wants`, `asks`, `admit`) is accepted with a warning.

    Raises
    ------
    InputError
        The name is one of the workbench's own.
    """
    take_old_words(registered.engine, RENAMED, f"the engine {registered.engine.name}")
    _ready.join(registered.engine.name, registered)


def mechanism(name: str, where: str = "") -> Mechanism:
    """Return the mechanism of a name; its modules are imported at the first call."""
    return _ready.find(name, where)


Say = Callable[[str], Any]
COMPILING_SECONDS = 600.0
"""What a run may compile on top of its limit, its engine or its policy: the clock of the run stands meanwhile."""

LOADING_SECONDS = 10.0
"""What the first run of a process may take on top: it loads what is compiled already."""

USUAL_SECONDS = {
    "shared_memory": 10,
    "malloc": 15,
    "torch_allocator": 10,
    "pool": 35,
    "dispatch": 40,
    "translation": 50,
    "node": 120,
}
"""How long each engine of the package takes to compile, on one core of the machine that the README's figures are of."""

_warm: set[str] = set()
"""The engines with which this process has done a run."""

_said: set[str] = set()
"""The engines of which this process has said that they are compiled."""


def _folder() -> Path:
    """Return where it is kept which engines were compiled here, and from which sources."""
    return code_home() / "warm"


def warm_up(setup: Setup, say: Say) -> None:
    """Do the smallest run of a setup's mechanism unless it was done since the sources last changed, and say so."""
    if _marker(setup.engine).is_file():
        return
    with first_run(setup.engine):
        registered = mechanism(setup.engine)
        say_compiling(setup.engine, say)
        before = COMPILING.seconds()
        with suppress(WorkbenchError):  # the run that matters will say it again
            registered.measure(registered.engine.simulate(setup, 0))
        say(f"compiled in {COMPILING.seconds() - before:.0f} s")


def say_compiling(engine: str, say: Say) -> None:
    """Say that an engine will be compiled, and about how long it takes, unless it is or that was said."""
    if not (INTERPRETED or engine in _said or _marker(engine).is_file()):
        _said.add(engine)
        say(_sentence(engine))


def say_as_it_compiles(say: Say) -> Callable[[str], None]:
    """Return a function that is told the module of what is compiled, and says which engine that is, each once.

    It speaks where nothing was said beforehand: runs that no plan holds, and parts of an engine that no run has met.
    """

    def tell(module: str) -> None:
        engine = _engine_of_module(module)
        if engine and engine not in _said:
            _said.add(engine)
            say(f"compiling more of the engine {engine}, once" if _marker(engine).is_file() else _sentence(engine))

    return tell


def _sentence(engine: str) -> str:
    if _engine_marker(engine).is_file():
        return f"compiling the measures of the engine {engine}, once"
    about = _seconds_here().get(engine) or USUAL_SECONDS.get(engine)
    return f"compiling the engine {engine}, once{f', about {about:.0f} s' if about else ''}"


def _engine_of_module(module: str) -> str:
    """Return the engine that a module belongs to; empty for what is no engine.

    >>> _engine_of_module("workbench.engines.shared_memory_loop"), _engine_of_module("workbench.metrics.pool")
    ('shared_memory', '')
    """
    room = "workbench.engines."
    part = module.removeprefix(room).split(".")[0] if module.startswith(room) else ""
    return next((engine for engine in USUAL_SECONDS if part in (engine, f"{engine}_loop")), "")


@contextmanager
def first_run(engine: str) -> Iterator[float]:
    """Yield the seconds that a process's run of an engine may take longer for being the first.

    Of several processes on one machine one compiles while the others wait; where a file system knows no locks, several
    may compile the same thing.
    """
    if engine in _warm:
        yield 0.0
        return
    mechanism(engine)
    marker = _marker(engine)
    if marker.is_file():
        yield LOADING_SECONDS
    else:
        marker.parent.mkdir(parents=True, exist_ok=True)
        with open(marker.with_suffix(".lock"), "w") as lock:
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            # Somebody else may have done it meanwhile; of measures alone nothing is learned about the engine.
            compiled, before = marker.is_file() or _engine_marker(engine).is_file(), COMPILING.seconds()
            yield LOADING_SECONDS
            marker.touch()
            _engine_marker(engine).touch()
            if not compiled:
                _remember(engine, COMPILING.seconds() - before)
    _warm.add(engine)


def _marker(engine: str) -> Path:
    """Return the file that is there once an engine was run, and measured, with the sources as they are."""
    return _marker_of(engine, *_engine_modules(engine), f"metrics.{engine}")


def _engine_marker(engine: str) -> Path:
    """Return the file that is there once the engine itself was, whatever its measures were then."""
    return _marker_of(engine, *_engine_modules(engine))


@functools.cache
def _engine_modules(engine: str) -> list[str]:
    """Return the modules that bring along all that is compiled into an engine; a user's has its parts from the kit."""
    return sources().kernels(f"engines.{engine}") or sources().kernels("engines.kit")


def _marker_of(engine: str, *modules: str) -> Path:
    return _folder() / f"{engine}-{sources().digest(*modules)}.warm"


def _remember(engine: str, seconds: float) -> None:
    """Keep how long an engine took to compile here, for the sentence of the next time."""
    if seconds >= 1:
        place = _memory()
        with suppress(OSError):
            beside = place.with_suffix(f".{os.getpid()}")
            beside.write_text(json.dumps({**_seconds_here(), engine: round(seconds, 1)}))
            beside.replace(place)


def _seconds_here() -> dict[str, float]:
    """Return how long each engine took to compile on this machine, the last time."""
    with suppress(OSError, ValueError):
        content = json.loads(_memory().read_text())
        return {str(engine): float(seconds) for engine, seconds in content.items()}
    return {}


def _memory() -> Path:
    return cache_home() / "compile_seconds.json"


BETTER = ("lower", "higher", "neither")
_TAKEN = ("run_id", "point_id", "point", "seed", "status", "error", "origin")
"""Names of other columns of a table of runs."""


class OwnMeasure(NamedTuple):
    """A measure of the user's: what `@measure(...)` makes of a function. It can be called like that function."""

    declared: Measure
    function: Callable[[Any], float]
    said: str = ""
    """How a sweep names it where that is not by its name alone: `FILE.py:NAME`."""
    of: Literal["record", "setup"] = "record"
    """What the function takes; those of a setup are the package's own."""
    check: Callable[[Any], None] | None = None
    """Refuses, while a sweep is planned, a setup of which the measure cannot be computed."""

    @property
    def name(self) -> str:
        """Return the name of the measure's column."""
        return self.declared.name

    @property
    def description(self) -> str:
        """Return what the measure is about."""
        return self.declared.description

    @property
    def built_in(self) -> bool:
        """Return whether it is the package's: those of a setup; a measure of a record is the user's."""
        return self.of == "setup"

    def __call__(self, record: Any) -> float:
        """Compute it of what its function takes."""
        return self.function(record)


class WithOwn(Mapping[str, Measure]):
    """The measures of an engine together with the user's, which are found by the way a sweep says them too."""

    def __init__(self, known: Mapping[str, Measure], own: Mapping[str, OwnMeasure]) -> None:
        self._known = known
        self._own = {name: one.declared for name, one in own.items()}
        self._said = {one.said: one.declared for one in own.values() if one.said}

    def __getitem__(self, name: str) -> Measure:
        return self._own.get(name) or self._said.get(name) or self._known[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._known
        yield from self._own

    def __len__(self) -> int:
        return len(self._known) + len(self._own)


_registries: dict[str, Registry[OwnMeasure]] = {}
"""By the name of the engine."""


def measure(
    function: None = None, *, unit: str | None = None, better: Better | None = None, description: str = ""
) -> Callable[[Callable[[Any], float]], OwnMeasure]:
    """Declare a function of a record as a measure: what `add_measure` enters, or a sweep names as `FILE.py:NAME`.

    Parameters
    ----------
    unit : str
        Of the number that it returns, such as `cycles`; empty for a share.
    better : {"lower", "higher", "neither"}
        What is good.
    description : str
        What it measures; the first sentence of the function's docstring if empty.

    Returns
    -------
    callable
        A decorator; what it returns can be called like the function.

    Raises
    ------
    InputError
        The unit or the direction is missing, or the function has no name that a column could have.

    Examples
    --------
    >>> @measure(unit="segments", better="neither", description="the longest request")
    ... def longest(record):
    ...     return record.length.max()
    >>> longest.declared.label
    'longest (segments)'
    """
    if function is not None:
        name = getattr(function, "__name__", "a measure")
        raise InputError(f"{name} needs its unit and which direction is better: {_EXAMPLE}.")
    if not isinstance(unit, str):
        raise wrong_value("", "the unit of a measure", f"must be said, empty for a share: {_EXAMPLE}", unit)
    if better not in BETTER:
        raise wrong_value("", "better", f"must be lower, higher or neither: {_EXAMPLE}", better)

    def declared(function: Callable[[Any], float]) -> OwnMeasure:
        name = getattr(function, "__name__", "")
        if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) or name in _TAKEN:
            raise wrong_value("", "the function of a measure", "must have a name that a column can have", name)
        text = description or first_paragraph(function.__doc__)
        return OwnMeasure(Measure(name, unit, better, text), function)

    return declared


_EXAMPLE = '@wb.measure(unit="cycles", better="lower", description="...")'


def add_measure(engine: str, function: OwnMeasure) -> OwnMeasure:
    """Enter a measure for an engine, which sweeps, studies and figures then name; entered again, the later one counts.

    Parameters
    ----------
    engine : str
        Whose records it is a function of.
    function : OwnMeasure
        A function under `@measure(unit=..., better=..., description=...)`.

    Raises
    ------
    InputError
        There is no such engine, the function is not declared, or the engine has another measure of that name.

    Examples
    --------
    >>> @measure(unit="segments", better="neither", description="the longest request")
    ... def longest_request(record):
    ...     return record.length.max()
    >>> add_measure("shared_memory", longest_request).name
    'longest_request'
    >>> from workbench.parts import remove
    >>> remove("measure", "longest_request")
    """
    if not isinstance(function, OwnMeasure):
        name = getattr(function, "__name__", repr(function))
        raise InputError(f"{name} needs its unit and which direction is better: put {_EXAMPLE} above it.")
    _refuse_taken(engine, function.name, "")
    return measures_of(engine).joined(function)


def measures_of(engine: str) -> Registry[OwnMeasure]:
    """Return the measures that the user entered for an engine."""
    if engine not in _registries:
        if engine not in mechanisms():
            raise unknown_name("", "engine", engine, mechanisms())
        _registries[engine] = Registry("measure", f"measure of {engine}", named_by="name")
    return _registries[engine]


def of_setup(engine: str) -> dict[str, OwnMeasure]:
    """Return the measures of an engine that are computed of a setup, such as the area of its policies' circuits.

    >>> list(of_setup("shared_memory"))
    ['area_gates', 'levels', 'registers', 'relative_area', 'relative_delay']
    """
    from workbench.experiments.circuit_measures import MEASURES

    return MEASURES.get(engine, {})


def _refuse_taken(engine: str, name: str, where: str) -> None:
    if name in mechanism(engine, where).measures or name in of_setup(engine):
        raise InputError(at(where, f"{name} is already a measure of {engine}; choose another function name."))


def measure_in_file(name: str, engine: str, folder: Path, where: str) -> OwnMeasure:
    """Return the measure that `FILE.py:NAME` names, as `workbench.parts.registry` does; errors as of that."""
    own_measure: OwnMeasure = from_file(name, folder, where, "measure", lambda value: isinstance(value, OwnMeasure))
    _refuse_taken(engine, own_measure.name, where)
    return own_measure._replace(said=name)


def user_measures(engine: str, names: Iterable[Any], folder: Path, where: str) -> dict[str, OwnMeasure]:
    """Return what a sweep of an engine may name beside its measures of records: those of setups that it does name, the
    user's that were entered, and the user's in files that it names."""
    names = [name for name in names if isinstance(name, str)]
    in_files = (measure_in_file(name, engine, folder, where) for name in names if is_in_file(name))
    of_setups = {name: one for name, one in of_setup(engine).items() if name in names}
    return {**of_setups, **measures_of(engine), **{one.name: one for one in in_files}}


class Task(NamedTuple):
    """One run to do."""

    id: str
    point: str
    seed: int


class MeasureError(WorkbenchError):
    """A measure of the user's raised, or gave no number."""


def own_cells(own: Mapping[str, OwnMeasure], record: Any, setup: Setup, task: Task) -> dict[str, float]:
    """Compute measures of the user's of a record.

    Raises
    ------
    MeasureError
        One raised, gave no number, or changed the record; the sentence names it with the point and the seed.
    MemoryError
        There was not enough.
    """
    if not own:
        return {}
    cells, before = dict[str, float](), _content(record)
    for name, one in own.items():
        about = f"the measure {name} of {_point(setup, task)}, seed {task.seed},"
        cells[name] = _cell(one, record if one.of == "record" else setup, about)
        if _content(record) != before:
            raise MeasureError(f"{about} changed the record that it measures; it may only read, so let it copy first.")
    return cells


def _cell(one: OwnMeasure, given: Any, about: str) -> float:
    try:
        value = one.function(given)
    except MemoryError:
        raise
    except BaseException as problem:
        if is_own(problem) or (one.built_in and isinstance(problem, WorkbenchError)):
            raise
        raise MeasureError(fault(problem, who=about)) from None
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (numbers.Real, np.bool_)):
        return value if type(value) in (int, float) and math.isfinite(value) else float(value)
    raise MeasureError(f"{about} must return a number. Got {shown(value)}.")


def _point(setup: Setup, task: Task) -> str:
    policies = ", ".join(policy.short() for policy in setup.policies.values())
    return f"point {task.point[:8]} ({shortened(policies, MOST_OF_NAME)})" if policies else f"point {task.point[:8]}"


def _content(value: Any) -> int:
    """Return a checksum of every array of a record, however deep in tuples and mappings it lies."""
    return zlib.crc32(b"".join(zlib.crc32(np.ascontiguousarray(one).data).to_bytes(4, "big") for one in _arrays(value)))


def _arrays(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray) and value.dtype != object and value.size:
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _arrays(one)
    elif isinstance(value, dict):
        yield from _arrays(tuple(value.values()))


DIGITS = 16

_digests: dict[int, tuple[object, Snapshot]] = {}
"""The digest of each function by its address; the function is kept, so that no other one can take its place."""


def measures_digest(mechanism: Mechanism, anew: bool = False) -> str:
    """Return the digest of the code and the values that compute an engine's measures.

    Parameters
    ----------
    mechanism : Mechanism
        The engine with its measures.
    anew : bool
        Look whether the user's code or values changed since the digest was last taken, as a run does before it starts:
        while it lasts, the digest stays.

    Returns
    -------
    str
        16 hexadecimal digits. One digest stands for all measures of an engine, as one function computes them.

    Raises
    ------
    InputError
        A measure reads something that has no digest, such as an open file.

    Examples
    --------
    >>> from workbench.experiments.mechanism import mechanism
    >>> len(measures_digest(mechanism("shared_memory")))
    16
    """
    return _digest(mechanism.measure, anew)


def measured_by(mechanism: Mechanism, own: Mapping[str, OwnMeasure], anew: bool = False) -> MeasuredBy:
    """Return the digests of an engine's measures and of some of the user's; parameters and errors as above."""
    return MeasuredBy(
        measures_digest(mechanism, anew), {name: _digest(one.function, anew) for name, one in own.items()}
    )


def _digest(function: Any, anew: bool) -> str:
    _, taken = _digests.get(id(function), (None, None))
    if taken is None or (anew and taken.changed()):
        taken = snapshot(function)
        _digests[id(function)] = function, taken
    return taken.digest[:DIGITS]
