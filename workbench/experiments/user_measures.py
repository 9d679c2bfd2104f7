"""Measures that are computed where a sweep names them: the user's own, functions of a record, and those of a setup.

What one of them does instead of giving a cell is one sentence. An edited measure makes its cells missing, never its
runs foreign: one digest stands for all measures of an engine, as one function computes them; each of the user's has
its own.
"""

from __future__ import annotations

import math
import numbers
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.engines.engine import Setup
from workbench.errors import InputError, WorkbenchError, at, shown, unknown_name, wrong_value
from workbench.experiments.failures import MOST_OF_NAME, fault, is_own, shortened
from workbench.experiments.mechanism import Mechanism, mechanism, mechanisms
from workbench.experiments.row import MeasuredBy
from workbench.identity import Snapshot, snapshot
from workbench.metrics.measure import Better, Measure
from workbench.parts import Registry, from_file, is_in_file
from workbench.parts.registry import first_paragraph

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
    function: Any = None, *, unit: str | None = None, better: Better | None = None, description: str = ""
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
    """Return the measure that `FILE.py:NAME` names, as `workbench.parts.user_files` does; errors as of that."""
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
