"""A point of a plan: a setup by name, with what tables show of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from workbench.engines.engine import Setup


class PlannedPoint(NamedTuple):
    """One point of a sweep."""

    id: str
    setup: Setup
    coordinates: dict[str, Any]
    """Dotted path of each varied lever -> the value shown in tables."""
    baseline: str | None
    """The id of the point that it is compared with."""
