"""Runs that are simulated again when a figure asks for their records, and counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.errors import WorkbenchError
from workbench.experiments.plan import Plan, PlannedPoint
from workbench.experiments.row import Row
from workbench.experiments.run_set import RunSet


class NotSimulatedError(WorkbenchError):
    """A figure asks for the record of a run, which is not to be simulated."""


class Replayed(RunSet):
    """The runs of a bundle; `simulated` counts the runs that figures asked for."""

    def __init__(self, plan: Plan, rows: Iterable[Row], allowed: bool) -> None:
        super().__init__(plan, rows)
        self.simulated = 0
        self._allowed = allowed

    def record(self, run: str, events: bool = False) -> Any:
        """Return the record of a run, simulated here and now."""
        self._count()
        return super().record(run, events)

    def records(self, point: PlannedPoint, most: int | None = None) -> list[Any]:
        """Return the records of a point's finished runs, simulated here and now."""
        self._count(0)
        result = super().records(point, most)
        self._count(len(result))
        return result

    def _count(self, more: int = 1) -> None:
        if not self._allowed:
            raise NotSimulatedError("it shows what happened in runs, which were not simulated (--no-figures)")
        self.simulated += more
