"""Two runs of a dispatcher over one axis of time: which group holds which wave slots of which unit, who waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from workbench.dashboards._canvas import CanvasWidget, column, curve, note, script
from workbench.figures.dispatch_timeline import Strips, strips
from workbench.metrics.dispatch_rows import by_start, makespan, running_over_time, waiting_over_time
from workbench.palette import LIGHT
from workbench.records.dispatch import DispatchRecord

MOST_DISPATCHES = 1_500
"""So many dispatches to the modules that are shown are drawn; of a longer run the beginning is."""
MODULE, LEAST, MOST = 44, 120, 360
"""Pixels that a module is high, and the least and the most of a strip."""
FILLS = tuple(f"kinds{k}" for k in range(len(LIGHT.kinds)))
"""Of priorities or channels, as in the figure; where there are more they begin again."""

_LINES = (("waiting groups", waiting_over_time), ("running waves", running_over_time))


class DispatchTimelinePanel(CanvasWidget):
    """Strips and lines; a group under the pointer is marked on both sides, dragging zooms in time."""

    _esm = script("unit_words.js", "time_panels.js")


def dispatch_scene(
    names: Sequence[str],
    records: Sequence[DispatchRecord],
    by: Literal["priority", "channel"],
    modules: tuple[int, int],
) -> dict[str, Any]:
    """Return the data that the browser draws of two runs; the first module is on top, as in the figure."""
    records = [by_start(record) for record in records]
    whole = max(1, *map(makespan, records))
    until = min(whole, *(_drawable(record, modules, whole) for record in records))
    all_strips = [
        strips("", name, record, by, modules, (0, until)) for name, record in zip(names, records, strict=True)
    ]
    slots, units, count = max(one.slots for one in all_strips), records[0].units, modules[1] - modules[0]
    rows = count * units * slots
    kinds = _kinds(records, by)
    return {
        "names": [one.title for one in all_strips],
        "high": min(max(MODULE * count, LEAST), MOST),
        "rows": rows,
        "axis": "module",
        "ticks": [[rows - (k + 0.5) * units * slots, f"{modules[0] + k}"] for k in range(count)],
        "rules": [k * units * slots for k in range(1, count)],
        "fills": [FILLS[k % len(FILLS)] for k in range(len(kinds))],
        "key": [[f"{by} {kind}", fill] for kind, fill in zip(kinds, FILLS, strict=False)] + [["idle", "free"]],
        "until": until,
        "note": note(until, whole),
        "strips": [_strip(one, modules[0], slots, rows, kinds[0]) for one in all_strips],
        "lines": [
            {"label": label, "curves": [curve(series(record), until) for record in records]} for label, series in _LINES
        ],
        "meaning": by,
        "kinds": kinds,
        "units": units,
        "slots": slots,
        "first": modules[0],
    }


def _kinds(records: Sequence[DispatchRecord], by: str) -> list[int]:
    """Return the priorities, from 1, or the channels, from 0, that the colors tell apart."""
    if by == "channel":
        return [*range(records[0].channels)]
    return [*range(1, 1 + max(int(record.level.max(initial=record.levels)) for record in records))]


def _strip(rectangles: Strips, first: int, slots: int, rows: int, least: int) -> dict[str, Any]:
    row = ((rectangles.module - first) * rectangles.units + rectangles.unit) * slots + rectangles.slot
    columns = [
        rectangles.group,
        rectangles.begin,
        rectangles.end,
        rows - row - rectangles.waves,
        rectangles.waves,
        rectangles.kind - least,
    ]
    return {"message": "", "pieces": column(np.concatenate(columns))}


def _drawable(record: DispatchRecord, modules: tuple[int, int], whole: int) -> int:
    """Return the cycle up to which there are few enough dispatches to be drawn."""
    here = record.cycle[(record.module >= modules[0]) & (record.module < modules[1])]
    return int(max(here[MOST_DISPATCHES], 1)) if len(here) > MOST_DISPATCHES else whole
