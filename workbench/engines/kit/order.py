"""The total order of events: `(cycle, phase, number)`, the same in every run of a setup and a seed.

Of two events the one with the earlier cycle comes first; in one cycle the one with the lower phase; in one phase the
one with the lower number of what it happens to. Each engine names its phases once, in this order:

| engine | phases of a cycle | number within a phase |
| --- | --- | --- |
| `shared_memory` | releases, grants (the other way round by its lever) | releases as entered, grants as queued |
| `dispatch` | releases, reports, arrivals, the round | releases as entered, the others by map, channel |
| `malloc` | sections end, requests come, sections start | arena; requests as they were called |
| `pool` | none: one request after another, as the service takes them | row; of those who wait as the lever says |

A tournament or a heap that compares one number takes `moment(cycle, phase)`.
"""

from __future__ import annotations

from workbench.compiled import kernel

PHASES = 4
"""Phases of a cycle, at most: two bits."""


@kernel
def moment(cycle: int, phase: int) -> int:
    """Return a cycle and a phase as one number to be compared."""
    return cycle * PHASES + phase


@kernel
def cycle_of(moment: int) -> int:
    """Return the cycle of a moment."""
    return moment >> 2


@kernel
def phase_of(moment: int) -> int:
    """Return the phase of a moment."""
    return moment & 3
