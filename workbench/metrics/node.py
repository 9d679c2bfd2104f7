"""The measures of a whole node (spec 6, section 7).

Means over time run from cycle 0 to the makespan. A measure that is not defined for a run (power that was not
simulated, slowdown without runs alone) is NaN. So are the times of a run in which an application was refused memory,
which has done less: of such a run the table holds what was done, and what was not.
"""

from __future__ import annotations

import math

from workbench.metrics.measure import Measure, declared
from workbench.metrics.node_applications import (
    application_declarations,
    application_measures,
    slowdown_declarations,
    slowdowns,
)
from workbench.metrics.node_memory import memory_declarations, memory_measures
from workbench.metrics.node_power import power_declarations, power_measures
from workbench.metrics.node_times import time_declarations, time_measures
from workbench.metrics.node_translation import translation_declarations, translation_measures
from workbench.metrics.statistics import over
from workbench.records.node import NodeRecord
from workbench.units import seconds

REFUSED = "applications_refused"
_TIMES = (
    Measure("makespan_cycles", "cycles", "lower", "the last end of a step"),
    Measure("groups_per_mcycle", "groups / Mcycle", "higher", "groups that ended, over the makespan"),
    Measure("groups_per_second", "groups / s", "higher", "groups that ended, over the makespan at the cards' clock"),
    Measure("steps_per_second", "steps / s", "higher", "steps that ended, over the makespan at the cards' clock"),
    *time_declarations(),
    *slowdown_declarations(),
)
MEASURES = declared(
    *(one._replace(refusals=REFUSED) for one in _TIMES),
    Measure("groups_ended", "groups", "higher", "groups that ended"),
    Measure("groups_cancelled", "groups", "lower", "groups of refused applications that were queued"),
    Measure("kernels_refused", "kernels", "lower", "kernels of refused applications that were never put forward"),
    Measure("groups_refused", "groups", "lower", "groups of these kernels: planned = put forward + refused"),
    *application_declarations(),
    *memory_declarations(),
    *translation_declarations(),
    Measure("remote_share", "", "lower", "simulated touches of pages on other cards, of all"),
    Measure("shoot_downs", "", "lower", "frees and moves whose pages modules are told of"),
    Measure("stalled_modules", "modules", "lower", "modules that shoot-downs went to, each once a shoot-down"),
    Measure("malloc_nulls", "requests", "lower", "requests to device heaps that got nothing"),
    Measure("heap_chunks", "chunks", "lower", "chunks that device heaps asked the pool for"),
    *power_declarations(),
)
"""Every measure by name."""


def measure(record: NodeRecord) -> dict[str, float]:
    """Compute every measure of a run."""
    counts, times = record.counts, {**_pace(record), **time_measures(record), **slowdowns(record)}
    return {
        **(dict.fromkeys(times, math.nan) if record.refused.any() else times),
        "groups_ended": float(counts["groups_ended"]),
        "groups_cancelled": float(counts["groups_cancelled"]),
        "kernels_refused": float(counts["kernels_refused"]),
        "groups_refused": float(counts["groups_refused"]),
        **application_measures(record),
        **memory_measures(record),
        **translation_measures(record),
        "remote_share": over(counts["remote_touches"], counts["touches"]),
        "shoot_downs": float(counts["shoot_downs"]),
        "stalled_modules": float(counts["stalled_modules"]),
        "malloc_nulls": float(counts["nulls"]),
        "heap_chunks": float(counts["chunks"]),
        **power_measures(record),
    }


def _pace(record: NodeRecord) -> dict[str, float]:
    counts, lasted = record.counts, seconds(record.makespan, record.clock_mhz)
    return {
        "makespan_cycles": float(record.makespan),
        "groups_per_mcycle": over(1e6 * counts["groups_ended"], record.makespan),
        "groups_per_second": over(counts["groups_ended"], lasted),
        "steps_per_second": over(counts["steps"], lasted),
    }
