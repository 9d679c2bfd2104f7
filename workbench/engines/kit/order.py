"""The total order of events: `(cycle, rank, number)`, the same in every run of a setup and a seed.

Of two events the one with the earlier cycle comes first; in one cycle the one with the lower rank; in one rank the one
with the lower number of what it happens to. Ranks are those of spec 6, R3; each engine uses a few of them:

| engine | ranks of a cycle | number within a rank |
| --- | --- | --- |
| `shared_memory` | releases, grants (the other way round by its lever) | releases as entered, grants as queued |
| `dispatch` | releases, then reports, arrivals and the round | releases as entered, the others by map, channel |
| `malloc` | returns, sections end, requests come, sections start | block; arena; requests as they were called; arena |
| `translation` | ends of walks, answers and news, requests, issues | core, then page, then access as asked for |
| `pool` | none: one request after another, as the service takes them | row; of those who wait as the lever says |

A tournament or a heap that compares one number takes `moment(cycle, rank)`.

Shares of a whole are whole numbers too, for routines by address return nothing else.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.compiled import inlined, kernel
from workbench.engines.kit.faults import numbered

RANKS = 32
"""Ranks of a cycle, at most: five bits."""
# With five bits of rank a moment stays below 2^61, and so below `NEVER`, 2^62.
LAST_CYCLE = (1 << 56) - 1
"""The last cycle of which there are moments."""


class Ranks(NamedTuple):
    """The order of events of one cycle (spec 6, R3)."""

    ends_of_compute: int
    releases: int
    frees: int
    """And unmappings."""
    shoot_downs: int
    pool_answers: int
    transfers: int
    """Ends of link transfers."""
    walk_ends: int
    """The page tables are read; of a page on another card, once the bytes of its walk have come."""
    translation_answers: int
    """And fills, and the arrival of data."""
    malloc_answers: int
    steps: int
    """Ends of steps, arrivals of applications and kernels."""
    pool_requests: int
    translation_requests: int
    """Arrivals at directories, other cores, the shared TLB and the walkers."""
    touches: int
    """They enter the queues of their modules."""
    issues: int
    """A core issues the first access of its queue."""
    malloc_requests: int
    services: int
    """What a part decides when all requests of the cycle are there: a lock is taken, a wait has lasted too long."""
    rounds: int
    """Dispatch rounds."""


RANK = numbered(Ranks)


@kernel
def moment(cycle: int, rank: int) -> int:
    """Return a cycle and a rank as one number to be compared."""
    return cycle * RANKS + rank


@kernel
def cycle_of(moment: int) -> int:
    """Return the cycle of a moment."""
    return moment >> 5


@kernel
def rank_of(moment: int) -> int:
    """Return the rank of a moment."""
    return moment & 31


WHOLE_SHARE = 1 << 32
"""A share of 1."""


@inlined
def share(part: int, whole: int) -> int:
    """Return part over whole in parts of `WHOLE_SHARE`, rounded down; 0 of nothing.

    >>> share(1, 4) / WHOLE_SHARE, share(0, 0)
    (0.25, 0)
    """
    return part * WHOLE_SHARE // whole if whole > 0 else 0
