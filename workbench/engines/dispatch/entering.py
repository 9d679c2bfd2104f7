"""Entering what modules execute, into as many spans as there is room for (spec 6, R16, N10)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.engines.dispatch.past import warm_up
from workbench.engines.dispatch.recalling import NOW, read_edge
from workbench.engines.dispatch.shape import Policies, Rules
from workbench.engines.dispatch.spans import enter_span, free_spans, read_until
from workbench.engines.dispatch.state import COUNT, NONE, Play, State

FULL = NONE


@noinline
def enter(play: Play, module: int, kind: int, begin: int, end: int, amount: int, now: int) -> int:
    """Enter something that a module executes of a class from one cycle on and before another; FULL without room.

    Room is what nobody will read again: spans that ended before the longest window.
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
        read_until(state, NOW, module, now)
        for term in range(policies.terms.weights.size):
            read_edge(policies, state, term, module, now)
        if not rules.heat_cycles:
            read_until(state, heat, module, now)
    if rules.heat_cycles:
        warm_up(rules, policies, state, now)
