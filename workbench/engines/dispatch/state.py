"""What changes during a run of the engine `dispatch`: its counters, faults and arrays, and the play of them all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.dispatch.setting import Columns, Policies, Rules, Shape, to_int64
from workbench.engines.kit import STOP, column, log, numbered, raised, stuck, wrong
from workbench.structures.timetable import NEVER, Timetable


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
    """Answers that are not taken yet."""
    verdicts: int
    """Verdicts among them."""
    failing: int
    """Failed rounds in a row, all of them."""
    span_free: int
    """The first free row of `span`, -1 = none."""
    memory: int
    """Whose memory the module choice has now: 0 = that of all dies, d + 1 = that of die d (spec 7, E8)."""
    open_rank: int
    """The first kernel in order of arrival that another one may have to wait for."""
    unended: int
    """Waves that have not ended, but for those of endless groups."""
    next_end: int
    """The next cycle at which a group ends that shares a rate, `NEVER` = none does."""
    unpaced: int
    """Modules whose rate is to be renewed."""
    paces: int
    """Rows of `pace_at`."""
    placed: int
    """Groups of a cluster that is tried which have been placed."""
    over: int
    """Whether none are left, so that nothing starts any more."""
    retry: int
    """The next cycle at which the first one of a queue that a placement refused is tried again, `NEVER` = none is."""


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
    die_raised: int = raised("die")
    die_wrong: int = wrong("die")
    admission_raised: int = raised("admission")
    admission_wrong: int = wrong("admission")
    starved: int = stuck(
        "{waiting} channels wait for ever at cycle {cycle} although all modules are empty: one of {chosen} refuses "
        "what would fit{often}.",
        starved=True,
    )


COUNT, FAULT = numbered(Counters, after=STOP), numbered(Faults)
NONE = -1
NO_OFFER = NO_ROW = to_int64(NONE)
ANY, NO_DIE = -1, -2
"""Instead of the die that an offer waits for: none, for all compete; none, for it was told to wait."""


class BetweenState(NamedTuple):
    """What changes during a run of what stands between queue and unit (spec 7); no rows where nothing does."""

    waits_for: np.ndarray = column(np.int64, "asked", fill=ANY)
    """The die that each offer was told, ANY where all compete or it was not asked, NO_DIE where it waits for none."""
    start: np.ndarray = column(np.int64, "lives", fill=NONE)
    """When each dispatch took its resources."""
    begin: np.ndarray = column(np.int64, "lives", fill=NONE)
    """When its duration began: once its barrier had passed."""
    end: np.ndarray = column(np.int64, "lives", fill=NONE)
    entry_of: np.ndarray = column(np.int64, "lives", fill=NONE)
    """The entry of each dispatch."""
    held_by: np.ndarray = column(np.int64, "residents", "channels")
    """Groups of each channel that are resident in each module, those in its queue among them."""
    holds: np.ndarray = column(np.int64, "channels", "residents")
    """The same, a row a channel."""
    groups_in: np.ndarray = column(np.int64, "residents")
    """How many they are of each module."""
    modules_held: np.ndarray = column(np.int64, "channels")
    """In how many modules each channel has groups."""
    module_first: np.ndarray = column(np.int64, "residents", fill=NONE)
    """The first slot of each module's list."""
    slot_behind: np.ndarray = column(np.int64, "slots_listed", fill=NONE)
    slot_before: np.ndarray = column(np.int64, "slots_listed", fill=NONE)
    slot_barrier: np.ndarray = column(np.int64, "slots_listed", fill=NONE)
    """The next slot that waits at the same barrier."""
    barrier_left: np.ndarray = column(np.int64, "barriers")
    """Waves of the groups that name each barrier and have not started."""
    barrier_first: np.ndarray = column(np.int64, "barriers", fill=NONE)
    barrier_last: np.ndarray = column(np.int64, "barriers", fill=NONE)
    kernel_left: np.ndarray = column(np.int64, "kernels")
    """Waves of each kernel, in order of arrival, that a later kernel has to wait for."""
    sent_of: np.ndarray = column(np.int64, "numbered")
    """Groups that were dispatched of each channel, then of all; a cluster counts once."""
    given_number: np.ndarray = column(np.int64, "numbered_groups", 2, fill=NONE)
    """Of a group that was dispatched: its number in its channel and in all, which its later sub-groups keep."""
    queued: np.ndarray = column(np.int64, "queues")
    """Dispatches in each module's queue."""
    queue: np.ndarray = column(np.int64, "queues", "depth")
    """Their numbers, the first one first."""
    try_at: np.ndarray = column(np.int64, "queues")
    """The cycle before which no first one of each queue is tried, as a placement refused it; `NEVER` = until the module
    changes."""
    # Shared rates
    work_left: np.ndarray = column(np.int64, "paced_slots")
    """Of each group that runs, in 2^-20 cycles."""
    slot_end: np.ndarray = column(np.int64, "paced_slots", fill=NONE)
    """When it ends if nothing changes."""
    pace: np.ndarray = column(np.int64, "paced_modules")
    """The rate of each resident of a module, in 2^-20."""
    paced_at: np.ndarray = column(np.int64, "paced_modules")
    """When it changed last."""
    unpaced: np.ndarray = column(np.int64, "paced_modules")
    """The modules whose rate is to be renewed."""
    is_unpaced: np.ndarray = column(np.bool_, "paced_modules")
    module_end: np.ndarray = column(np.int64, "ends", fill=NEVER)
    """A tournament of the earliest ends of modules."""
    new_rate: np.ndarray = column(np.int64, 6)
    pace_at: np.ndarray = column(np.int64, "paces")
    """When what a module executes a cycle changed, a row a change; a list a module, as of `event_next`."""
    pace_rate: np.ndarray = column(np.int64, "paces", 6)
    """What it executes from then on, in 2^-20."""
    # Of a cluster that is tried
    member_entry: np.ndarray = column(np.int64, "members")
    member_module: np.ndarray = column(np.int64, "members")
    member_slot: np.ndarray = column(np.int64, "members")
    member_counts: np.ndarray = column(np.int64, "members", "units")
    kept_memory: np.ndarray = column(np.int64, "maps * tried", "memory")
    kept_terms: np.ndarray = column(np.int64, "memories * terms * tried", "term_slots")
    kept_reports: np.ndarray = column(np.int64, 2, "maps * tried")
    kept_last: np.ndarray = column(np.int64, "memories * tried")
    kept_pointers: np.ndarray = column(np.int64, "modules * tried")
    kept_counters: np.ndarray = column(np.int64, len(STOP) + len(COUNT))
    die_fits: np.ndarray = column(np.int64, "dies")
    """How many admitted modules of each die an offer fits."""
    die_free: np.ndarray = column(np.int64, "dies * resources")


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
    """int64[memories * terms, most slots], a row a term; of each die, too, where dies are chosen."""
    fits: np.ndarray
    """uint64[offers, words], the modules that each offer fits."""
    fitting: np.ndarray
    """int64[offers], how many they are."""
    open: np.ndarray
    """uint64[offers, words], those of them that are open to it now; `fits` itself where all are."""
    opens: np.ndarray
    """int64[offers], how many they are; 1 for a cluster that some die can take all of."""
    enoughs: np.ndarray
    """int64[offers], how many modules have enough free blocks in total."""
    between: BetweenState
    short_of_runs: np.ndarray
    """int64[offers], how many of the admitted modules have, where it fits none of them for want of runs; `enoughs`
    itself where all modules are open."""
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
    enough: np.ndarray = column(np.uint64, "offers", "words")
    """The modules with enough free blocks in total."""
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
    last_module: np.ndarray = column(np.int64, "memories", fill=NONE)
    """The module that was taken last, of each memory of the module choice."""
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
