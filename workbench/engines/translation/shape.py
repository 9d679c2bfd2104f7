"""What does not change during a run of the engine `translation`: the machine, the levers, the policies.

TLBs are numbered: the private ones as their cores, then those of clusters, then the shared one. Their sets lie one
behind the other in the same order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.policies.translation.eviction.question import ReadyEviction
from workbench.policies.translation.fill import ReadyFill
from workbench.policies.translation.locate import Plan
from workbench.policies.translation.peer import ReadyPeer
from workbench.policies.translation.remote_fill import ReadyRemoteFill

MESH, RING_NETWORK, CROSSBAR = range(3)
to_int64: Any = np.int64
"""Makes a number of an array of 32 bits one of 64, so that what it is handed to is compiled once."""
LEVEL_BITS = 9
"""Bits of a page number that one level of the page table resolves: 512 entries of 8 bytes in a page of 4 KiB."""
LARGE_BITS = 59
"""The class of a large page stands above so many bits of its tag; that of a page of the machine's size is 0."""


class Rules(NamedTuple):
    """The machine and the levers as whole numbers."""

    cores: int
    words: int
    """Words of a bitmap of cores."""
    tlbs: int
    private_entries: int
    private_sets: int
    """Of each core."""
    private_cycles: int
    private_ports: int
    mshrs: int
    clusters: int
    cluster_sets: int
    shared_entries: int
    shared_sets: int
    shared_cycles: int
    banks: int
    bank_ports: int
    walkers: int
    walk_queue: int
    levels: int
    level_cycles: int
    levels_saved: int
    """Levels that walks of large pages do not read, two bits a class of sizes; 0 where no walk saves any."""
    walk_cache: int
    merges: int
    """1 where a request joins a walk of its page."""
    batch_level: int
    """Levels that a walk reads which follows another of its node."""
    batch_most: int
    """Walks of a batch; 1 = walks are served in the order of entry."""
    software_walks: int
    """Walks of a core at a time in software; 0 = cores do not walk."""
    software_start: int
    software_level: int
    dead_threshold: int
    """From which count on an entry of the shared TLB is not made; 0 = each is."""
    dead_region: int
    """Neighbouring tags of one counter."""
    dead_counters: int
    dead_remembered: int
    network: int
    columns: int
    """Of the mesh."""
    hop_cycles: int
    link_cycles: int
    most_hops: int
    """Links between the two cores that are farthest apart."""
    farthest: int
    """Cycles between them."""
    news_rides: int
    """1 where news for directories takes the links."""
    warps: int
    gap_cycles: int
    inclusive: int
    targeted: int
    """1 where an unmapping tells the holders alone."""
    sample_accesses: int
    counts: int
    """1 where somebody reads how many entries cores share."""
    beliefs: int
    """1 where directories may be wrong, so that each has its own bitmaps."""
    finite: int
    """1 where a directory has room for so many records only."""
    dense: int
    """1 where a table by page and TLB says where a page lies, 0 where each TLB has a hash table."""
    keeps_log: int
    keeps_answers: int
    """1 where somebody asks which accesses are answered (specification 6, R2)."""
    keeps_rows: int
    """1 where somebody asks what happens between an issue and its answer, too."""
    walks_wait: int
    """1 where a walk that is read waits until somebody says that its bytes have come (R13)."""
    plain_hits: int
    """1 where a hit in a private TLB tells nobody and waits for nothing."""
    evicts_oldest: int
    """1 where a private TLB evicts its least recently used entry, so that the policy need not be asked."""
    shared_evicts_oldest: int
    asks_nearest: int
    """1 where the nearest holder is asked, who is known before the request leaves."""
    reads_ahead: int
    """1 where a directory may be read at an issue, if nothing can change it before its look-up."""
    fills_always: int
    """1 where the core that misses is filled, nobody else."""
    keeps_always: int
    """1 where what a peer answers is kept."""
    plain_misses: int
    """1 where a miss is a walk of constant length that fills its core, which evicts its least recently used entry."""
    answers_at_once: int
    """1 where a miss that nothing disturbs may be served in one step, see `at_once`."""


class Policies(NamedTuple):
    """The policies, ready to be asked."""

    plan: Plan
    peer: ReadyPeer
    fill: ReadyFill
    remote_fill: ReadyRemoteFill
    eviction: ReadyEviction
    shared_eviction: ReadyEviction


class Rows(NamedTuple):
    """The accesses that are known and not yet issued."""

    cycle: np.ndarray
    core: np.ndarray
    page: np.ndarray
    """int64[rows], the page as the trace names it."""
    key: np.ndarray
    """int64[rows], what an entry is found by: the page, or its group where entries cover several."""
    number: np.ndarray
    """int32[rows], the short number of the key."""
    unmap: np.ndarray
    """bool[rows]."""
    order: np.ndarray
    """int64[rows], the number of the row in the trace; empty where rows follow each other from `first`."""
    following: np.ndarray
    """int64[rows], the core's next row, -1 = not known yet; filled where warps wait."""
    first: int
    """The number of the first row in the trace, where `order` is empty."""
