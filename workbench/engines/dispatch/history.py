"""What modules have executed: in all, in a sliding window, in counters that are halved, as heat (spec 3, R75, E23).

A group's instructions are spread evenly over its waves and its life, at rates in 2**-20 instructions a cycle that are
rounded once, so all counts are whole numbers and nothing drifts. A module's rate changes at the start and the end of a
dispatch; the changes of each module form a list, which the far end of a window follows.

Or others enter it (spec 6, R16, N10), as spans of cycles in which something was executed evenly, a list a module in the
order in which they begin. The past is read up to a few edges that move forward in time alone, such as now and the far
end of every window. Each reader keeps the sum of the spans in front of its edge that have ended, and adds up the
others. After e of its d cycles a span of n instructions counts floor(n e / d). A span may be entered late: instructions
of a window are counted exactly; halved counters and energies of thermal steps take it at the next time at which they
are read.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import inlined, kernel, noinline
from workbench.compiled.memory_access import call
from workbench.engines.dispatch.setting import HOOK, Columns, Policies, Rules, Warmth
from workbench.engines.dispatch.state import COUNT, NONE, State
from workbench.structures.execution_rates import CLASSES, RATE_BITS, RATE_UNIT, part_rate

SCALE = float(RATE_UNIT)


@inlined
def _waves_sent(state: State, dispatch: int) -> int:
    """Return the waves of a dispatch, of all units."""
    sent = 0
    for t in range(state.sent.shape[1]):
        sent += int(state.sent[dispatch, t])
    return sent


@inlined
def _add_rate(columns: Columns, rate: np.ndarray, group: int, sent: int, sign: int) -> None:
    """Add what so many waves of a group execute a cycle to a rate of each class, in 2**-20, or take it off."""
    whole, duration = columns.waves[group], max(columns.duration[group], 1)
    # The same numbers as below, computed before the run.
    if sent == whole:
        for s in range(CLASSES):
            rate[s] += sign * columns.rates[group, s]
        return
    for s in range(CLASSES):
        rate[s] += sign * part_rate(columns.instructions[group, s], sent, whole, duration)


@kernel
def _issue_until(state: State, module: int, now: int) -> None:
    passed = now - state.issued_at[module]
    if passed == 0:
        return
    state.issued_at[module] = now
    for s in range(CLASSES):
        state.issued[module, s] += state.rate[module, s] * passed


@inlined
def _halve_until(period: int, state: State, term: int, module: int, now: int) -> None:
    """Bring halved counters up to the cycle before `now`: at each multiple of the period they lose half."""
    at = state.decayed_at[term, module]
    state.decayed_at[term, module] = now
    while at < now:
        following = (at + period) // period * period
        if at % period == 0:
            left_out = max((now - at) // period - 64, 0)  # after 64 equal periods another one changes nothing
            at += left_out * period
            following += left_out * period
            for s in range(CLASSES):
                state.decayed[term, module, s] >>= 1
        passed = min(following, now) - at
        for s in range(CLASSES):
            state.decayed[term, module, s] += state.rate[module, s] * passed
        at += passed


@inlined
def change_rate(columns: Columns, policies: Policies, state: State, dispatch: int, ends: int, now: int) -> None:
    """Change a module's rate from this cycle on, as a dispatch starts (`ends` = 0) or ends (1)."""
    module, event = int(state.module[dispatch]), 2 * dispatch + ends
    # Before the change: what was executed until now was executed at the old rate.
    _issue_until(state, module, now)
    for term in range(policies.terms.weights.size):
        if policies.terms.halving[term]:
            _halve_until(policies.terms.halving[term], state, term, module, now)
        # The far end of the window has passed all changes before: this one is the next that it meets.
        elif policies.terms.history[term] and state.old_event[term, module] == NONE:
            state.old_event[term, module] = event
    _add_rate(columns, state.rate[module], int(state.group[dispatch]), _waves_sent(state, dispatch), 1 - 2 * ends)
    if state.event_last[module] != NONE:
        state.event_next[state.event_last[module]] = event
    state.event_next[event] = NONE
    state.event_last[module] = event


@noinline
def change_pace(policies: Policies, state: State, module: int, now: int) -> None:
    """Let a module execute what `new_rate` says from this cycle on; changes within a cycle are one."""
    _issue_until(state, module, now)
    last = state.event_last[module]
    row = last if last != NONE and state.between.pace_at[last] == now else state.counters[COUNT.paces]
    for term in range(policies.terms.weights.size):
        if policies.terms.halving[term]:
            _halve_until(policies.terms.halving[term], state, term, module, now)
        elif policies.terms.history[term] and state.old_event[term, module] == NONE:
            state.old_event[term, module] = row
    if row != last:
        state.counters[COUNT.paces] += 1
        if last != NONE:
            state.event_next[last] = row
        state.event_next[row] = NONE
        state.event_last[module] = row
        state.between.pace_at[row] = now
    for s in range(CLASSES):
        state.rate[module, s] = state.between.pace_rate[row, s] = state.between.new_rate[s]


@noinline
def follow_paces(state: State, term: int, module: int, until: int) -> None:
    """Move the far end of a window up to a cycle, where rates are shared."""
    row = state.old_event[term, module]
    while row != NONE and state.between.pace_at[row] <= until:
        _run_old(state, term, module, state.between.pace_at[row])
        for s in range(CLASSES):
            state.old_rate[term, module, s] = state.between.pace_rate[row, s]
        row = int(state.event_next[row])
    state.old_event[term, module] = row
    _run_old(state, term, module, until)


@noinline
def _follow(columns: Columns, state: State, term: int, module: int, until: int) -> None:
    """Move the far end of a window up to a cycle, through the changes that leave it."""
    event = state.old_event[term, module]
    while event != NONE:
        dispatch = event >> 1
        group = int(state.group[dispatch])
        at = state.cycle[dispatch] + (columns.duration[group] if event & 1 else 0)
        if state.between.begin.size:
            at = state.between.end[dispatch] if event & 1 else state.between.begin[dispatch]
        if at > until:
            break
        _run_old(state, term, module, at)
        _add_rate(columns, state.old_rate[term, module], group, _waves_sent(state, dispatch), 1 - 2 * (event & 1))
        event = int(state.event_next[event])
    state.old_event[term, module] = event
    _run_old(state, term, module, until)


@kernel
def _run_old(state: State, term: int, module: int, until: int) -> None:
    passed = until - state.old_at[term, module]
    state.old_at[term, module] = until
    for s in range(CLASSES):
        state.old_issued[term, module, s] += state.old_rate[term, module, s] * passed


@inlined
def remember(
    columns: Columns, rules: Rules, policies: Policies, state: State, term: int, module: int, now: int
) -> None:
    """Write down what a term may know of a module's past: instructions of each class."""
    if rules.entered:
        recall(policies, state, term, module, now)
    else:
        _remember_own(columns, policies, state, term, module, now)


@inlined
def _remember_own(columns: Columns, policies: Policies, state: State, term: int, module: int, now: int) -> None:
    """Write down the same of what the groups execute by themselves, who never wait."""
    window, period, classes = policies.terms.history[term], policies.terms.halving[term], policies.terms.classes[term]
    for s in range(CLASSES, classes):
        state.recent[1, module * classes + s] = 0.0
    if window:
        _issue_until(state, module, now)
        if state.between.pace_at.size:
            hooks = policies.hooks
            call(hooks[HOOK.follow_paces], hooks[HOOK.lent], (term, module, max(now - window, 0)))
        else:
            _follow(columns, state, term, module, max(now - window, 0))
        for s in range(CLASSES):
            issued = state.issued[module, s] - state.old_issued[term, module, s]
            state.recent[1, module * classes + s] = issued / SCALE
    elif period:
        _halve_until(period, state, term, module, now)
        for s in range(CLASSES):
            state.recent[1, module * classes + s] = state.decayed[term, module, s] / SCALE


@noinline
def warm_up(rules: Rules, policies: Policies, state: State, now: int) -> None:
    """Let heat follow the power of every thermal step that has ended."""
    warmth, step = policies.warmth, rules.heat_cycles
    while state.counters[COUNT.heated_until] + step <= now:
        state.counters[COUNT.heated_until] += step
        for m in range(state.heat.size):
            if rules.entered:
                joules = entered_joules(warmth, state, m, state.counters[COUNT.heated_until])
            else:
                joules = _own_joules(warmth, state, m, state.counters[COUNT.heated_until])
            state.warm[0, m] = joules / warmth.seconds + warmth.idle_watts
        # Into a row apart: each module needs the temperatures of the others before this step.
        for m in range(state.heat.size):
            degrees = 0.0
            for k in range(state.heat.size):
                degrees += warmth.a[m, k] * state.heat[k] + warmth.b[m, k] * state.warm[0, k]
            state.warm[1, m] = degrees
        for m in range(state.heat.size):
            state.heat[m] = state.warm[1, m]


@inlined
def _own_joules(warmth: Warmth, state: State, module: int, until: int) -> float:
    """Return the energy of what a module executed since this was asked last."""
    joules = 0.0
    _issue_until(state, module, until)
    for s in range(CLASSES):
        joules += (state.issued[module, s] - state.heat_issued[module, s]) / SCALE * warmth.joules[s]
        state.heat_issued[module, s] = state.issued[module, s]
    return joules


NOW_READER = 0
"""The reader of all that was executed before a decision; behind it one of each term, then that of heat."""


@noinline
def recall(policies: Policies, state: State, term: int, module: int, now: int) -> None:
    """Write down what a term may know of a module's past: instructions and waits of each class that it reads."""
    window, classes = policies.terms.history[term], policies.terms.classes[term]
    recent = state.recent[1]
    read_edge(policies, state, term, module, now)
    if not window:
        for s in range(classes):
            recent[module * classes + s] = state.span_halved[term, module, s] / SCALE
        return
    read_until(state, NOW_READER, module, now)
    for s in range(classes):
        executed = state.reader_reported[NOW_READER, module, s] - state.reader_reported[1 + term, module, s]
        recent[module * classes + s] = float(executed)


@noinline
def read_edge(policies: Policies, state: State, term: int, module: int, now: int) -> None:
    """Move a term's reader of a module up to where it is at a cycle: its window's far end, or the cycle."""
    period = policies.terms.halving[term]
    if period:
        _halve_entered_until(period, state, term, module, now)
    else:
        read_until(state, 1 + term, module, max(now - policies.terms.history[term], 0))


BEGIN, END, BEFORE, BEHIND, KIND, AMOUNT = range(6)
"""Columns of a span: its first cycle, the one after its last, its neighbors, the class, how much of it."""
ENTERED_CLASSES = 8
"""Those of instructions, then translation stalls and lock waits."""
FIRST, LAST = 0, 1


@inlined
def _halve_entered_until(period: int, state: State, term: int, module: int, now: int) -> None:
    """Bring halved counters up to the cycle before `now`: at each multiple of the period they lose half."""
    at = state.reader_at[1 + term, module]
    while at < now:
        if at % period == 0:
            for s in range(ENTERED_CLASSES):
                state.span_halved[term, module, s] >>= 1
        following = (at + period) // period * period
        if _is_quiet(state, term, module, now):  # after 64 halvings nothing is left
            following = max(following, (now // period - 64) * period)
        _add_until(state, term, module, min(following, now))
        at = min(following, now)


@inlined
def _is_quiet(state: State, term: int, module: int, until: int) -> bool:
    """Return whether nothing is executed between a term's reader and a cycle."""
    row = state.reader_first[1 + term, module]
    return row == NONE or state.span[row, BEGIN] >= until


@inlined
def _add_until(state: State, term: int, module: int, until: int) -> None:
    for s in range(ENTERED_CLASSES):
        # Subtracted before the read and added after it: the growth includes spans that were entered late.
        state.span_halved[term, module, s] -= state.reader_reported[1 + term, module, s] << RATE_BITS
    read_until(state, 1 + term, module, until)
    for s in range(ENTERED_CLASSES):
        state.span_halved[term, module, s] += state.reader_reported[1 + term, module, s] << RATE_BITS


@noinline
def entered_joules(warmth: Warmth, state: State, module: int, until: int) -> float:
    """Return the energy of what a module executed since this was asked last."""
    heat, joules = state.reader_first.shape[0] - 1, 0.0
    for s in range(ENTERED_CLASSES):
        joules -= state.reader_reported[heat, module, s] * warmth.joules[s]
    read_until(state, heat, module, until)
    for s in range(ENTERED_CLASSES):
        joules += state.reader_reported[heat, module, s] * warmth.joules[s]
    return joules


@noinline
def read_until(state: State, reader: int, module: int, until: int) -> None:
    """Write down in `reader_reported` what a module executed before a cycle, which is not before the one read last."""
    _pass_ended(state, reader, module, until)
    for s in range(ENTERED_CLASSES):
        state.reader_reported[reader, module, s] = state.reader_ended[reader, module, s]
    row = state.reader_first[reader, module]
    while row != NONE and state.span[row, BEGIN] < until:
        length = state.span[row, END] - state.span[row, BEGIN]
        elapsed = min(until - state.span[row, BEGIN], length)
        # The product fits in 64 bits: `enter_history` bounds amount times length by 2^62.
        state.reader_reported[reader, module, state.span[row, KIND]] += state.span[row, AMOUNT] * elapsed // length
        row = state.span[row, BEHIND]


@inlined
def _pass_ended(state: State, reader: int, module: int, until: int) -> None:
    """Move a reader up to a cycle, over the spans in front that have ended."""
    row = state.reader_first[reader, module]
    # Up to the first span that still runs. Spans behind it may have ended: each read adds them again.
    while row != NONE and state.span[row, END] <= until:
        state.reader_ended[reader, module, state.span[row, KIND]] += state.span[row, AMOUNT]
        row = state.span[row, BEHIND]
    state.reader_first[reader, module], state.reader_at[reader, module] = row, until


@noinline
def enter_span(state: State, module: int, kind: int, begin: int, end: int, amount: int) -> None:
    """Enter what a module executes of a class from one cycle on and before another; a span must be free."""
    row = state.counters[COUNT.span_free]
    state.counters[COUNT.span_free] = state.span[row, BEHIND]
    state.span[row, BEGIN], state.span[row, END] = begin, end
    state.span[row, KIND], state.span[row, AMOUNT] = kind, amount
    _link_span(state, module, row)
    for reader in range(state.reader_at.shape[0]):
        _look_back(state, reader, module, row)


@inlined
def _link_span(state: State, module: int, row: int) -> None:
    """Put a span into its module's list, behind all that begin no later."""
    before, behind = state.span_ends[LAST, module], NONE
    while before != NONE and state.span[before, BEGIN] > state.span[row, BEGIN]:
        before, behind = state.span[before, BEFORE], before
    state.span[row, BEFORE], state.span[row, BEHIND] = before, behind
    _join_spans(state, module, before, row)
    _join_spans(state, module, row, behind)


@inlined
def _join_spans(state: State, module: int, before: int, behind: int) -> None:
    """Make two spans neighbors; -1 stands for the end of the list."""
    if before == NONE:
        state.span_ends[FIRST, module] = behind
    else:
        state.span[before, BEHIND] = behind
    if behind == NONE:
        state.span_ends[LAST, module] = before
    else:
        state.span[behind, BEFORE] = before


@inlined
def _look_back(state: State, reader: int, module: int, row: int) -> None:
    """Let a reader know of a new span that lies in front of where it is: as ended, or by going back to it."""
    first = state.reader_first[reader, module]
    # It lies behind the first span of the reader, so the next read finds it.
    if first != NONE and state.span[row, BEGIN] >= state.span[first, BEGIN]:
        return
    if state.span[row, END] <= state.reader_at[reader, module]:
        state.reader_ended[reader, module, state.span[row, KIND]] += state.span[row, AMOUNT]
        return
    state.reader_first[reader, module] = row
    behind = state.span[row, BEHIND]
    while behind != first:
        state.reader_ended[reader, module, state.span[behind, KIND]] -= state.span[behind, AMOUNT]
        behind = state.span[behind, BEHIND]


@noinline
def free_spans(state: State) -> None:
    """Free the spans in front that every reader has passed."""
    for module in range(state.span_ends.shape[1]):
        row = state.span_ends[FIRST, module]
        while row != NONE and not _is_first(state, module, row):
            behind = state.span[row, BEHIND]
            state.span[row, BEHIND] = state.counters[COUNT.span_free]
            state.counters[COUNT.span_free] = row
            row = behind
        _join_spans(state, module, NONE, row)


@inlined
def _is_first(state: State, module: int, row: int) -> bool:
    """Return whether a reader goes on with a span."""
    goes_on = False
    for reader in range(state.reader_first.shape[0]):
        goes_on |= state.reader_first[reader, module] == row
    return goes_on
