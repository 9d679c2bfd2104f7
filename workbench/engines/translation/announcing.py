"""Eviction policies hear which page comes in, before they are asked what goes."""

from __future__ import annotations

from workbench.compiled import NO_ANSWER, RAISED, inlined, noinline
from workbench.engines.kit import fail
from workbench.engines.translation.counters import FAULT
from workbench.engines.translation.state import Run
from workbench.policies.translation.eviction.question import INCOMING, IncomingView, ReadyEviction
from workbench.structures.set_assoc import FIRST, NONE, ROW, WAYS

incoming = INCOMING.ask


@inlined
def tell_incoming(run: Run, policy: ReadyEviction, page: int, at: int, first_set: int, now: int) -> None:
    """Tell an eviction policy which page comes into a set, where it wants to know."""
    if policy.incoming != NO_ANSWER:
        _tell_incoming(run, policy, page, at, first_set, now)


@noinline
def _tell_incoming(run: Run, policy: ReadyEviction, page: int, at: int, first_set: int, now: int) -> None:
    sets, row = run.state.tlbs.sets, at * ROW
    view = IncomingView(page, at - first_set, sets[row + FIRST], sets[row + WAYS], policy.params, policy.memory)
    if incoming(policy.incoming, view) == RAISED:
        fault = FAULT.shared_eviction_raised if first_set > 0 else FAULT.eviction_raised
        fail(run.state.counters, fault, now, NONE, RAISED)
