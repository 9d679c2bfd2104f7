"""What changes during a run of the engine `translation`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.kit import column
from workbench.engines.kit import log as log_of
from workbench.engines.translation.counters import COUNTERS
from workbench.engines.translation.shape import Policies, Rows, Rules
from workbench.engines.translation.under_way import OF, TOLD, WAITING
from workbench.records.translation import COLUMNS, EXACT_LATENCIES, MESSAGES, OVER_TIME, SERVED_BY
from workbench.structures.event_queue import Agenda
from workbench.structures.key_index import KeyIndex, PageNumbers
from workbench.structures.set_assoc import EntrySets
from workbench.structures.timetable import Turns

WINDOWS = 256
"""Windows of time: when they are full, two become one."""
STEPS_AN_OCTAVE = 1024
LATENCY_BINS = EXACT_LATENCIES + 40 * STEPS_AN_OCTAVE
KINDS_OF_SERVICE, KINDS_OF_MESSAGE, COLUMNS_OVER_TIME = len(SERVED_BY), len(MESSAGES), len(OVER_TIME)
DIRECTIONS = 4
"""Links that leave a router; a ring uses two of them, a crossbar one, which enters the core."""

PARKED, MISS, TOLD_SIZE = len(WAITING), len(OF), len(TOLD)
"""Numbers of a waiting access, of a miss under way, and of an answer."""
HAND = 24
"""Events of misses that wait outside the agenda at most."""


class State(NamedTuple):
    """The arrays of one run; those by page, the agenda and the waiting accesses grow between stretches of the loop."""

    tlbs: EntrySets
    """The sets of every TLB."""
    places: KeyIndex
    """The hash table of each TLB, from page to entry; not kept where the table by page says it."""
    records: EntrySets
    """Records of peers' entries in directories of limited room, a set a core, by use."""
    agenda: Agenda
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
    turns: Turns
    """Where warps wait: when each core issues its next row."""
    active: np.ndarray
    """int64[registers], the miss registers of each core: those in use first."""
    counters: np.ndarray = column(np.int64, COUNTERS)
    """Named by `counters.COUNT`."""
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
    """int32[pages * cores], the place of a record of a peer's entry in a directory of limited room, -1 = none."""
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
    link_free: np.ndarray = column(np.int64, "links")
    """When each link is free again."""
    load: np.ndarray = column(np.int64, "cores")
    """Requests that each core has been sent."""
    misses: np.ndarray = column(np.int64, "registers * miss")
    """What is known of each miss under way, see `registers`."""
    hand: np.ndarray = column(np.int64, HAND * 2)
    """Events of misses that are likely to be next, the next one last: see `scheduling`."""
    left: np.ndarray = column(np.uint64, "registers * words")
    """Of each: the holders that may still be asked; of one that a peer serves, the cores that its answer names."""
    in_use: np.ndarray = column(np.int64, "cores")
    """How many registers of each core are in use."""
    parking: np.ndarray = column(np.int64, 0)
    """int64[places * 9], accesses that wait, see `parking`."""
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
    """Room for the entries that a skimmed stretch uses, the last first, see `skimming`."""
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
    """int64[room * 10]: what is told to who asks, a row of `under_way.Told` each."""
    stalled_until: np.ndarray = column(np.int64, "cores", fill=-(1 << 62))
    """The cycle before which each core issues nothing, because of shoot-downs that somebody else decides."""
    stalled: np.ndarray = column(np.int64, "cores")
    """Cycles of each core's stalls, to the end of the last."""
    holders: np.ndarray = column(np.uint64, "words")
    """Cores of which unmappings found that they hold a page, until they are taken."""
    scores: np.ndarray = column(np.int64, "cores")
    """Pages that each core holds of those that were scored, until they are taken."""


class Run(NamedTuple):
    """Everything that a kernel sees."""

    rules: Rules
    policies: Policies
    state: State
    rows: Rows
