"""A trace as it was read: kernels, allocations, cards, what they add up to, and what a workload lacks in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench.workloads.allocations import AllocationTable
from workbench.workloads.allocator_log import AllocatorLog
from workbench.workloads.kernels import MISSING, KernelTable

_CURES = {
    "workgroups": ("grid", "kernels launched one by one have it, those replayed from a graph may not"),
    "shared_bytes": (
        "shared memory",
        "a Kineto trace of an NVIDIA card has it as `shared memory`, a rocprofv3 JSON as `group_segment_size`, a "
        "rocprofiler-compute CSV as `LDS_Per_Workgroup`",
    ),
    "threads": ("workgroup size", "kernels launched one by one have it, those replayed from a graph may not"),
    "vgprs": (
        "registers",
        "a Kineto trace of an NVIDIA card has them as `registers per thread`, a rocprofv3 JSON as `arch_vgpr_count`, a "
        "rocprofiler-compute CSV as `Arch_VGPR`",
    ),
}


class Card(NamedTuple):
    """A GPU as the trace describes it; what the trace does not say is None. A unit is one CU or SM."""

    number: int
    """As the kernels' `device` column counts."""
    name: str
    architecture: str | None = None
    compute_units: int | None = None
    wave_size: int | None = None
    simds_a_unit: int | None = None
    waves_a_unit: int | None = None
    threads_a_unit: int | None = None
    registers_a_unit: int | None = None
    shared_memory_bytes: int | None = None
    """Of a unit."""
    workgroup_shared_bytes: int | None = None
    """Most that a workgroup gets without asking for more."""
    memory_bytes: int | None = None


class Trace(NamedTuple):
    """One trace, read."""

    path: Path
    format: str
    """The name of the importer that read it."""
    counted: str
    """What the format calls a row of `kernels`: kernels or dispatches; empty for a format that records memory alone."""
    kernels: KernelTable
    allocations: AllocationTable | None = None
    """None when the trace holds no memory events."""
    cards: tuple[Card, ...] = ()
    noted: Mapping[str, Any] = {}
    """Further facts of the format, in plain types."""
    logs: tuple[AllocatorLog, ...] = ()
    """What PyTorch's allocator of each card did, of a memory snapshot."""

    def facts(self) -> dict[str, Any]:
        """Return the summary of the trace in plain types: counts, sums and maxima, those that the format has.

        A fact that the trace cannot tell is left out, and `missing` says why; nothing stands as zero instead.
        """
        kernels = _kernel_facts(self.counted, self.kernels) if self.counted else {}
        result: dict[str, Any] = {"format": self.format, **kernels, **self.noted}
        if self.allocations is not None:
            result |= self.allocations.facts()
        if self.cards:
            result["cards"] = len(self.cards)
            result["card_names"] = sorted({card.name for card in self.cards})
        return {**result, "missing": self.missing()}

    def missing(self, needed: Sequence[str] = ("workgroups", "shared_bytes")) -> list[str]:
        """Return a clause for each thing that a workload needs and the trace lacks: what, in how many rows, what has
        it.

        Parameters
        ----------
        needed : names of columns
            What is needed of every launch: `workgroups`, `shared_bytes`, `threads`, `vgprs`.
        """
        rows, word = self.kernels.rows, self.counted
        if not word:
            return [f"it holds no kernels ({self.format} records memory alone)"]
        if not rows:
            return [f"it holds no {word} (record the GPU's activity as well)"]
        clauses = []
        for field in needed:
            what, cure = _CURES[field]
            lacking = self.kernels.lacking(field)
            if lacking:
                clauses.append(f"{lacking} of {rows} {word} have no {what} ({cure}{self._by_lever(field)})")
        if not self.kernels.duration_ns.any():
            clauses.append(f"all {word} last 0 ns (the time stamps were rounded; take a trace in nanoseconds)")
        return clauses

    def _by_lever(self, field: str) -> str:
        """Return the lever for a value that stands elsewhere in the trace instead of in a column; empty where there is
        none."""
        launched, either = self.kernels.launch_shared_bytes, self.kernels.either_workgroups
        if field == "shared_bytes" and launched is not None:
            there = int(np.count_nonzero(launched != MISSING))
            return (
                f"; the launches of {there} tell the dynamic part alone, without the static one, which "
                "`shared_bytes: launch_argument` takes"
            )
        if field == "workgroups" and either is not None:
            unsaid = int(np.count_nonzero(either[:, 0] != MISSING))
            return (
                f"; {unsaid} have one of which the file does not say whether it counts workgroups or work-items: say "
                "`grids: workgroups` or `grids: work_items`"
            )
        return ""


_FEW_CARDS = 64


def _streams(device: np.ndarray, stream: np.ndarray) -> int:
    """Return the number of streams, each of its card; by card, as ten million pairs are slow to sort."""
    cards = np.unique(device)
    if len(cards) > _FEW_CARDS:
        return len(np.unique(np.stack([device, stream]), axis=1).T)
    return sum(len(np.unique(stream[device == card])) for card in cards)


def _kernel_facts(counted: str, table: KernelTable) -> dict[str, Any]:
    facts: dict[str, Any] = {
        counted: table.rows,
        "unique_names": len(table.unique_names),
        "total_duration_ns": int(table.duration_ns.sum()),
        "devices": len(np.unique(table.device)),
        "device_numbers": np.unique(table.device).tolist(),
    }
    if table.stream is not None:
        facts["streams"] = _streams(table.device, table.stream)
    if not table.rows:
        return facts
    facts["zero_durations"] = int(np.count_nonzero(table.duration_ns == 0))
    facts["span_ns"] = int((table.start_ns + table.duration_ns).max()) - int(table.start_ns.min())
    if table.shared_bytes is not None:
        facts["max_shared_bytes"] = int(table.shared_bytes.max())
        facts[f"{counted}_with_shared_memory"] = int(np.count_nonzero(table.shared_bytes > 0))
    if table.workgroups is not None:
        facts["workgroups"] = int(table.workgroups[table.workgroups >= 0].sum())
        facts[f"{counted}_with_grid"] = table.rows - table.lacking("workgroups")
    if table.threads is not None:
        facts["max_threads"] = int(table.threads.max())
    if table.vgprs is not None:
        facts["max_registers"] = int(table.vgprs.max())
    return facts


class KernelList(Trace):
    """A trace without starts: kernels follow one another in the order of the list, without a gap."""

    def facts(self) -> dict[str, Any]:
        """Return the facts of a trace without those that need starts."""
        result = super().facts()
        result.pop("span_ns", None)
        if not self.kernels.duration_ns.any():
            for name in ("total_duration_ns", "zero_durations"):
                result.pop(name, None)
        return result

    def missing(self, needed: Sequence[str] = ("workgroups", "shared_bytes")) -> list[str]:
        """Return a clause for each thing that a workload needs and the list lacks."""
        messages = [clause for clause in super().missing(needed) if " last 0 ns " not in clause]
        if self.kernels.rows and not self.kernels.duration_ns.any():
            messages.append(f"it holds no times ({self.noted.get('times_from', 'record a trace as well')})")
        return messages
