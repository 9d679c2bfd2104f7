"""What modules have executed: in all, in a sliding window, and in counters that are halved (spec 3, R75, E23).

A group's instructions are spread evenly over its waves and its life, at rates in 2**-20 instructions a cycle that are
rounded once, so all counts are whole numbers and nothing drifts. A module's rate changes at the start and the end of a
dispatch; the changes of each module form a list, which the far end of a window follows.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.dispatch.recalling import entered_joules, recall
from workbench.engines.dispatch.shape import Columns, Policies, Rules, Warmth
from workbench.engines.dispatch.state import COUNT, NONE, State

CLASSES = 6
SCALE_BITS = 20
SCALE = float(1 << SCALE_BITS)


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
    if sent == whole:
        for s in range(CLASSES):
            rate[s] += sign * columns.rates[group, s]
        return
    for s in range(CLASSES):
        rate[s] += sign * part_rate(columns.instructions[group, s], sent, whole, duration)


@kernel
def part_rate(instructions: int, sent: int, waves: int, duration: int) -> int:
    """Return what `sent` of a group's waves execute a cycle, in 2**-20, rounded once, halves up.

    That is instructions * sent / (waves * duration). A remainder follows each division, so that no product passes 64
    bits with up to 2**42 instructions, 2**20 waves and 2**61 cycles.
    """
    of_part, rest = instructions * sent // waves, instructions * sent % waves
    scaled = (of_part << SCALE_BITS) + (rest << SCALE_BITS) // waves
    half = int(2 * ((rest << SCALE_BITS) % waves) >= waves)
    return scaled // duration + int(2 * (scaled % duration) + half >= duration)


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
    _issue_until(state, module, now)
    for term in range(policies.terms.weights.size):
        if policies.terms.halving[term]:
            _halve_until(policies.terms.halving[term], state, term, module, now)
        elif policies.terms.history[term] and state.old_event[term, module] == NONE:
            state.old_event[term, module] = event
    _add_rate(columns, state.rate[module], int(state.group[dispatch]), _waves_sent(state, dispatch), 1 - 2 * ends)
    if state.event_last[module] != NONE:
        state.event_next[state.event_last[module]] = event
    state.event_next[event] = NONE
    state.event_last[module] = event


@noinline
def _follow(columns: Columns, state: State, term: int, module: int, until: int) -> None:
    """Move the far end of a window up to a cycle, through the changes that leave it."""
    event = state.old_event[term, module]
    while event != NONE:
        dispatch = event >> 1
        group = int(state.group[dispatch])
        at = state.cycle[dispatch] + (columns.duration[group] if event & 1 else 0)
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
