"""What changes during a run of the engine `dispatch`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.dispatch.shape import Columns, Policies, Rules, Shape
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
        "what would fit{often}."
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
    asked: np.ndarray = column(np.int64, "offers * pointers", "places")
    """What each offer asks of the places of modules with each pointer from 0 to units - 1, and of the module that was
    judged last."""
    is_asked: np.ndarray = column(np.bool_, "offers * pointers")
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
    """Of a part: what it tells (`told`); no rows for a whole run."""
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
    reader_told: np.ndarray = column(np.int64, "readers", "entering", 8)
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


__all__ = ["COUNT", "FAULT", "NEVER", "NONE", "Play", "State"]
