"""The manifest of a mechanism: the page that names everything that belongs to it.

A manifest holds names and places (`module:attribute`) as text. It imports nothing that it names, so that every name is
known at once; a registry imports a part when the part is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Manifest(NamedTuple):
    """The names and places of all that belongs to a mechanism; without an engine, of what serves every engine.

    >>> Manifest(name="coin", engine="coins.engine:Coin", slots=by_name("throws")).slots
    {'throws': 'throws'}
    """

    name: str
    """How a sweep names the engine."""
    engine: str = ""
    """The place of the engine's class."""
    record: str = ""
    """The place of the named tuple that a run of the engine returns."""
    events: str = ""
    """The place of the function from a record to the columns of its event log."""
    slots: Mapping[str, str] = {}
    """The question of each slot that the engine leaves to a policy."""
    rooms: tuple[str, ...] = ()
    """The packages of the policies that answer these questions."""
    policies: Mapping[str, tuple[str, ...]] = {}
    """The policies of each question that this mechanism brings; a question has one mechanism that brings it."""
    measured: str = ""
    """The module with `MEASURES`, the declarations, and `measure`, the function from a record to their values."""
    measures: tuple[str, ...] = ()
    """The measures of a record."""
    circuit_measures: Mapping[str, tuple[str, ...]] = {}
    """The measures of a setup's circuits that each table holds."""
    figures: Mapping[str, str] = {}
    """The places of the figures that are drawn of the engine's runs."""
    calculations: Mapping[str, str] = {}
    """The places of the figures that are calculated without runs."""
    study_figures: Mapping[str, str] = {}
    """The places of the figures of a tuning study."""
    circuits: Mapping[str, tuple[str, ...]] = {}
    """The circuits (`QUESTION.POLICY`) that each list of makers holds."""
    claims: Mapping[str, tuple[str, ...]] = {}
    """The ids of the claims that each list holds."""
    dashboard: str = ""
    """The place of the function that makes the dashboard."""
    page: str = ""
    """The page of the documentation, below `docs/pages`."""
    compile_seconds: int = 0
    """The processor time of the first compilation, alone in one process (`benchmarks/first_compile.py`)."""


def by_name(names: str) -> dict[str, str]:
    """Return slots that have the names of their questions.

    >>> by_name("queue retry")
    {'queue': 'queue', 'retry': 'retry'}
    """
    return {name: name for name in names.split()}


def words(names: str) -> tuple[str, ...]:
    """Return the names that a text lists.

    >>> words("first_fit best_fit")
    ('first_fit', 'best_fit')
    """
    return tuple(names.split())
