"""The counters of a run of the engine `translation`, and what stops it, by name."""

from __future__ import annotations

from typing import NamedTuple

from workbench.engines.kit import STOP, full, numbered, raised, wrong

_ENDLESS = "never ends: every candidate stays protected, however often it is asked"


class Faults(NamedTuple):
    """What stops the loop; where rows or room are wanting it goes on when there are more."""

    none: int
    needs_rows: int = full("rows")
    needs_room: int = full("room")
    peer_raised: int = raised("peer")
    no_peer: int = wrong("peer")
    fill_raised: int = raised("fill")
    no_push: int = wrong("fill")
    remote_raised: int = raised("remote_fill")
    eviction_raised: int = raised("eviction")
    no_victim: int = wrong("eviction")
    endless_eviction: int = wrong("eviction", _ENDLESS)
    shared_eviction_raised: int = raised("shared_eviction")
    no_shared_victim: int = wrong("shared_eviction")
    endless_shared_eviction: int = wrong("shared_eviction", _ENDLESS)


class Counters(NamedTuple):
    """Whole numbers of a run, in `State.counters`."""

    now: int
    """The present cycle: nothing that is still to happen is earlier."""
    row: int
    """The next row of the piece, where rows are issued in the order of the trace."""
    served: int
    started: int
    first_cycle: int
    last_cycle: int
    stream_cycle: int
    """The cycle of the last row that is known."""
    last_start: int
    """The latest cycle at which an access could first have been issued."""
    ended: int
    """1 where no more rows will come."""
    shared_accesses: int
    walks: int
    walk_levels: int
    software_begun: int
    """Of these, the walks that cores walk, and the levels that those read."""
    software_levels: int
    walk_queued: int
    walks_joined: int
    fills: int
    evictions: int
    refused_fills: int
    bypassed_entries: int
    """Entries of the shared TLB that were not made, because they were predicted dead."""
    pushes: int
    pushes_used: int
    pushes_unused: int
    remote: int
    stale: int
    noc_queued: int
    noc_trips: int
    port_wait: int
    mshr_wait: int
    mshr_stalls: int
    """Misses that found no register free."""
    queued_latency: int
    """Cycles that requests which a walk served had waited for its start."""
    shootdowns: int
    shot_down: int
    window_bits: int
    samples: int
    next_sample: int
    under_way: int
    """Misses under way."""
    parked: int
    """Accesses that wait: for their core, for a port or a register, or joined to a miss."""
    parked_free: int
    """The head of the list of free places for them."""
    walkers_free: int
    queue_head: int
    """The first and the last walk that wait for a walker, and how many do."""
    queue_tail: int
    queue_length: int
    backlog_head: int
    """The first and the last request that wait for a place in that queue."""
    backlog_tail: int
    in_hand: int
    """Events that are not entered into the agenda, because they are likely to be next."""
    logged: int
    """Rows of the log, also where they found no room."""
    answered: int
    """Answers that wait to be taken."""
    asked: int
    """Accesses that were asked for from outside."""


COUNT, FAULT = numbered(Counters, after=STOP), numbered(Faults)
COUNTERS = len(STOP) + len(COUNT)
