"""The arrays of a run of the engine `dispatch`: what stays (shape, columns, rules, policies) and what changes (state).

Resources are numbered in the machine's order: those of units first (0 to `of_unit` - 1), then those of modules. Each
contiguous resource of a unit, and each of a module, has a free map of its own, a row of one array.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import Answers
from workbench.engines.kit import STOP, column, log, numbered, raised, stuck, wrong
from workbench.policies.dispatch.priority import ReadyPriority
from workbench.policies.dispatch.selection.question import ReadySelection
from workbench.policies.dispatch.stuck import ReadyStuck
from workbench.policies.dispatch.units import ReadyUnits
from workbench.policies.placement.question import ReadyPlacement
from workbench.structures.timetable import Timetable

to_int64: Any = np.int64
"""For a routine is compiled once more for each other type of whole number that it is given, a plain 0 among them."""
EVERY = 1 << 62
OWN = -1
"""The unit of a module's own resource."""


class Shape(NamedTuple):
    """The machine."""

    modules: int
    units: int
    of_unit: int
    """How many resources are of units."""
    blocks: np.ndarray
    """int64[resources], blocks of a unit or of a module."""
    first_map: np.ndarray
    """int64[resources], the row of the first free map of each contiguous resource; -1 for a countable one."""
    words: np.ndarray
    """int64[resources], words of a free map."""
    scattered: np.ndarray
    """bool[resources], whether a grant may be any free blocks."""
    own_placement: np.ndarray
    """bool[resources], whether the resource is served by the placement policy of shared memory."""
    remembers: np.ndarray
    """int64[resources], slots of memory that the placement policy keeps of each free map."""
    footprint: np.ndarray
    """int64[resources, most blocks + 2], blocks that a request of each size takes; the last size, one more than any
    resource has, and those above a resource's own take more than any report says."""
    totals: np.ndarray
    """int64[resources], blocks of each resource in a module, all units together."""
    places: int
    """Of a module: each resource of each unit, and those of its own."""
    ranges: np.ndarray
    """int64[ranges, 2], unit (OWN = the module's own) and resource of each free map of a module, in the order in which
    groups take them."""


class Columns(NamedTuple):
    """The groups, one row a group, and their channels."""

    arrival: np.ndarray
    channel: np.ndarray
    priority: np.ndarray
    waves: np.ndarray
    independent: np.ndarray
    duration: np.ndarray
    demand: np.ndarray
    """int64[groups, resources]: blocks a wave of a unit's resource, blocks a group of a module's."""
    instructions: np.ndarray
    """int64[groups, 6], or no rows where nobody asks for them."""
    rates: np.ndarray
    """int64[groups, 6], instructions a cycle in units of 2**-20, or no rows."""
    following: np.ndarray
    """int32[groups], the group behind each in its channel, -1 = none."""
    first: np.ndarray
    """int64[channels], the first group of each channel, -1 = none."""


class Rules(NamedTuple):
    """The levers as whole numbers."""

    channels: int
    levels: int
    offers: int
    """How many groups of a channel may be put forward: the head and the look-ahead."""
    round_cycles: int
    dispatches_a_round: int
    fail_init: int
    a_block_a_wave: int
    """1 where each wave of a unit gets a range of its own, 0 where a unit's waves share one."""
    sums_first: int
    """1 where no report can promise more than is free, so that sums of free blocks may be looked at first."""
    may_refuse: int
    """1 where a placement may refuse what a report promised, so that what it remembers is compared."""
    most_tries: int
    """Refusals at allocation in a row, while all modules are empty, after which a group counts as waiting for ever."""
    tie: int
    """LOWEST, RANDOM or ROTATING."""
    history: int
    """1 where the recent past of modules is counted."""
    heat_cycles: int
    """Cycles of a step of the thermal model, 0 = no heat."""
    events: int
    """1 where what every dispatch has taken is counted and logged."""
    ends_on_request: int = 0
    """1 where a group that was granted stays until its end is asked, 0 where it ends after its duration."""
    keeps_answers: int = 0
    """1 where grants and ends are kept for whoever asked."""
    tells_all: int = 0
    """1 where verdicts, splits and failed rounds are kept, too."""
    most_answers: int = EVERY
    """Answers that may wait when another event is taken."""
    asks_pages: int = 0
    """1 where a term of the choice reads pages and somebody may know of them."""
    forgets: int = 0
    """1 where nothing is kept of what has ended, so that a dispatch has the number of its slot."""
    entered: int = 0
    """1 where the past of modules is what others enter; then the groups' own instructions are not counted."""
    one_label: int = 0
    """1 where selections see priority 1 of every group that is not below all (spec 3, E3)."""
    skips: int = 1
    """0 where every cycle is looked at and every round played, so that tests may see what skipping changes: nothing."""


LOWEST, RANDOM, ROTATING = 0, 1, 2


class Turns(NamedTuple):
    """When a probe that serves several resources in turn looks at each; without one `periods` is 0."""

    periods: int
    cycles_a_period: int
    forget: int
    period: np.ndarray
    """int64[resources], -1 where the report is always fresh."""


class Terms(NamedTuple):
    """The scores of modules that are summed."""

    answers: Answers
    chosen: Answers
    """The same of those that are told which module was taken."""
    weights: np.ndarray
    params: np.ndarray
    """float64[terms, most parameters]."""
    sizes: np.ndarray
    """int64[terms, 2]: parameters and slots of memory of each term."""
    history: np.ndarray
    """int64[terms], cycles of the sliding window, 0 = none."""
    halving: np.ndarray
    """int64[terms], cycles between halvings, 0 = none."""
    classes: np.ndarray
    """int64[terms], numbers a module that each reads of the recent past."""
    held: Answers
    """The same of those that are told of pages."""
    holder: Answers
    """Who is asked for pages: a routine and the tuple that it runs on; 0 where nobody is."""


class Warmth(NamedTuple):
    """The thermal model in steps: heat becomes a @ heat + b @ power."""

    a: np.ndarray
    b: np.ndarray
    joules: np.ndarray
    """float64[8], energy of an instruction of each class, and of a cycle of each wait."""
    idle_watts: float
    seconds: float
    """Of a step."""


class Probes(NamedTuple):
    """The probe of each resource."""

    answers: Answers
    """0 in place of an answer where nothing is probed."""
    params: np.ndarray
    """float64[resources, most parameters]."""
    sizes: np.ndarray
    """int64[resources], parameters of each."""


class Policies(NamedTuple):
    """The policies, ready to be asked."""

    probes: Probes
    placement: ReadyPlacement
    shared_placement: ReadyPlacement
    priority: ReadyPriority
    selection: ReadySelection
    stuck: ReadyStuck
    units: ReadyUnits
    terms: Terms
    turns: Turns
    warmth: Warmth


class Counters(NamedTuple):
    """Where a run stands, and what it has counted."""

    dispatches: int
    parts: int
    """Sub-groups."""
    rounds: int
    failed: int
    """Rounds in which nothing was dispatched."""
    head_rounds: int
    """Rounds times the heads that waited in them."""
    over_promised: int
    fragmented: int
    searches: int
    pieces: int
    fails: int
    """Failed rounds in a row, as the policy for stuck groups counts them: up to one more than its threshold."""
    waiting: int
    """Channels with a head."""
    next_arrival: int
    unrenewed: int
    """Whether a report is late."""
    renewed_until: int
    last_module: int
    generator: int
    """The state of the random numbers of a tie."""
    splits: int
    takes: int
    failures: int
    """Rows of the log of failed rounds."""
    running: int
    changed: int
    """Modules that changed since verdicts were renewed."""
    vacant: int
    """Whether a channel may put something forward."""
    heated_until: int
    moved: int
    """Modules whose placement has remembered something else since it refused."""
    of_waves: int
    """Waves of the group that was shared out last."""
    begun: int
    """Whether the reports of empty modules have been made."""
    now: int
    """The present cycle: that of the last event, but for ends of compute."""
    look: int
    """The next cycle at which the channels are looked at, `NEVER` = when something is asked or released."""
    looked: int
    """Whether the round of the present cycle is over, or there was none to play."""
    stale: int
    """Whether something has changed since the last round that may let another group go."""
    came_to: int
    """What the last round came to."""
    orders: int
    """Looks in a row that changed nothing while all modules were empty."""
    tries: int
    """Refusals at allocation in a row while all modules were empty."""
    answered: int
    """Answers that nobody has taken yet."""
    verdicts: int
    """Verdicts among them."""
    failing: int
    """Failed rounds in a row, all of them."""
    span_free: int
    """The first free row of `span`, -1 = none."""


class Faults(NamedTuple):
    """What stops a run."""

    none: int
    probe_raised: int = raised("probe")
    probe_wrong: int = wrong("probe")
    priority_raised: int = raised("priority")
    selection_raised: int = raised("selection")
    selection_wrong: int = wrong("selection")
    stuck_raised: int = raised("stuck")
    stuck_wrong: int = wrong("stuck")
    units_raised: int = raised("units")
    units_wrong: int = wrong(
        "units",
        "shared out {given} waves over the units of module {answer} as {counts}: the counts must be {waves} in all and "
        "none below 0",
    )
    choice_raised: int = raised("choice")
    choice_wrong: int = wrong("choice")
    pages_raised: int = stuck("who was asked for the pages that modules hold raised at cycle {cycle}.")
    placement_raised: int = raised("placement")
    placement_wrong: int = wrong("placement")
    shared_placement_raised: int = raised("shared_placement")
    shared_placement_wrong: int = wrong("shared_placement")
    starved: int = stuck(
        "{waiting} channels wait for ever at cycle {cycle} although all modules are empty: one of {chosen} refuses "
        "what would fit{often}.",
        starved=True,
    )


COUNT, FAULT = numbered(Counters, after=STOP), numbered(Faults)
NONE = -1


class State(NamedTuple):
    """What changes during a run."""

    due: Timetable
    """The releases to come; each entry carries a slot."""
    free: np.ndarray
    """uint64[maps, most words], the free maps."""
    memory: np.ndarray
    """int64[maps, most slots], what the placement policies remember of each map."""
    free_count: np.ndarray
    """int64[resources, modules * units], free blocks of each unit (or of each module, in the first columns)."""
    total: np.ndarray
    """int64[modules * resources], free blocks of each module, summed over its units, row by row."""
    upcoming: np.ndarray
    """int64[channels], the next entry of each channel that has not been offered, -1 = none."""
    slot_link: np.ndarray
    """int64[slots + 1], the free slots as a list; the last entry is its head."""
    term_memory: np.ndarray
    """int64[terms, most slots]."""
    counters: np.ndarray = column(np.int64, len(STOP) + len(COUNT))
    # Modules
    owner: np.ndarray = column(np.int32, "owned", "most_blocks", fill=NONE)
    """The slot that holds each block of a scattered resource; no rows without one."""
    fresh: np.ndarray = column(np.int64, "maps")
    """What the probe says of each map as it is."""
    report: np.ndarray = column(np.int64, "maps")
    """What has been reported of it."""
    has: np.ndarray = column(np.int64, "modules", "places")
    """The longest run that is reported of each place, or its free amount."""
    longest: np.ndarray = column(np.int64, "modules * resources")
    """The least of them of each resource over the units, row by row."""
    resident: np.ndarray = column(np.int64, "modules", "units")
    """Waves that run."""
    pointer: np.ndarray = column(np.int64, "modules")
    """Of the units policy."""
    # Channels
    offered: np.ndarray = column(np.int64, "channels")
    """How many of its offers are there."""
    offer: np.ndarray = column(np.int64, "offers", fill=NONE)
    """The entries put forward: a group, or groups + part for a sub-group."""
    fits: np.ndarray = column(np.uint64, "offers", "words")
    """The modules that each offer fits."""
    fitting: np.ndarray = column(np.int64, "offers")
    """How many they are."""
    enough: np.ndarray = column(np.uint64, "offers", "words")
    """The modules with enough free blocks in total."""
    enoughs: np.ndarray = column(np.int64, "offers")
    """How many they are."""
    banned: np.ndarray = column(np.uint64, "offers", "words")
    """The modules that refused it at allocation and have not changed since."""
    is_new: np.ndarray = column(np.bool_, "offers")
    """Offers that have not been judged yet."""
    needs: np.ndarray = column(np.int64, "offers", "resources")
    """What each offer takes of a module in all."""
    required: np.ndarray = column(np.int64, "offers * pointers", "places")
    """What each offer asks of the places of modules with each pointer from 0 to units - 1, and of the module that was
    judged last."""
    is_written: np.ndarray = column(np.bool_, "offers * pointers")
    """Which of these rows are written."""
    changed: np.ndarray = column(np.int64, "modules")
    """The modules that changed since verdicts were renewed."""
    is_changed: np.ndarray = column(np.bool_, "modules")
    moved: np.ndarray = column(np.bool_, "modules")
    """Where a placement refused and has remembered something else since: it may grant now."""
    part: np.ndarray = column(np.int64, "parts", 6)
    """Group, waves, level, divided, entry behind it, its first wave; one row a sub-group."""
    last: np.ndarray = column(np.int64, "channels", fill=NONE)
    """Of a part: the last entry that has not been offered, where there is one."""
    unasked: np.ndarray = column(np.int64, "channels")
    """Of a part: the groups of each channel that may still be asked for."""
    # Dispatches, one row each
    group: np.ndarray = column(np.int32, "dispatches")
    cycle: np.ndarray = column(np.int64, "dispatches")
    module: np.ndarray = column(np.int32, "dispatches")
    sent: np.ndarray = column(np.int32, "dispatches", "units")
    level: np.ndarray = column(np.int32, "dispatches")
    shared_out: np.ndarray = column(np.bool_, "dispatches")
    refused: np.ndarray = column(np.int64, "groups")
    """Rounds in which each stood at its channel's head and fitted no module."""
    slot_dispatch: np.ndarray = column(np.int64, "slots", 2)
    """The dispatch that runs in each slot, and its entry."""
    held: np.ndarray = column(np.int64, "slots", "held")
    """The first block of every range that a running group holds."""
    slot_of: np.ndarray = column(np.int64, "undecided", fill=NONE)
    """The slot of each dispatch whose end has not been asked; no rows where ends are known."""
    answers: np.ndarray = column(np.int64, "answers", 7)
    """Of a part: the events that it tells (`channels.tell`); no rows for a whole run."""
    verdicts: np.ndarray = column(np.int64, "verdicts", "modules")
    """Of a part: the pages that each module was said to hold, one row a verdict."""
    pages: np.ndarray = column(np.int64, "modules")
    """Of a part: where whoever is asked for pages writes them."""
    length: np.ndarray = column(np.int64, "slots", "ranges")
    """The blocks of a range that it holds of each map; waves may hold one each."""
    # The past of modules
    rate: np.ndarray = column(np.int64, "past", 6)
    """Instructions a cycle now, in 2**-20."""
    issued: np.ndarray = column(np.int64, "past", 6)
    """Instructions before `issued_at`."""
    issued_at: np.ndarray = column(np.int64, "past")
    event_next: np.ndarray = column(np.int32, "changes")
    """The change of rate after each in its module: 2 d is the start of dispatch d, 2 d + 1 its end."""
    event_last: np.ndarray = column(np.int64, "past", fill=NONE)
    old_rate: np.ndarray = column(np.int64, "terms", "past", 6)
    """The rates at the far end of each term's window."""
    old_issued: np.ndarray = column(np.int64, "terms", "past", 6)
    old_at: np.ndarray = column(np.int64, "terms", "past")
    old_event: np.ndarray = column(np.int64, "terms", "past", fill=NONE)
    """The first change that lies within the window, -1 = none."""
    decayed: np.ndarray = column(np.int64, "terms", "past", 6)
    """Counters that are halved."""
    decayed_at: np.ndarray = column(np.int64, "terms", "past")
    span: np.ndarray = column(np.int64, "spans", 12)
    """Of a part: what was entered of the past: begin, end, row before and behind it, and how much of each class."""
    span_ends: np.ndarray = column(np.int64, 2, "entering", fill=NONE)
    """The first and the last span of each module, in the order in which they begin."""
    reader_first: np.ndarray = column(np.int64, "readers", "entering", fill=NONE)
    """Of each reader of a module's past: the first span that had not ended when it was read last."""
    reader_at: np.ndarray = column(np.int64, "readers", "entering")
    """When it was read last."""
    reader_ended: np.ndarray = column(np.int64, "readers", "entering", 8)
    """What the spans before the first of these came to."""
    reader_reported: np.ndarray = column(np.int64, "readers", "entering", 8)
    """What it was told last."""
    span_halved: np.ndarray = column(np.int64, "terms", "entering", 8)
    """Counters that are halved, in 2**-20."""
    heat: np.ndarray = column(np.float64, "modules")
    """Degrees above the ambient."""
    heat_issued: np.ndarray = column(np.int64, "past", 6)
    """Instructions before the last thermal step."""
    # Scratch
    counts: np.ndarray = column(np.int64, "units")
    before: np.ndarray = column(np.int64, "ranges", "memory")
    """What the placements remembered before a module was asked."""
    need: np.ndarray = column(np.int64, "resources")
    """What a whole entry takes of a module."""
    entry: np.ndarray = column(np.int64, 7, "channels")
    """Offer, then channel, priority, rank, fits, waited, waves."""
    candidates: np.ndarray = column(np.int64, "modules")
    recent: np.ndarray = column(np.float64, 2, "modules * classes")
    """Nothing, for terms without history, and what the others may know."""
    scores: np.ndarray = column(np.float64, 2, "modules")
    """Of one term, and the sum."""
    warm: np.ndarray = column(np.float64, 2, "modules")
    """Power, and heat after a step."""
    # Logs
    splits: np.ndarray = column(np.int64, "splits", 3)
    takes: np.ndarray = log("takes", 5)
    failures: np.ndarray = log("failures", 2)


class Play(NamedTuple):
    """What the compiled loop is given: one run from its first cycle to its last."""

    shape: Shape
    columns: Columns
    rules: Rules
    policies: Policies
    state: State
