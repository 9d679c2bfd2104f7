"""What changes during a run of the engine `translation`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.translation.shape import Policies, Rows, Rules
from workbench.records.translation import EXACT_LATENCIES, MESSAGES, OVER_TIME, SERVED_BY
from workbench.structures.calendar import Calendar
from workbench.structures.entry_sets import EntrySets
from workbench.structures.key_index import KeyIndex

WINDOWS = 256
"""Windows of time: when they are full, two become one."""
STEPS_AN_OCTAVE = 1024
LATENCY_BINS = EXACT_LATENCIES + 40 * STEPS_AN_OCTAVE

FINE, NEEDS_ROWS, NEEDS_ROOM, PEER_RAISED, NO_PEER, FILL_RAISED, NO_PUSH, REMOTE_RAISED, EVICTION_RAISED, NO_VICTIM, \
    ENDLESS_EVICTION = range(11)  # fmt: skip
"""How a stretch of the loop ended."""

COUNTERS = (
    "STATUS", "AT_CYCLE", "AT_CORE", "ANSWER", "SHARED_TLB",
    "ROW", "SERVED", "STARTED", "FIRST_CYCLE", "LAST_CYCLE", "STREAM_CYCLE",
    "SHARED_ACCESSES", "WALKS", "WALK_LEVELS", "WALK_QUEUED", "WALKS_JOINED",
    "FILLS", "EVICTIONS", "REFUSED_FILLS", "PUSHES", "PUSHES_USED", "PUSHES_UNUSED",
    "REMOTE", "STALE", "NOC_QUEUED", "NOC_TRIPS", "PORT_WAIT", "MSHR_WAIT", "SHOOTDOWNS", "SHOT_DOWN",
    "WINDOW_BITS", "SAMPLES", "NEXT_SAMPLE", "PENDING_HEAD", "PENDING", "LOGGED", "NEWS",
)  # fmt: skip
(
    STATUS, AT_CYCLE, AT_CORE, ANSWER, SHARED_TLB,
    ROW, SERVED, STARTED, FIRST_CYCLE, LAST_CYCLE, STREAM_CYCLE,
    SHARED_ACCESSES, WALKS, WALK_LEVELS, WALK_QUEUED, WALKS_JOINED,
    FILLS, EVICTIONS, REFUSED_FILLS, PUSHES, PUSHES_USED, PUSHES_UNUSED,
    REMOTE, STALE, NOC_QUEUED, NOC_TRIPS, PORT_WAIT, MSHR_WAIT, SHOOTDOWNS, SHOT_DOWN,
    WINDOW_BITS, SAMPLES, NEXT_SAMPLE, PENDING_HEAD, PENDING, LOGGED, NEWS,
) = range(len(COUNTERS))  # fmt: skip


class State(NamedTuple):
    """The arrays of one run; those by page grow between stretches of the loop."""

    counters: np.ndarray
    """int64[], named by the constants above."""
    tlbs: EntrySets
    """The sets of every TLB."""
    key_of: np.ndarray
    """int64[pages], what the entry of each short number is found by."""
    where: np.ndarray
    """int32[pages * TLBs], the entry that holds a page, -1 = none; empty where hash tables say it."""
    places: KeyIndex
    """The hash table of each TLB, from page to entry; not kept where the table by page says it."""
    held: np.ndarray
    """uint64[pages * words], which private TLBs hold a page."""
    belief: np.ndarray
    """uint64[pages * cores * words], the same as each core's directory says, its own bit always right."""
    given: np.ndarray
    """uint64[pages * words], cores that the shared TLB's entry was given to, where directories learn from answers."""
    record: np.ndarray
    """int32[pages * cores], the place of a record of a peer's entry in a directory of limited room, -1 = none."""
    records: EntrySets
    """These records, a set a core, by use."""
    others: np.ndarray
    """uint64[words], the holders that may be asked."""
    push: np.ndarray
    """int64[cores], to be filled by the fill rule."""
    pairs: np.ndarray
    """int64[cores * cores], entries of each core that its directory says another holds too."""
    shared: np.ndarray
    """int64[cores], entries of each core that its directory says somebody else holds too."""
    affine: np.ndarray
    """uint64[cores * words], the closely related peers of each core."""
    followers: np.ndarray
    """uint64[cores * words], the cores to which each is closely related."""
    since: np.ndarray
    """int64[cores], fills since closeness was looked at."""
    pending: np.ndarray
    """int64[room * 4]: news for directories under way: cycle, page, core, whether it came or went."""
    ports: Calendar
    banks: Calendar
    links: Calendar
    hops: np.ndarray
    """int64[cores * cores]."""
    load: np.ndarray
    """int64[cores], requests that each core has been sent."""
    walker_free: np.ndarray
    """int64[walkers], when each has done its last walk."""
    walk_starts: np.ndarray
    """int64[queue], the starts of the latest walks, in a circle."""
    walk_cache: EntrySets
    """The page-walk cache: one set, LRU."""
    walk_index: KeyIndex
    missing: np.ndarray
    """int64[cores * registers], when each miss under way is done."""
    awaited: np.ndarray
    """int64[cores * registers], the page of each, which other accesses of the core join (spec 4, E14)."""
    last_done: np.ndarray
    """int64[cores], when the last miss of each so far is done."""
    under_way: np.ndarray
    """int64[cores], how many of these are in use."""
    stall: np.ndarray
    """int64[cores], until when a core starts nothing."""
    warps: np.ndarray
    """int64[cores * warps], when each warp is free: a heap a core, the earliest first."""
    turn: np.ndarray
    """int64[cores * 2]: a heap of cores: cycle of the next issue, core."""
    next_row: np.ndarray
    """int64[cores], the next row of each, -1 = not known yet."""
    served: np.ndarray
    """int64[cores * 5]."""
    latency: np.ndarray
    """int64[bins]."""
    spent: np.ndarray
    """int64[5]."""
    messages: np.ndarray
    """int64[5]."""
    over_time: np.ndarray
    """int64[WINDOWS * 8]."""
    degrees: np.ndarray
    """int64[cores + 1]."""
    pair_sums: np.ndarray
    """int64[cores * cores]."""
    log: np.ndarray
    """int64[room * 7]."""


class Run(NamedTuple):
    """Everything that a kernel sees."""

    rules: Rules
    policies: Policies
    state: State
    rows: Rows


KINDS_OF_SERVICE, KINDS_OF_MESSAGE, COLUMNS_OVER_TIME = len(SERVED_BY), len(MESSAGES), len(OVER_TIME)
