"""The queue in front of each module: dispatched groups that wait for its resources (spec 7, R22).

A group that finds the queue empty and fits starts at once, without a place. The first one of a queue starts as soon as
it fits. Queues are looked at in ascending order of modules, after the releases of a cycle and before its round (E7).
One that a placement refuses is tried again once the module changes, or in the next round if a placement that draws or
remembers has moved on (E9).
"""

from __future__ import annotations

from workbench.compiled import inlined, noinline
from workbench.engines.dispatch.channels import take_off
from workbench.engines.dispatch.fit import fits_now
from workbench.engines.dispatch.grants import take_slot
from workbench.engines.dispatch.state import COUNT, NONE, Play
from workbench.engines.dispatch.steps import book, exchange, remembers_else
from workbench.structures.timetable import NEVER


@noinline
def join_queue(play: Play, offer: int, module: int, refused: bool, now: int) -> None:
    """Dispatch an offer to a module, in whose queue there is a place; a placement may have refused it just now."""
    if refused:
        _postpone(play, module, now)
    shape, columns, rules, policies, state = play.shape, play.columns, play.rules, play.policies, play.state
    row = book(shape, columns, rules, policies, state, state.offer[offer], module, NONE, now)
    state.between.queue[module, state.between.queued[module]] = row
    state.between.queued[module] += 1
    take_off(columns, rules, state, offer)


@noinline
def start_queued(play: Play, now: int) -> bool:
    """Let the first ones of every queue start that fit; True if one is tried again in the next round."""
    state, postponed = play.state, False
    counters, between = state.counters, state.between
    counters[COUNT.retry] = NEVER
    for module in range(between.queued.size):
        tried = between.try_at[module] <= now
        while between.queued[module] > 0 and between.try_at[module] <= now and _start_first(play, module, now):
            counters[COUNT.stale] = 1
        if between.queued[module] > 0 and between.try_at[module] > now:
            counters[COUNT.retry] = min(counters[COUNT.retry], between.try_at[module])
            postponed |= tried and between.try_at[module] < NEVER
    return postponed


@inlined
def _start_first(play: Play, module: int, now: int) -> bool:
    shape, columns, rules, policies, state = play.shape, play.columns, play.rules, play.policies, play.state
    row = int(state.between.queue[module, 0])
    if not fits_now(play, state.between.entry_of[row], module, now):
        return False
    slot = take_slot(state)
    if not exchange(shape, columns, rules, policies, state, NONE, row, module, slot, now):
        _postpone(play, module, now)
        return False
    state.between.queued[module] -= 1
    for k in range(state.between.queued[module]):
        state.between.queue[module, k] = state.between.queue[module, k + 1]
    return True


@noinline
def _postpone(play: Play, module: int, now: int) -> None:
    """Note when the first one of a queue is tried again, which a placement refused just now."""
    rules, state = play.rules, play.state
    at = NEVER
    # Without `may_refuse` no memory is kept, and no placement draws or remembers.
    if rules.may_refuse and remembers_else(play.shape, state, module):
        at = (now // rules.round_cycles + 1) * rules.round_cycles
    state.between.try_at[module] = at
    state.counters[COUNT.retry] = min(state.counters[COUNT.retry], at)
