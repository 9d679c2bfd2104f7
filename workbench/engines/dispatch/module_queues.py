"""The queue in front of each module: dispatched groups that wait for its resources (spec 7, R22).

A group that finds the queue empty and fits starts at once, without a place. The first one of a queue starts as soon as
it fits. Queues are looked at in ascending order of modules, after the releases of a cycle and before its round (E7).
"""

from __future__ import annotations

from workbench.compiled import inlined, noinline
from workbench.engines.dispatch.channels import take_off
from workbench.engines.dispatch.fit import fits_now
from workbench.engines.dispatch.grants import take_slot
from workbench.engines.dispatch.state import COUNT, NONE, Play
from workbench.engines.dispatch.steps import book, exchange


@noinline
def join_queue(play: Play, offer: int, module: int, now: int) -> None:
    """Dispatch an offer to a module, in whose queue there is a place."""
    shape, columns, rules, policies, state = play.shape, play.columns, play.rules, play.policies, play.state
    row = book(shape, columns, rules, policies, state, state.offer[offer], module, NONE, now)
    state.between.queue[module, state.between.queued[module]] = row
    state.between.queued[module] += 1
    take_off(columns, rules, state, offer)


@noinline
def start_queued(play: Play, now: int) -> None:
    """Let the first ones of every queue start that fit."""
    state = play.state
    for module in range(state.between.queued.size):
        while state.between.queued[module] > 0 and _start_first(play, module, now):
            state.counters[COUNT.stale] = 1


@inlined
def _start_first(play: Play, module: int, now: int) -> bool:
    shape, columns, rules, policies, state = play.shape, play.columns, play.rules, play.policies, play.state
    row = int(state.between.queue[module, 0])
    if not fits_now(play, state.between.entry_of[row], module, now):
        return False
    slot = take_slot(state)
    if not exchange(shape, columns, rules, policies, state, NONE, row, module, slot, now):
        return False
    state.between.queued[module] -= 1
    for k in range(state.between.queued[module]):
        state.between.queue[module, k] = state.between.queue[module, k + 1]
    return True
