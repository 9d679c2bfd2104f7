"""Two runs over one axis of time: who holds which segments, how many workgroups wait, how many segments are free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.dashboards.panels.canvas_widget import CanvasWidget, column, script
from workbench.dashboards.panels.curves import curve, note
from workbench.errors import InputError
from workbench.metrics.shared_memory import free_over_time, pieces, queue_over_time
from workbench.records.shared_memory import SharedMemoryRecord, drain_cycle

MOST_GRANTS = 20_000
"""So many grants a run are drawn; of a longer run the beginning is shown."""
HIGH = 140
FILLS = ("#56b4e9", "#0072b2", "#f2d16b", "#c8501e", "#23394a", "#8fbf7f", "#b8a1c9")
"""Workgroups that follow each other differ; the colours mean nothing else."""

_LINES = (("waiting workgroups", queue_over_time), ("free segments", free_over_time))


class TimePanels(CanvasWidget):
    """Strips and lines; a workgroup under the pointer is marked on both sides, dragging zooms in time."""

    _esm = script("segment_words.js", "time_panels.js")

    def show(self, names: Sequence[str], records: Sequence[SharedMemoryRecord]) -> None:
        """Show one run of each side."""
        self.put(time_scene(names, records))


def time_scene(names: Sequence[str], records: Sequence[SharedMemoryRecord]) -> dict[str, Any]:
    """Return what the browser draws of two runs."""
    whole = max(1, *map(drain_cycle, records))
    until = min([whole, *(_drawable(record) for record in records if len(record.grant) > MOST_GRANTS)])
    segments = records[0].segments
    return {
        "names": list(names),
        "high": HIGH,
        "rows": segments,
        "axis": "segment",
        "ticks": [[row, f"{row:,}"] for row in (0, round(segments / 2), segments)],
        "rules": [],
        "fills": FILLS,
        "key": [],
        "until": until,
        "note": note(until, whole),
        "strips": [_strip(record, until) for record in records],
        "lines": [
            {"label": label, "curves": [curve(series(record), until) for record in records]} for label, series in _LINES
        ],
    }


def _strip(record: SharedMemoryRecord, until: int) -> dict[str, Any]:
    try:
        rectangles = pieces(record, until)
    except InputError as why:
        return {"says": str(why), "pieces": b""}
    return {"says": "", "pieces": column(np.concatenate([*rectangles, rectangles.workgroup % len(FILLS)]))}


def _drawable(record: SharedMemoryRecord) -> int:
    """Return the cycle up to which a long run has few enough grants to be drawn."""
    return int(max(np.partition(record.grant, MOST_GRANTS)[MOST_GRANTS], 1))
