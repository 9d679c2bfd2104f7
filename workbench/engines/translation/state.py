"""The run of the engine `translation` as arrays: what changes, what does not, and each row's fields by name.

TLBs are numbered: the private ones as their cores, then those of clusters, then those of the middle level, then the
shared one. Their sets lie one behind the other in the same order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.engines.kit import STOP, column, full, numbered, raised, wrong
from workbench.engines.kit import log as log_of
from workbench.policies.translation.eviction.question import ReadyEviction
from workbench.policies.translation.fill import ReadyFill
from workbench.policies.translation.locate import Plan
from workbench.policies.translation.peer import ReadyPeer
from workbench.policies.translation.remote_fill import ReadyRemoteFill
from workbench.records.translation import COLUMNS, EXACT_LATENCIES, MESSAGES, OVER_TIME, SERVED_BY
from workbench.structures.event_queue import EventQueue
from workbench.structures.key_index import KeyIndex, PageNumbers
from workbench.structures.set_assoc import EntrySets
from workbench.structures.timetable import Turns

MIDDLE_COLUMN = OVER_TIME.index("middle")
WINDOWS = 256
"""Windows of time: when they are full, two become one."""
STEPS_AN_OCTAVE = 1024
# Forty octaves above 2**16 end at 2**56, behind the last cycle.
LATENCY_BINS = EXACT_LATENCIES + 40 * STEPS_AN_OCTAVE
KINDS_OF_SERVICE, KINDS_OF_MESSAGE, COLUMNS_OVER_TIME = len(SERVED_BY), len(MESSAGES), len(OVER_TIME)
DIRECTIONS = 4
"""Links that leave a router; a ring uses two of them, a crossbar one, which enters the core."""


class Miss(NamedTuple):
    """A row of `State.misses`."""

    core: int
    page: int
    """Its short number."""
    key: int
    """What its entry is found by."""
    ordinal: int
    """The row of the trace."""
    name: int
    """The page of the trace."""
    since: int
    """The cycle from which its latency counts."""
    place: int
    """Among its core's registers."""
    dead: int
    """The first unmapping of its page since, by number; 0 = none. A walk is as dead as the miss that opened it."""
    tries: int
    """Peers that were asked."""
    in_shared: int
    """Whether the shared TLB held the page when the directory was read."""
    source: int
    """Who answers."""
    queued: int
    """When it came to the walkers."""
    holders: int
    """How many are left to ask."""
    peer: int
    """The one that is asked, -1 = none."""
    joined: int
    """The first access that joined it, -1 = none."""
    last_joined: int
    next: int
    """The next miss that waits for the same walk, -1 = none."""
    last: int
    """Of one that opened a walk: the last that waits for it, at first itself; -1 = it opened none."""
    behind: int
    """The next in the queue of walks, or before it, -1 = none."""
    batch: int
    """Of one whose walk is under way: its number in its batch, 0 = its core walks."""
    begun: int
    """When its walk began, or its wait at the walkers ended; -1 = not yet."""
    read: int
    """When its walk was read, -1 = not yet, or not requested."""
    ended: int
    """When the bytes of its walk have come, as is known from outside; -1 = not yet."""


class Waiting(NamedTuple):
    """A row of `State.parking`."""

    since: int
    """The cycle from which its latency counts."""
    name: int
    """The page of the trace."""
    page: int
    """Its short number."""
    key: int
    """What its entry is found by."""
    ordinal: int
    """The row of the trace."""
    next: int
    """The next that waits, or the next free place."""
    why: int
    """What it waits for."""
    known: int
    """The cycle at which its look-up is done."""
    dead: int
    """Of one that waits for a register: the first unmapping of its page since, by number; 0 = none."""


class Reply(NamedTuple):
    """A row of `State.answers`.

    Its last four fields are equal where no walk has a part in the answer.
    """

    kind: int
    """One of `events.SAYS`."""
    ticket: int
    """Of the access; of a walk, the one that opened it."""
    cycle: int
    what: int
    """Of an access that is issued `events.WAY`, of one that is answered who served it; of a walk, its number."""
    core: int
    tag: int
    queued: int
    """When the access, or the miss that it joined, came to the walkers."""
    begun: int
    """When its walk began, or when it was answered or joined another walk after a wait for a place."""
    read: int
    """When the page tables were read."""
    ended: int
    """When the walk ended."""


OF = numbered(Miss)
WAITING = numbered(Waiting)
REPLY = numbered(Reply)

PARKED, MISS, REPLY_SIZE = len(WAITING), len(OF), len(REPLY)
"""Numbers of a waiting access, of a miss under way, and of an answer."""
HAND = 24
"""Events of misses that wait outside the event queue at most."""

_ENDLESS = "never ends: every candidate stays protected, however often it is asked"


class Faults(NamedTuple):
    """What stops the loop; where rows or space are wanting it goes on when there are more."""

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
    middle_accesses: int
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
    scorings: int
    """Times that a score was taken."""
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
    """Events that are not entered into the event queue, because they are likely to be next."""
    logged: int
    """Rows of the log, also where they found no space."""
    answered: int
    """Answers that wait to be taken."""
    tickets: int
    """Accesses that were asked for from outside."""


COUNT, FAULT = numbered(Counters, after=STOP), numbered(Faults)
COUNTERS = len(STOP) + len(COUNT)


class State(NamedTuple):
    """The arrays of one run; those by page, the event queue and the waiting accesses grow between stretches."""

    tlbs: EntrySets
    """The sets of every TLB."""
    places: KeyIndex
    """The hash table of each TLB, from page to entry; not kept where the table by page says it."""
    records: EntrySets
    """Records of peers' entries in directories of limited capacity, a set a core, by use."""
    event_queue: EventQueue
    """What is due when."""
    numbers: PageNumbers
    """The short number of each page."""
    hops: np.ndarray
    """int64[cores * cores], links between two cores."""
    rings: np.ndarray
    """uint64[cores * (most_hops + 1) * words], the cores that are so many links away from each; empty where they are
    not needed."""
    walk_cache: EntrySets
    """The page-walk cache: one set, LRU."""
    walk_index: KeyIndex
    group_of: np.ndarray
    """int64[cores], the group of each core, which shares a middle TLB; empty where there is no middle level."""
    turns: Turns
    """Where warps wait: when each core issues its next row."""
    active: np.ndarray
    """int64[registers], the miss registers of each core: those in use first."""
    counters: np.ndarray = column(np.int64, COUNTERS)
    """Named by `COUNT`."""
    key_of: np.ndarray = column(np.int64, 0)
    """int64[pages], what the entry of each short number is found by."""
    where: np.ndarray = column(np.int32, 0)
    """int32[pages * TLBs], the entry that holds a page, -1 = none; empty where hash tables say it."""
    walking: np.ndarray = column(np.int32, 0)
    """int32[pages], the miss that opened the walk of a page which waits or is under way, -1 = none."""
    held: np.ndarray = column(np.uint64, 0)
    """uint64[pages * words], which private TLBs hold a page."""
    belief: np.ndarray = column(np.uint64, 0)
    """uint64[pages * cores * words], the same as each core's directory says, its own bit always right."""
    given: np.ndarray = column(np.uint64, 0)
    """uint64[pages * words], cores that the shared TLB's entry was given to, where directories learn from answers."""
    record: np.ndarray = column(np.int32, 0)
    """int32[pages * cores], the place of a record of a peer's entry in a directory of limited capacity, -1 = none."""
    others: np.ndarray = column(np.uint64, "words")
    """The holders that may be asked."""
    push: np.ndarray = column(np.int64, "cores")
    """To be filled by the fill rule."""
    pairs: np.ndarray = column(np.int64, "cores * cores")
    """Entries of each core that its directory says another holds too."""
    shared: np.ndarray = column(np.int64, "cores")
    """Entries of each core that its directory says somebody else holds too."""
    affine: np.ndarray = column(np.uint64, "cores * words")
    """The closely related peers of each core."""
    followers: np.ndarray = column(np.uint64, "cores * words")
    """The cores to which each is closely related."""
    since: np.ndarray = column(np.int64, "cores")
    """Fills since closeness was looked at."""
    ports: np.ndarray = column(np.int64, "cores * 2")
    """Of each private TLB: the cycle whose look-ups are being given out, and how many of it are."""
    banks: np.ndarray = column(np.int64, "banks * 2")
    """The same of the banks of the shared TLB."""
    middle_ports: np.ndarray = column(np.int64, "groups * 2")
    """The same of the middle TLBs."""
    link_free: np.ndarray = column(np.int64, "links")
    """When each link is free again."""
    load: np.ndarray = column(np.int64, "cores")
    """Requests that each core has been sent."""
    misses: np.ndarray = column(np.int64, "registers * miss")
    """What is known of each miss under way, see `lookup.take_register`."""
    hand: np.ndarray = column(np.int64, HAND * 2)
    """Events of misses that are likely to be next, the next one last: see `events.schedule_miss`."""
    left: np.ndarray = column(np.uint64, "registers * words")
    """Of each: the holders that may still be asked; of one that a peer serves, the cores that its answer names."""
    in_use: np.ndarray = column(np.int64, "cores")
    """How many registers of each core are in use."""
    parking: np.ndarray = column(np.int64, 0)
    """int64[places * 9], accesses that wait, see `lookup.park`."""
    halted: np.ndarray = column(np.int64, "cores")
    """1 where a core issues nothing until it is woken."""
    blocked: np.ndarray = column(np.int64, "cores", fill=-1)
    """The access for which a core waits, -1 = none."""
    behind: np.ndarray = column(np.int64, "cores * 2", fill=-1)
    """The first and the last access of each core that waits behind it."""
    acks: np.ndarray = column(np.int64, "cores")
    """Cores that have not yet acknowledged an unmapping of each."""
    warps: np.ndarray = column(np.int64, "cores * warps")
    """When each free warp of a core may issue: a heap a core, the earliest first."""
    warps_free: np.ndarray = column(np.int64, "cores")
    """How many of them are free, or known to become so."""
    next_row: np.ndarray = column(np.int64, "cores", fill=-1)
    """The next row of each core, -1 = not known yet."""
    served: np.ndarray = column(np.int64, "cores * services")
    latency: np.ndarray = column(np.int64, LATENCY_BINS)
    spent: np.ndarray = column(np.int64, "services")
    messages: np.ndarray = column(np.int64, "messages")
    over_time: np.ndarray = column(np.int64, WINDOWS * COLUMNS_OVER_TIME)
    degrees: np.ndarray = column(np.int64, "degrees")
    pair_sums: np.ndarray = column(np.int64, "cores * cores")
    last_used: np.ndarray = column(np.int64, "entries_of_one")
    """Space for the entries that a skimmed stretch uses, the last first, see `fast_path.skim_hits`."""
    is_used: np.ndarray = column(np.int64, "entries_of_one")
    """1 where an entry is among them."""
    dead_counts: np.ndarray = column(np.int64, "dead_counters")
    """Entries of the shared TLB that left unused, by region; none where none is bypassed."""
    bypassed: np.ndarray = column(np.int64, "remembered", fill=-1)
    """The last tags whose entries were not made, the newest last; -1 = none."""
    entry_used: np.ndarray = column(np.int64, "entries_watched")
    """1 where a look-up has found an entry of the shared TLB; by entries of all TLBs."""
    software_free: np.ndarray = column(np.int64, "cores")
    """Walks that each core may begin in software."""
    log: np.ndarray = log_of("logged", COLUMNS)
    answers: np.ndarray = column(np.int64, 0)
    """int64[room * 10]: what is told to who asks, a row of `Reply` each."""
    stalled_until: np.ndarray = column(np.int64, "cores", fill=-(1 << 62))
    """The cycle before which each core issues nothing, because of shoot-downs that somebody else decides."""
    stalled: np.ndarray = column(np.int64, "cores")
    """Cycles of each core's stalls, to the end of the last."""
    holders: np.ndarray = column(np.uint64, "words")
    """Cores of which unmappings found that they hold a page, until they are taken."""
    scores: np.ndarray = column(np.int64, "cores")
    """Pages that each core holds of those that were scored, until they are taken."""
    scored: np.ndarray = column(np.int64, 0)
    """int64[pages], of a part: the number of the scoring in which each page was scored last, 0 = in none."""


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
    groups: int
    """Groups of cores that share a middle TLB; 0 = there is no middle level."""
    middle_sets: int
    """Of each of these TLBs."""
    middle_cycles: int
    middle_ports: int
    middle_shift: int
    """The binary logarithm of the pages that an entry of a middle TLB covers."""
    shared_entries: int
    shared_sets: int
    shared_cycles: int
    shared_shift: int
    """The binary logarithm of the pages that an entry of the shared TLB covers."""
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
    """Neighboring tags of one counter."""
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
    """1 where a directory has space for so many records only."""
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
    """1 where a hit in a private TLB tells at most the eviction policy, and waits for nothing."""
    follows_use: int
    """1 where the eviction policy may read in which order the entries of a private TLB were used."""
    follows_arrival: int
    """1 where it may read in which order they came."""
    hears_hits: int
    """1 where the eviction policy is told of hits."""
    victim_end: int
    """The end of a set's lists at which a private TLB's victim stands (`set_assoc.OLDEST`), so that the policy need not
    be asked; -1 where it must be."""
    shared_evicts_oldest: int
    asks_nearest: int
    """1 where the nearest holder is asked, who is known before the request leaves."""
    reads_ahead: int
    """1 where a directory may be read at an issue, if nothing can change it before its look-up."""
    fills_always: int
    """1 where only the core that misses is filled."""
    keeps_always: int
    """1 where what a peer answers is kept."""
    plain_misses: int
    """1 where a miss is a walk of constant length that fills its core."""
    answers_at_once: int
    """1 where a miss that nothing disturbs may be served in one step, see `frontend`."""


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


class Run(NamedTuple):
    """Everything that a kernel sees."""

    rules: Rules
    policies: Policies
    state: State
    rows: Rows


MESH, RING_NETWORK, CROSSBAR = range(3)
to_int64: Any = np.int64
"""Makes a number of an array of 32 bits one of 64, so that what it is handed to is compiled once."""
LEVEL_BITS = 9
"""Bits of a page number that one level of the page table resolves: 512 entries of 8 bytes in a page of 4 KiB."""
LARGE_BITS = 59
"""The class of a large page stands above so many bits of its tag; that of a page of the machine's size is 0."""
