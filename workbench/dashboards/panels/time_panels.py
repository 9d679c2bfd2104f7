"""Two runs over one axis of time: who holds which segments, how many workgroups wait, how many segments are free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.dashboards.panels.canvas_widget import CanvasWidget, column, script
from workbench.errors import InputError
from workbench.metrics.shared_memory_pieces import pieces
from workbench.metrics.shared_memory_series import free_over_time, queue_over_time
from workbench.metrics.steps import Steps
from workbench.records.shared_memory import SharedMemoryRecord, drain_cycle

MOST_GRANTS = 20_000
"""So many grants a run are drawn; of a longer run the beginning is shown."""
MOST_PLACES = 4_000
"""A line with more changes than this is sampled at so many cycles."""

_LINES = (("waiting workgroups", queue_over_time), ("free segments", free_over_time))


class TimePanels(CanvasWidget):
    """Strips and lines; a workgroup under the pointer is marked under both policies, dragging zooms in time."""

    _esm = script("time_panels.js")

    def show(self, names: Sequence[str], records: Sequence[SharedMemoryRecord]) -> None:
        """Show one run of each policy."""
        self.put(time_scene(names, records))


def time_scene(names: Sequence[str], records: Sequence[SharedMemoryRecord]) -> dict[str, Any]:
    """What the browser draws of two runs."""
    whole = max(1, *map(drain_cycle, records))
    until = min([whole, *(_drawable(record) for record in records if len(record.grant) > MOST_GRANTS)])
    return {
        "names": list(names),
        "segments": records[0].segments,
        "until": until,
        "note": "" if until == whole else f", the first {until:,} of {whole:,}",
        "strips": [_strip(record, until) for record in records],
        "lines": [
            {"label": label, "curves": [_curve(series(record), until) for record in records]}
            for label, series in _LINES
        ],
    }


def sampled(steps: Steps, until: int) -> tuple[np.ndarray, np.ndarray]:
    """The cycles from 0 to a last one at which a step function takes a value, and the values.

    >>> sampled(Steps(before=4, cycle=np.array([2, 5]), value=np.array([1, 3])), 9)
    (array([0, 2, 5, 9]), array([4, 1, 3, 3]))
    """
    changes = steps.cycle[: np.searchsorted(steps.cycle, until)]
    if len(changes) > MOST_PLACES:
        changes = np.linspace(0, until, MOST_PLACES).astype(np.int64)
    places = np.unique(np.concatenate([[0], changes, [until]]))
    return places, steps.at(places)


def _strip(record: SharedMemoryRecord, until: int) -> dict[str, Any]:
    try:
        found = pieces(record, until)
    except InputError as why:
        return {"says": str(why), "pieces": b""}
    return {"says": "", "pieces": column(np.concatenate(found))}


def _curve(steps: Steps, until: int) -> dict[str, bytes]:
    cycle, value = sampled(steps, until)
    return {"cycle": column(cycle), "value": column(value)}


def _drawable(record: SharedMemoryRecord) -> int:
    """The cycle up to which a long run has few enough grants to be drawn."""
    return int(max(np.partition(record.grant, MOST_GRANTS)[MOST_GRANTS], 1))
