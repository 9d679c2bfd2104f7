"""A run: a point of a sweep at one seed, and the id that names it.

A run's id is a digest of everything that determines it: setup, engine revision, seed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from workbench.digests import canonical, digest
from workbench.engines.kit.engine import Setup
from workbench.mechanisms.mechanism import Revision


class PlannedPoint(NamedTuple):
    """One point of a sweep."""

    id: str
    setup: Setup
    coordinates: dict[str, Any]
    """Dotted path of each varied lever -> the value shown in tables."""
    baseline: str | None
    """The id of the point that it is compared with."""


class PlannedRun(NamedTuple):
    """One run to do."""

    id: str
    point: PlannedPoint
    seed: int


class Task(NamedTuple):
    """One run to do."""

    id: str
    point: str
    seed: int


def point_id(identity: dict[str, Any], revision: Revision) -> str:
    """Return the name of a setup under one revision of its engine."""
    return digest(canonical({"revision": revision, **identity}))


def run_id(point: str, seed: int) -> str:
    """Return the name of one run of a setup."""
    return digest(f"{point}/{seed}")
