"""The routines of a dispatcher as a part of a node: groups join their queues, leave them, end; histories enter.

The routines take a play by reference and whole numbers and return a whole number, so that a compiled calendar may call
them by address (spec 6, R2, R16). What is asked may lie ahead, but for a cancellation; nothing happens before its
moment comes. Groups whose application was refused leave their channels unserved (E2); what modules execute is entered
into as many spans as there is space for (N10).
"""

from __future__ import annotations

from workbench.compiled import entry_point, inlined, kernel, noinline
from workbench.engines.dispatch.channels import CANCELLED, DISPATCH, FIELDS, KIND, VERDICT, join, take_off, tell_of
from workbench.engines.dispatch.history import (
    ENTERED_CLASSES,
    NOW_READER,
    enter_span,
    free_spans,
    read_edge,
    read_until,
    warm_up,
)
from workbench.engines.dispatch.loop import begin, make_present, next_cycle, next_rank, take_event
from workbench.engines.dispatch.setting import Columns, Policies, Rules, to_int64
from workbench.engines.dispatch.state import COUNT, NONE, Play, State
from workbench.engines.dispatch.subgroups import behind, group_of, link
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.kit.order import moment, share
from workbench.structures.bitmaps import count_free, longest_run
from workbench.structures.timetable import NEVER, NOW, put

REFUSED = NONE
DONE = to_int64(0)
MOST = 1 << 62
"""Of instructions times cycles that may be entered at once."""


@entry_point
def next_moment(play: Play) -> int:
    """Return the moment of the next event; `NEVER` where there is none."""
    cycle = next_cycle(play.state)
    return moment(cycle, next_rank(play.state)) if cycle < NEVER else NEVER


@entry_point
def take_next(play: Play) -> int:
    """Take the next event and no other, a round as one; return how many answers there are to be taken."""
    begin(play)
    if play.state.counters[STOP.fault] == FINE and next_cycle(play.state) < NEVER:
        take_event(play)
    return play.state.counters[COUNT.answered]


@entry_point
def answer_of(play: Play, at: int, field: int) -> int:
    """Return a field of an answer (`tell`), 0 = the oldest; of a verdict, from field 7 on, the pages of each module."""
    row = play.state.answers[at]
    if field >= FIELDS and row[KIND] == VERDICT:
        return play.state.verdicts[row[DISPATCH], field - FIELDS]
    return row[field]


@entry_point
def forget_answers(play: Play) -> int:
    """Forget the answers, which have been taken."""
    play.state.counters[COUNT.answered] = play.state.counters[COUNT.verdicts] = 0
    return DONE


@entry_point
def ask_group(play: Play, group: int, cycle: int) -> int:
    """Let a group of the table join the queue of its channel at a cycle, and return it; REFUSED if it may not."""
    columns, state = play.columns, play.state
    if not 0 <= group < columns.arrival.size or columns.arrival[group] != NONE:
        return REFUSED
    if cycle < earliest(play, group):
        return REFUSED
    columns.arrival[group] = cycle
    state.unasked[columns.channel[group]] -= 1
    may_go = join(columns, play.rules, state, group)
    if may_go:
        state.counters[COUNT.next_arrival] = min(state.counters[COUNT.next_arrival], cycle)
    if may_go or play.rules.tells_all:
        state.counters[COUNT.look] = min(state.counters[COUNT.look], cycle)
    if play.rules.tells_all:  # a round follows that is told, though it fails as the last one did
        state.counters[COUNT.stale] = 1
    return group


@entry_point
def ask_end(play: Play, dispatch: int, cycle: int) -> int:
    """Let a dispatch that stays end at a cycle, and return it; REFUSED if it may not."""
    state = play.state
    if not 0 <= dispatch < state.slot_of.size:
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


@entry_point
def ask_cancel_range(play: Play, first: int, last: int, cycle: int) -> int:
    """Take what waits of the groups from `first` to `last` out of the queues at the present cycle.

    Returns how many entries left; it stops early where more answers may have no space. A round follows where others
    wait, also if none left. REFUSED where something else comes before.
    """
    if not _is_present(play.state, cycle):
        return REFUSED
    left = 0
    _look_again(play, cycle)
    for channel in range(play.rules.channels):
        left += cancel_in(play.columns, play.rules, play.state, channel, first, last, cycle)
    return left


@kernel
def _is_present(state: State, cycle: int) -> bool:
    """Return whether a cycle may be the present one: it is not over, and all that comes before it has happened."""
    return present(state) <= cycle <= next_cycle(state)


@entry_point
def _look_again(play: Play, cycle: int) -> None:
    """Make a cycle the present one, at which the channels are looked at as something changes."""
    make_present(play, cycle)
    play.state.counters[COUNT.stale], play.state.counters[COUNT.look] = 1, cycle


@entry_point
def enter_history(play: Play, module: int, kind: int, first: int, cycles: int, amount: int) -> int:
    """Enter what a module executes, evenly, from a cycle on for so many cycles, or in that cycle alone if they are 0.

    Classes are those of instructions (0 to 5: move, load, store, matrix, compare, jump), translation stalls (6) and
    lock waits (7). REFUSED where there is no such module or class, FULL where there is no space. Where no policy reads
    the past nothing is kept.
    """
    if not 0 <= module < play.shape.modules or not 0 <= kind < ENTERED_CLASSES:
        return REFUSED
    if first < 0 or cycles < 0 or not 0 <= amount <= MOST // max(cycles, 1):
        return REFUSED
    if not play.rules.entered or amount == 0:
        return DONE
    return enter(play, module, kind, first, first + max(cycles, 1), amount, present(play.state))


@entry_point
def scattered_of(play: Play, module: int, own: int) -> int:
    """Return the share of a module's free blocks that lie outside the longest free run, in parts of `WHOLE_SHARE`.

    It is the mean over the free maps of its units (`own` = 0), or over those of the module's own resources (1), of
    1 - longest free run / free blocks; a map without free blocks counts 0.
    """
    shape, total, maps = play.shape, 0, 0
    for resource in range(shape.blocks.size):
        if shape.first_map[resource] < 0 or (resource >= shape.of_unit) != (own == 1):
            continue
        copies = 1 if own == 1 else shape.units
        for row in range(
            shape.first_map[resource] + module * copies, shape.first_map[resource] + (module + 1) * copies
        ):
            words = play.state.free[row][: shape.words[resource]]
            free = count_free(words)
            total += share(free - longest_run(words), free)
            maps += 1
    return total // max(maps, 1)


FULL = REFUSED - 1


@noinline
def enter(play: Play, module: int, kind: int, begin: int, end: int, amount: int, now: int) -> int:
    """Enter something that a module executes of a class from one cycle on and before another; FULL without space.

    Space is freed from spans that will not be read again: those that ended before the longest window.
    """
    state = play.state
    if state.counters[COUNT.span_free] == NONE:
        _catch_up(play.rules, play.policies, state, now)
        free_spans(state)
    if state.counters[COUNT.span_free] == NONE:
        return FULL
    enter_span(state, module, kind, begin, end, amount)
    return 0


@noinline
def _catch_up(rules: Rules, policies: Policies, state: State, now: int) -> None:
    """Move every reader as far as it may be at a cycle."""
    heat = state.reader_first.shape[0] - 1
    for module in range(state.reader_first.shape[1]):
        read_until(state, NOW_READER, module, now)
        for term in range(policies.terms.weights.size):
            read_edge(policies, state, term, module, now)
        # No thermal step moves this reader, and a reader that stays behind keeps all its spans.
        if not rules.heat_cycles:
            read_until(state, heat, module, now)
    if rules.heat_cycles:
        warm_up(rules, policies, state, now)


@noinline
def cancel_in(columns: Columns, rules: Rules, state: State, channel: int, first: int, last: int, now: int) -> int:
    """Take the groups from `first` to `last`, and their parts, out of a channel; return how many entries left.

    Those that were put forward go first, then the others, each in their order, as long as they can be told.
    """
    return _cancel_offers(columns, rules, state, channel, first, last, now) + _cancel_queued(
        columns, rules, state, channel, first, last, now
    )


@inlined
def _leaves(columns: Columns, rules: Rules, state: State, entry: int, first: int, last: int) -> bool:
    """Return whether an entry is one of the groups, or of their parts, and may be told."""
    return first <= group_of(columns, state, entry) <= last and state.counters[COUNT.answered] <= rules.most_answers


@inlined
def _cancel_offers(columns: Columns, rules: Rules, state: State, channel: int, first: int, last: int, now: int) -> int:
    left, offer = 0, channel * rules.offers
    while offer < channel * rules.offers + state.offered[channel]:
        if _leaves(columns, rules, state, state.offer[offer], first, last):
            tell_of(columns, state, CANCELLED, state.offer[offer], now, NONE, NONE)
            take_off(columns, rules, state, offer)
            left += 1
        else:
            offer += 1
    return left


@inlined
def _cancel_queued(columns: Columns, rules: Rules, state: State, channel: int, first: int, last: int, now: int) -> int:
    left, before = 0, NONE
    entry = state.upcoming[channel]
    while entry != NONE:
        following = behind(columns, state, entry)
        if _leaves(columns, rules, state, entry, first, last):
            tell_of(columns, state, CANCELLED, entry, now, NONE, NONE)
            _unlink(columns, rules, state, channel, before, following)
            left += 1
        else:
            before = entry
        entry = following
    if before != NONE:
        state.last[channel] = before
    state.counters[COUNT.vacant] = 1
    return left


@inlined
def _unlink(columns: Columns, rules: Rules, state: State, channel: int, before: int, following: int) -> None:
    """Let an entry follow another one, or the last that was put forward; both may be none."""
    if before == NONE:
        state.upcoming[channel] = following
        if state.offered[channel] > 0:
            before = state.offer[channel * rules.offers + state.offered[channel] - 1]
    if before != NONE:
        link(columns, state, before, following)
