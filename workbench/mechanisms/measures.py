"""The measures that a sweep of an engine may name besides the engine's own: entered, in files, or of a setup."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.errors import InputError, at, unknown_name
from workbench.mechanisms.catalogue import manifest_of
from workbench.mechanisms.mechanism import is_known, mechanism, mechanisms
from workbench.mechanisms.user_measure import DECLARATION, UserMeasure
from workbench.metrics.measure import Measure
from workbench.parts import from_file, is_in_file
from workbench.parts.registry import Guests, Registry, attribute


class WithUserMeasures(Mapping[str, Measure]):
    """The measures of an engine together with the user's, which are found by the way a sweep says them too."""

    def __init__(self, known: Mapping[str, Measure], user: Mapping[str, UserMeasure]) -> None:
        self._known = known
        self._user = {name: one.declared for name, one in user.items()}
        self._by_source = {one.source: one.declared for one in user.values() if one.source}

    def __getitem__(self, name: str) -> Measure:
        return self._user.get(name) or self._by_source.get(name) or self._known[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._known
        yield from self._user

    def __len__(self) -> int:
        return len(self._known) + len(self._user)


_registries: dict[str, Registry[UserMeasure]] = {}
"""By the name of the engine."""


def add_measure(engine: str, function: UserMeasure) -> UserMeasure:
    """Enter a measure for an engine, which sweeps, studies and figures then name; entered again, the later one counts.

    Parameters
    ----------
    engine : str
        Whose records it is a function of.
    function : UserMeasure
        A function under `@measure(unit=..., better=..., description=...)`.

    Raises
    ------
    InputError
        There is no such engine, the function is not declared, or the engine has another measure of that name.

    Examples
    --------
    >>> from workbench.mechanisms.user_measure import measure
    >>> @measure(unit="segments", better="neither", description="the longest request")
    ... def longest_request(record):
    ...     return record.length.max()
    >>> add_measure("shared_memory", longest_request).name
    'longest_request'
    >>> from workbench.parts import remove
    >>> remove("measure", "longest_request")
    """
    if not isinstance(function, UserMeasure):
        name = getattr(function, "__name__", repr(function))
        raise InputError(f"{name} needs its unit and which direction is better: put {DECLARATION} above it.")
    _refuse_taken(engine, function.name, "")
    return measures_of(engine).joined(function)


def measures_of(engine: str) -> Registry[UserMeasure]:
    """Return the measures that the user entered for an engine."""
    if engine not in _registries:
        if not is_known(engine):
            raise unknown_name("", "engine", engine, mechanisms())
        guests = Guests[UserMeasure](
            "measure",
            lambda value: isinstance(value, UserMeasure),
            within=engine,
            made=lambda own: _untaken(engine, own),
            home=lambda own: own.function.__module__,
        )
        _registries[engine] = Registry("measure", f"measure of {engine}", named_by="name", guests=guests)
    return _registries[engine]


def of_setup(engine: str, names: Collection[str] | None = None) -> dict[str, UserMeasure]:
    """Return the measures of an engine that are computed of a setup, such as the area of its policies' circuits.

    Parameters
    ----------
    names : collection of str, optional
        The measures that are wanted, all of them if None; a table without any of them is not imported.

    Examples
    --------
    >>> list(of_setup("shared_memory"))
    ['area_gates', 'levels', 'registers', 'relative_area', 'relative_delay']
    """
    manifest = manifest_of(engine)
    tables = manifest.circuit_measures if manifest else {}
    chosen = {name: place for place, known in tables.items() for name in known if names is None or name in names}
    return {name: attribute(place)()[name] for name, place in chosen.items()}


def _untaken(engine: str, own: UserMeasure) -> UserMeasure:
    _refuse_taken(engine, own.name, "")
    return own


def _refuse_taken(engine: str, name: str, where: str) -> None:
    if name in mechanism(engine, where).measures or of_setup(engine, [name]):
        raise InputError(at(where, f"{name} is already a measure of {engine}; choose another function name."))


def measure_in_file(name: str, engine: str, folder: Path, where: str) -> UserMeasure:
    """Return the measure that `FILE.py:NAME` names, as `workbench.parts.user_files` does; errors as of that."""
    own_measure: UserMeasure = from_file(name, folder, where, "measure", lambda value: isinstance(value, UserMeasure))
    _refuse_taken(engine, own_measure.name, where)
    return own_measure._replace(source=name)


def user_measures(engine: str, names: Iterable[Any], folder: Path, where: str) -> dict[str, UserMeasure]:
    """Return the further measures that a sweep of an engine may name. They are those of setups that it does name, the
    user's that were entered, and the user's in files that it names."""
    names = [name for name in names if isinstance(name, str)]
    in_files = (measure_in_file(name, engine, folder, where) for name in names if is_in_file(name))
    of_setups, entered = of_setup(engine, names), measures_of(engine)
    known = {*mechanism(engine).measures, *of_setups, *entered}
    for name in names:
        if name not in known and not is_in_file(name) and name in entered.guests():
            entered.find(name, where)
    return {**of_setups, **entered, **{one.name: one for one in in_files}}
