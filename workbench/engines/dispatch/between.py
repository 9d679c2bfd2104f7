"""What the loop calls where something stands between queue and unit (spec 7), by address.

A run without any of it neither compiles these routines nor pays for them.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.compiled import entry_point, noinline
from workbench.compiled.memory_access import Referent, entry_of
from workbench.engines.dispatch.admission import note_resident
from workbench.engines.dispatch.choice import choose
from workbench.engines.dispatch.clusters import dispatch_cluster
from workbench.engines.dispatch.grants import take_slot
from workbench.engines.dispatch.history import follow_paces
from workbench.engines.dispatch.module_queues import join_queue, start_queued
from workbench.engines.dispatch.open_modules import memory_of, number_dispatch, open_modules
from workbench.engines.dispatch.pace import renew_pace, take_paced
from workbench.engines.dispatch.residents import enter_module, leave_module
from workbench.engines.dispatch.setting import HOOK
from workbench.engines.dispatch.state import COUNT, NO_ROW, Play
from workbench.engines.dispatch.steps import exchange
from workbench.engines.dispatch.subgroups import is_cluster, is_member
from workbench.engines.kit.faults import FINE, STOP

DONE = 0


@entry_point
def _open_modules(play: Play, now: int) -> int:
    open_modules(play, now)
    return DONE


@entry_point
def _dispatch(play: Play, offer: int, now: int) -> int:
    return int(_dispatch_offer(play, offer, now))


@noinline
def _dispatch_offer(play: Play, offer: int, now: int) -> bool:
    """Let an offer go: as a cluster, to a die, into a module's queue."""
    shape, columns, rules, policies, state = play.shape, play.columns, play.rules, play.policies, play.state
    entry, sent = state.offer[offer], True
    if is_cluster(columns, rules, entry):
        sent = dispatch_cluster(play, offer, now)
    else:
        state.counters[COUNT.memory] = max(memory_of(state, offer), 0)
        module = choose(shape, columns, rules, policies, state, offer, now)
        waits = False
        if rules.pending_depth:
            # Behind others it waits even if it fits, else it would overtake them (R22).
            waits = state.between.queued[module] > 0 or not is_member(state.fits[offer], module)
        if not waits:
            sent = exchange(shape, columns, rules, policies, state, offer, NO_ROW, module, take_slot(state), now)
        # One that a placement refuses waits in the queue as well: a module with a place there takes it (R22).
        if rules.pending_depth and (waits or not sent) and state.counters[STOP.fault] == FINE:
            join_queue(play, offer, module, not waits, now)
            sent = True
    if sent and rules.asks_die:
        number_dispatch(play, entry)
    state.counters[COUNT.memory] = 0
    return sent


@entry_point
def _start_queued(play: Play, now: int) -> int:
    return int(start_queued(play, now))


@entry_point
def _note(play: Play, row: int, entry: int) -> int:
    """Count a dispatch among the groups of its module."""
    play.state.between.entry_of[row] = entry
    note_resident(play.columns, play.state, entry, int(play.state.module[row]), 1)
    return DONE


@entry_point
def _enter(play: Play, row: int, slot: int, now: int) -> int:
    enter_module(play.columns, play.rules, play.policies, play.state, row, slot, now)
    return DONE


@entry_point
def _leave(play: Play, row: int, slot: int, now: int) -> int:
    leave_module(play.columns, play.rules, play.policies, play.state, row, slot, now)
    return DONE


@entry_point
def _renew_pace(play: Play, now: int) -> int:
    renew_pace(play, now)
    return DONE


@entry_point
def _take_paced(play: Play, now: int) -> int:
    return take_paced(play.state, now)


@entry_point
def _follow_paces(play: Play, term: int, module: int, until: int) -> int:
    follow_paces(play.state, term, module, until)
    return DONE


_ROUTINES: dict[str, Callable[..., int]] = {
    "open_modules": _open_modules,
    "dispatch": _dispatch,
    "start_queued": _start_queued,
    "note": _note,
    "enter": _enter,
    "leave": _leave,
    "renew_pace": _renew_pace,
    "take_paced": _take_paced,
    "follow_paces": _follow_paces,
}
"""By their names in `Hooks`."""


def hook(play: Play, lent: Referent) -> None:
    """Let a run call these routines on a play that is lent to it and outlives it."""
    hooks = play.policies.hooks
    for name, routine in _ROUTINES.items():
        hooks[getattr(HOOK, name)], hooks[HOOK.lent] = entry_of(routine, lent)
