"""The dashboard `shared_memory`: two placement policies on the same queues.

Its panels are two runs over one axis of time: who holds which segments, how many workgroups wait, how many segments are
free.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.dashboards._canvas import CanvasWidget, column, curve, note, script
from workbench.dashboards._dashboard_config import DashboardConfig, NoViewLevers
from workbench.dashboards._paired_dashboard import PairedDashboard
from workbench.dashboards.paired_runs import Notes, PairedRuns
from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.figures.size_steps import STEPS, SizeSteps, size_steps
from workbench.machine import Machine
from workbench.metrics.shared_memory import free_over_time, pieces, queue_over_time
from workbench.records.shared_memory import SharedMemoryRecord, drain_cycle


def segments_line(machine: Machine) -> str:
    """Return the bytes of a unit's shared memory.

    >>> segments_line(Machine(segments=3, granule_bytes=128))
    '3 segments of 128 B: 384 B a unit'
    """
    return f"{machine.segments:,} segments of {machine.granule_bytes:,} B: {size(machine)} a unit"


def size(machine: Machine) -> str:
    """Return the shared memory of a unit in KiB, or in bytes where it is no whole number of them.

    >>> size(Machine()), size(Machine(segments=3, granule_bytes=128))
    ('64 KiB', '384 B')
    """
    whole, rest = divmod(machine.shared_memory_bytes, 1024)
    return f"{machine.shared_memory_bytes:,} B" if rest else f"{whole:,} KiB"


CONFIG = DashboardConfig(
    engine="shared_memory",
    title="Shared memory: where does a workgroup go?",
    summary=(
        "Two placement policies serve the same queue of workgroups, side by side: the memory over time at "
        "one seed, and above it how many cycles sooner the queue has drained, at all seeds."
    ),
    machine={"preset": "patent"},
    machine_levers=("segments",),
    machine_summary=segments_line,
    regime="large_uniform",
    length=300,
    baseline={"placement": "first_fit"},
    other={"placement": "nearest_boundary"},
    compared=("placement",),
    options={},
    seeds=20,
    measure="drain_cycles",
    view=NoViewLevers,
    first=("machine.segments", "workload.*.count", "workload.*.size", "policy.*.threshold"),
)
"""Requests up to half of the memory, on the machine that is the default of every sweep: the document's figures."""

MOST_GRANTS = 20_000
"""So many grants a run are drawn; of a longer run the beginning is shown."""
HIGH = 140

_LINES = (("waiting workgroups", queue_over_time), ("free segments", free_over_time))


def shared_memory_dashboard() -> PairedDashboard:
    """Make the dashboard that opens with the source document's own question."""
    return PairedDashboard(CONFIG, SharedMemoryPanels())


class SharedMemoryPanels:
    """The layout of the memory over time, with who waits and what is free."""

    notes: Notes = {}

    def __init__(self) -> None:
        self.time = TimePanels()
        self.widgets = [self.time]

    def show_seed(self, names: Sequence[str], records: Sequence[SharedMemoryRecord], view: NoViewLevers) -> None:
        self.time.put(time_scene(names, records))

    def show_runs(self, runs: PairedRuns, run_set: Results, view: NoViewLevers) -> None:
        """Show all runs in the histogram and the table."""


class TimePanels(CanvasWidget):
    """Strips and lines; a workgroup under the pointer is marked on both sides, dragging zooms in time."""

    _esm = script("segment_words.js", "time_panels.js")


def time_scene(names: Sequence[str], records: Sequence[SharedMemoryRecord]) -> dict[str, Any]:
    """Return the data that the browser draws of two runs."""
    whole = max(1, *map(drain_cycle, records))
    until = min([whole, *(_drawable(record) for record in records if len(record.grant) > MOST_GRANTS)])
    segments = records[0].segments
    steps = size_steps(record.length for record in records)
    names_and_colors = zip(steps.names("segments"), steps.colors(), strict=True)
    return {
        "names": list(names),
        "high": HIGH,
        "rows": segments,
        "axis": "segment",
        "ticks": [[row, f"{row:,}"] for row in (0, round(segments / 2), segments)],
        "rules": [],
        "fills": [f"sizes{k}" for k in range(STEPS)],
        "key": [*([name, f"sizes{color}"] for name, color in names_and_colors), ["free", "free"]],
        "until": until,
        "note": note(until, whole),
        "strips": [_strip(record, until, steps) for record in records],
        "lines": [
            {"label": label, "curves": [curve(series(record), until) for record in records]} for label, series in _LINES
        ],
    }


def _strip(record: SharedMemoryRecord, until: int, steps: SizeSteps) -> dict[str, Any]:
    try:
        rectangles = pieces(record, until)
    except InputError as why:
        return {"message": str(why), "pieces": b""}
    return {
        "message": "",
        "pieces": column(np.concatenate([*rectangles, steps.of(record.length[rectangles.workgroup])])),
    }


def _drawable(record: SharedMemoryRecord) -> int:
    """Return the cycle up to which a long run has few enough grants to be drawn."""
    return int(max(np.partition(record.grant, MOST_GRANTS)[MOST_GRANTS], 1))
