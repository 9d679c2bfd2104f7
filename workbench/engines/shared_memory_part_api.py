"""The routines of a shared memory as a part: a workgroup joins the queue, one which stayed ends.

The routines take a play by reference and whole numbers and return a whole number, so that a compiled calendar may call
them by address (spec 6, R2). What is asked may lie ahead; nothing happens before its moment comes.
"""

from __future__ import annotations

from workbench.compiled import entry_point, kernel
from workbench.engines.kit.order import cycle_of, moment, rank_of
from workbench.engines.shared_memory_loop import (
    COUNT,
    NOBODY,
    Play,
    next_try,
    rank_of_next,
    releases_first,
    take_events,
)
from workbench.structures.timetable import NEVER, next_due, put

REFUSED = NOBODY


@entry_point
def next_moment(play: Play) -> int:
    """Return the moment of the next event; `NEVER` where there is none."""
    due, attempt = next_due(play.state.due), play.state.counters[COUNT.attempt]
    cycle = min(due, attempt)
    if cycle == NEVER:
        return NEVER
    return moment(cycle, rank_of_next(play.rules, releases_first(play.rules, due, attempt)))


@entry_point
def advance_to(play: Play, until: int) -> int:
    """Take every event that precedes a moment; return how many answers there are to be taken."""
    cycle = NEVER if until == NEVER else cycle_of(until)
    take_events(play.jobs, play.rules, play.policy, play.state, cycle, rank_of(until))
    return play.state.counters[COUNT.answered]


@entry_point
def ask_workgroup(play: Play, row: int, cycle: int) -> int:
    """Let a workgroup of the table join the queue at a cycle, and return it; REFUSED if it may not."""
    jobs, state = play.jobs, play.state
    if not 0 <= row < jobs.arrival.size or jobs.arrival[row] != NOBODY or cycle < earliest(play):
        return REFUSED
    jobs.arrival[row] = cycle
    _line_up(play, row)
    state.counters[COUNT.unasked] -= 1
    state.counters[COUNT.attempt] = min(state.counters[COUNT.attempt], _tried_at(play, row, cycle))
    return row


@entry_point
def ask_end(play: Play, row: int, cycle: int) -> int:
    """Let a workgroup that stays end at a cycle, and return it; REFUSED if it may not."""
    state, rules = play.state, play.rules
    if not 0 <= row < state.end.size or state.grant[row] == NOBODY or state.end[row] != NOBODY:
        return REFUSED
    if cycle < max(state.counters[COUNT.now], least_end(play, row)):
        return REFUSED
    state.end[row] = cycle
    put(state.due, cycle, row)
    if state.counters[COUNT.waits]:
        helped = cycle if rules.release_first else cycle + 1
        state.counters[COUNT.attempt] = min(state.counters[COUNT.attempt], next_try(rules, state.counters, helped))
    return row


@kernel
def earliest(play: Play) -> int:
    """Return the first cycle at which a workgroup may join: neither in the past nor before the last of the queue."""
    now, last = play.state.counters[COUNT.now], play.state.counters[COUNT.last]
    return max(now, play.jobs.arrival[last]) if last != NOBODY else now


@kernel
def least_end(play: Play, row: int) -> int:
    """Return the first cycle at which a workgroup may end: it runs as long as the table says, or longer."""
    return play.state.start[row] + play.jobs.duration[row]


@kernel
def _line_up(play: Play, row: int) -> None:
    """Put a row at the end of the queue; who was asked for last may have left it, past those that it overtook."""
    state, queue_end = play.state, play.jobs.arrival.size
    last = state.counters[COUNT.head]
    if last == queue_end:
        state.counters[COUNT.head] = row
    elif state.grant[state.counters[COUNT.last]] == NOBODY:
        state.after[state.counters[COUNT.last]] = row
    else:
        while state.after[last] != queue_end:
            last = int(state.after[last])
        state.after[last] = row
    state.counters[COUNT.last] = row


@kernel
def _tried_at(play: Play, row: int, cycle: int) -> int:
    """Return when the queue is tried because a row joins it at a cycle; `NEVER` where that changes nothing."""
    rules, counters = play.rules, play.state.counters
    if counters[COUNT.head] == row:
        return max(cycle, counters[COUNT.tried] + 1, counters[COUNT.busy_until])
    if not counters[COUNT.waits] or rules.retry_cycles == 0:
        return NEVER
    return next_try(rules, counters, cycle) if _is_candidate(play, row) else NEVER


@kernel
def _is_candidate(play: Play, row: int) -> bool:
    """Return whether a row that waits lies within the look-ahead."""
    at = play.state.counters[COUNT.head]
    for _ in range(play.rules.look_ahead):
        at = int(play.state.after[at])
        if at == row or at == play.jobs.arrival.size:
            break
    return at == row
