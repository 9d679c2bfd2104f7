"""What others may ask of a dispatcher as a part: that a group joins its queue, that one which stayed ends (spec 6, R2).

The routines take a play by reference and whole numbers and return a whole number, so that a compiled calendar may call
them by address. What is asked may lie ahead; nothing happens before its moment comes.
"""

from __future__ import annotations

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.dispatch.channels import join
from workbench.engines.dispatch.entries import group_of
from workbench.engines.dispatch.loop import next_cycle, next_rank, take_events
from workbench.engines.dispatch.state import COUNT, NEVER, NONE, Play, State
from workbench.engines.kit.order import cycle_of, moment, rank_of
from workbench.structures.timetable import NOW, put

REFUSED = NONE


@noinline
def next_moment(play: Play) -> int:
    """Return the moment of the next event; `NEVER` where there is none."""
    cycle = next_cycle(play.state)
    return moment(cycle, next_rank(play.state)) if cycle < NEVER else NEVER


@noinline
def advance_to(play: Play, until: int) -> int:
    """Take every event that precedes a moment; return how many answers there are to be taken."""
    cycle = NEVER if until == NEVER else cycle_of(until)
    take_events(play, cycle, rank_of(until))
    return play.state.counters[COUNT.answered]


@noinline
def ask_group(play: Play, group: int, cycle: int) -> int:
    """Let a group of the table join the queue of its channel at a cycle, and return it; REFUSED if it may not."""
    columns, state = play.columns, play.state
    if not 0 <= group < columns.arrival.size or columns.arrival[group] != NONE:
        return REFUSED
    if cycle < earliest(play, group):
        return REFUSED
    columns.arrival[group] = cycle
    state.unasked[columns.channel[group]] -= 1
    if join(columns, play.rules, state, group):
        state.counters[COUNT.next_arrival] = min(state.counters[COUNT.next_arrival], cycle)
        state.counters[COUNT.look] = min(state.counters[COUNT.look], cycle)
    return group


@noinline
def ask_end(play: Play, dispatch: int, cycle: int) -> int:
    """Let a dispatch that stays end at a cycle, and return it; REFUSED if it may not."""
    state = play.state
    if not 0 <= dispatch < min(state.slot_of.size, state.counters[COUNT.dispatches]):
        return REFUSED
    slot = state.slot_of[dispatch]
    if slot == NONE or cycle < max(present(state), least_end(play, dispatch)):
        return REFUSED
    state.slot_of[dispatch] = NONE
    put(state.due, cycle, slot)
    return dispatch


@kernel
def present(state: State) -> int:
    """Return the cycle of the last event."""
    return max(state.counters[COUNT.now], state.due.counters[NOW])


@inlined
def earliest(play: Play, group: int) -> int:
    """Return the first cycle at which a group may join: neither in the past nor before the last of its channel."""
    columns, state, now = play.columns, play.state, present(play.state)
    channel = columns.channel[group]
    if state.upcoming[channel] == NONE:
        return now
    return max(now, columns.arrival[group_of(columns, state, state.last[channel])])


@inlined
def least_end(play: Play, dispatch: int) -> int:
    """Return the first cycle at which a dispatch may end: it runs as long as the table says, or longer."""
    return play.state.cycle[dispatch] + play.columns.duration[play.state.group[dispatch]]
