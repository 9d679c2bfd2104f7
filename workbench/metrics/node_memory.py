"""How scattered what is free lies, and what memory is reserved for, as means over time (spec 6, section 7)."""

from __future__ import annotations

from workbench.metrics.measure import Measure
from workbench.metrics.statistics import mean, over
from workbench.records.node import NodeRecord

_OUTSIDE = "that lie outside the longest free run, mean over time"


def memory_declarations() -> list[Measure]:
    """Return the measures of memory."""
    return [
        Measure("fragmentation_shared", "", "lower", f"of a module's free shared memory, the segments {_OUTSIDE}"),
        Measure("fragmentation_registers", "", "lower", f"of a unit's free registers, the blocks {_OUTSIDE}"),
        Measure(
            "fragmentation_cards",
            "",
            "lower",
            f"of a GPU's free frames, those {_OUTSIDE}; NaN where pages are not made of frames",
        ),
        Measure(
            "reserved_over_live",
            "",
            "lower",
            "bytes got from the drivers over bytes that applications have, both as means over time",
        ),
        Measure("live_mean_bytes", "bytes", "neither", "bytes that applications have, as asked for, mean over time"),
        Measure("reserved_mean_bytes", "bytes", "lower", "bytes got from the drivers, mean over time"),
    ]


def memory_measures(record: NodeRecord) -> dict[str, float]:
    """Compute the measures of memory; NaN of a run of no cycles."""
    return {
        "fragmentation_shared": mean(record.shared_scattered),
        "fragmentation_registers": mean(record.registers_scattered),
        "fragmentation_cards": mean(record.frames_scattered),
        "reserved_over_live": over(record.reserved_bytes, record.live_bytes),
        "live_mean_bytes": record.live_bytes,
        "reserved_mean_bytes": record.reserved_bytes,
    }
