"""The dashboard `shared_memory`: two placement policies on the same queues."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.dashboards.opening import NothingToChoose, Opening
from workbench.dashboards.paired_dashboard import PairedDashboard
from workbench.dashboards.paired_runs import PairedRuns
from workbench.dashboards.panels.time_panels import TimePanels
from workbench.experiments.run_set import RunSet
from workbench.machine import Machine
from workbench.records.shared_memory import SharedMemoryRecord


def shared_memory_dashboard() -> PairedDashboard:
    """Make the dashboard that opens with the source document's own question."""
    return PairedDashboard(OPENING, SharedMemoryPanels())


class SharedMemoryPanels:
    """The layout of the memory over time, with who waits and what is free."""

    def __init__(self) -> None:
        self.time = TimePanels()
        self.widgets = [self.time]

    def show_seed(self, names: Sequence[str], records: Sequence[SharedMemoryRecord], view: NothingToChoose) -> None:
        self.time.show(names, records)

    def show_runs(self, runs: PairedRuns, run_set: RunSet, view: NothingToChoose) -> None:
        """Show all runs in the histogram and the table."""


def segments_note(machine: Machine) -> str:
    """Return how much shared memory a unit has.

    >>> segments_note(Machine(segments=3, granule_bytes=128))
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


OPENING = Opening(
    engine="shared_memory",
    title="Shared memory: where does a workgroup go?",
    seen=(
        "Two placement policies serve the same queue of workgroups, side by side: the memory over time at "
        "one seed, and above it how many cycles sooner the queue has drained, at all seeds."
    ),
    machine={"preset": "patent"},
    machine_levers=("segments",),
    machine_note=segments_note,
    regime="large_uniform",
    length=300,
    baseline={"placement": "first_fit"},
    other={"placement": "nearest_boundary"},
    compared=("placement",),
    options={},
    seeds=20,
    measure="drain_cycles",
    view=NothingToChoose,
    first=("machine.segments", "workload.*.count", "workload.*.size", "policy.*.threshold"),
)
"""Requests up to half of the memory, on the machine that is the default of every sweep: the document's figures."""
