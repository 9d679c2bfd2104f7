"""The total order of events: `(cycle, phase, number)`, the same in every run of a setup and a seed.

Of two events the one with the earlier cycle comes first; in one cycle the one with the lower phase; in one phase the
one with the lower number of what it happens to. Each engine names its phases once, in this order:

| engine | phases of a cycle | number within a phase |
| --- | --- | --- |
| `shared_memory` | releases, grants (the other way round by its lever) | releases as entered, grants as queued |
| `dispatch` | releases, then reports, arrivals and the round | releases as entered, the others by map, channel |
| `malloc` | sections end, requests come, sections start | arena; requests as they were called |
| `pool` | none: one request after another, as the service takes them | row; of those who wait as the lever says |

A tournament or a heap that compares one number takes `moment(cycle, phase)`. Where several engines share a clock the
phase is a `RANK`, the same for all.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.compiled import kernel
from workbench.engines.kit.names import numbered

PHASES = 16
"""Phases of a cycle, at most: four bits."""


class Ranks(NamedTuple):
    """What happens at equal cycles where several mechanisms share a clock, in this order (spec 6, R3)."""

    ends_of_compute: int
    releases: int
    """Of workgroups."""
    frees: int
    """And unmappings."""
    shoot_downs: int
    pool_answers: int
    link_ends: int
    translation_answers: int
    """And fills."""
    malloc_answers: int
    arrivals: int
    """Of applications and kernels, and ends of steps."""
    pool_requests: int
    translation_requests: int
    malloc_requests: int
    rounds: int
    """Of dispatch."""


RANK = numbered(Ranks)


@kernel
def moment(cycle: int, phase: int) -> int:
    """Return a cycle and a phase as one number to be compared."""
    return cycle * PHASES + phase


@kernel
def cycle_of(moment: int) -> int:
    """Return the cycle of a moment."""
    return moment >> 4


@kernel
def phase_of(moment: int) -> int:
    """Return the phase of a moment."""
    return moment & 15
