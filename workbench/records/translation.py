"""The record of a run of address translation, in totals that stay small however long the trace is, and its event log.

A trace of a hundred million accesses leaves no row an access: latencies are counted by their length, everything else by
core, by kind or by window of time. Single accesses are kept only where events are asked for: access, fill, push, evict,
invalidate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SERVED_BY = ("private", "merged", "peer", "shared", "walk", "middle")
"""Where a translation may come from: the core's own TLB; a miss of its own that was under way; another core's TLB
(or that of a cluster); the shared TLB; the page table. The last is the middle TLB of the core's group."""
WITHOUT_MIDDLE = 5
"""Columns by `SERVED_BY` of the record of a machine without middle level: all but the last."""
MESSAGES = ("request", "answer", "push", "update", "shootdown")
"""What travels between cores: questions to peers, their answers, copies, news for directories, invalidations."""
OVER_TIME = (*SERVED_BY[:WITHOUT_MIDDLE], "messages", "noc_queue_cycles", "walk_queue_cycles", "middle")
"""What is counted by window of time; without middle level all but the last."""
EXACT_LATENCIES = 1 << 16
"""Latencies below are counted cycle by cycle; longer ones in 1,024 steps an octave, below 0.1 percent."""


class TranslationRecord(NamedTuple):
    """One run of the engine `translation`."""

    cores: int
    private_entries: int
    shared_entries: int
    page_bytes: int
    """Bytes that an entry covers."""
    clock_mhz: float
    network: str
    """The topology between cores: mesh, ring or crossbar."""
    first_cycle: int
    """The cycle of the first issue."""
    last_cycle: int
    """The cycle at which the last translation is known."""
    served: np.ndarray
    """int64[cores, 5], accesses of each core by `SERVED_BY`; int64[cores, 6] where there is a middle level."""
    latency_cycles: np.ndarray
    """int64[lengths], from an access's issue to its translation, each length that occurred, increasing; exact below
    `EXACT_LATENCIES`, above it the least of its step."""
    latency_counts: np.ndarray
    """int64[lengths], accesses of each."""
    latency_sums: np.ndarray
    """int64[5 or 6], cycles of all accesses by `SERVED_BY`, exact."""
    shared_accesses: int
    """Requests at the shared TLB; one that the walkers' full queue sends back looks again and counts once."""
    walks: int
    walk_levels: int
    """Levels of the page table that all walks read."""
    walk_queue_cycles: int
    """Cycles that walks waited for a walker, from their requests' first arrival, outside a full queue too."""
    walks_joined: int
    """Requests that joined a walk of their page which waited or was under way, whoever had asked for it."""
    fills: int
    """Entries that came into private TLBs, pushed ones included."""
    evictions: int
    """Entries that left private TLBs to make space."""
    refused_fills: int
    """Translations from the shared TLB or the walker that the fill rule kept out of the requester's TLB."""
    bypassed_entries: int
    """Entries of the shared TLB that were not made, because they were predicted dead (`bypass: dead_entries`)."""
    pushes: int
    """Copies put into peers' TLBs unasked."""
    pushes_used: int
    """Of these, those that were accessed at least once before they left."""
    pushes_unused: int
    """Of these, those that left, to make space, without having been accessed."""
    remote_requests: int
    """Questions to peers."""
    stale: int
    """Of these, those that were answered in the negative."""
    messages: np.ndarray
    """int64[5], messages between cores by `MESSAGES`."""
    noc_queue_cycles: int
    """Cycles that messages waited for links."""
    noc_trips: int
    """Journeys of messages that take links: all, but news where that rides free."""
    port_wait_cycles: int
    """Cycles that cores' own look-ups waited for a port of their TLB."""
    mshr_wait_cycles: int
    """Cycles that misses waited for a miss-status register."""
    shootdowns: int
    """Unmappings."""
    shot_down: int
    """Entries of private TLBs that these, and an inclusive shared TLB, took away."""
    window_cycles: int
    """The length of a window of time; windows begin at `first_cycle`."""
    over_time: np.ndarray
    """int64[windows, 8 or 9], by window of the issue and `OVER_TIME`."""
    samples: int
    """How often the private TLBs were looked at."""
    degrees: np.ndarray
    """int64[cores + 1], entries of private TLBs by how many cores hold their page, summed over the samples."""
    pairs: np.ndarray
    """int64[cores, cores], pages that two cores both hold, summed over the samples; 0 on the diagonal. The affinity
    of cores, which a dispatcher may use."""
    last_start: int
    """The latest cycle at which an access could first have been issued; unmappings are none."""
    walk_queue_latency: int
    """Cycles from the first arrival at the walkers to the walk's start, or to joining it under way, of all that walks
    served."""
    mshr_stalls: int
    """Misses that found no miss-status register free."""
    walkers: int
    walk_cycles: int
    """Cycles that walkers walked, all together."""
    log: np.ndarray
    """int64[events, 7]: cycle, kind, core, page, served by (or -1), peer (or -1), latency (or -1); empty unless events
    were asked for."""
    middle_accesses: int | None = None
    """Requests at middle TLBs; None where there is no middle level."""


def accesses(record: TranslationRecord) -> int:
    """Return the number of accesses.

    Each is served exactly once.
    """
    return int(record.served.sum())


def served_counts(record: TranslationRecord) -> dict[str, int]:
    """Return the accesses of all cores by `SERVED_BY`; no middle TLB serves any where there is none."""
    counts = record.served.sum(axis=0).tolist()
    return dict(zip(SERVED_BY, [*counts, 0][: len(SERVED_BY)], strict=True))


def affinity(record: TranslationRecord) -> np.ndarray:
    """Return the mean number of pages that two cores hold at the same time: float64[cores, cores], for a dispatcher."""
    return np.asarray(record.pairs / max(record.samples, 1))


KINDS = ("access", "fill", "push", "evict", "invalidate")
ACCESS, FILL, PUSH, EVICT, INVALIDATE = range(5)
COLUMNS = 7
"""Of a row of the record's log: cycle, kind, core, page, served by, peer, latency."""


def events(record: TranslationRecord) -> dict[str, np.ndarray]:
    """Return every event by its cycle, as columns; at equal cycles in the order in which they became known.

    The cycle of an access is the one from which its latency counts: at which it could first have been issued. An entry
    comes and goes at the cycle at which it does so: a fill stands at the answer's, not at the miss's.

    Returns
    -------
    dict of arrays
        cycle, serial (0, 1, 2, ...), kind, core, page. Of an access also served_by (one of `SERVED_BY`),
        peer (which core helped, -1 = none) and latency in cycles; of a push, peer is the core that caused it.
        What does not belong to a kind is -1, or an empty name. fill, push, evict and invalidate are those of private
        TLBs.
    """
    order = np.argsort(record.log[:, 0], kind="stable")
    cycle, kind, core, page, served, peer, latency = record.log[order].T
    return {
        "cycle": cycle,
        "serial": np.arange(len(cycle)),
        "kind": np.array(KINDS)[kind],
        "core": core,
        "page": page,
        "served_by": np.array([*SERVED_BY, ""])[served],
        "peer": peer,
        "latency": latency,
    }
