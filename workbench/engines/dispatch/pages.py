"""How many pages of a group does each module hold? Asked of somebody else before each verdict (spec 6, R15).

A dispatcher alone has nobody to ask: then no module holds any.
"""

from __future__ import annotations

from workbench.compiled import NO_ANSWER, RAISED, inlined, noinline
from workbench.compiled.entry import call
from workbench.engines.dispatch.entries import first_wave_of, group_of, waves_of
from workbench.engines.dispatch.shape import Columns, Policies, Rules
from workbench.engines.dispatch.state import COUNT, FAULT, NONE, State
from workbench.engines.dispatch.told import VERDICT, tell_of
from workbench.engines.kit.faults import fail
from workbench.policies.dispatch.choice.affinity import HELD, PagesNotice

tell_held = HELD.ask
ROUTINE, RUN = 0, 1


@noinline
def ask_pages(columns: Columns, policies: Policies, state: State, entry: int, now: int) -> None:
    """Ask how many pages of an entry each module holds, and tell the terms that want to know."""
    holder, pages = policies.terms.holder, state.pages
    for module in range(pages.size):
        pages[module] = 0
    if holder[ROUTINE] == NO_ANSWER:
        return
    group = group_of(columns, state, entry)
    numbers = (group, first_wave_of(columns, state, entry), waves_of(columns, state, entry))
    if call(holder[ROUTINE], holder[RUN], numbers) == RAISED:
        fail(state.counters, FAULT.pages_raised, now, group, NONE)
    _tell_terms(policies, state, group, now)


@inlined
def _tell_terms(policies: Policies, state: State, group: int, now: int) -> None:
    terms = policies.terms
    for term in range(terms.weights.size):
        if terms.held[term] == NO_ANSWER:
            continue
        params = terms.params[term][: terms.sizes[term, 0]]
        memory = state.term_memory[term][: terms.sizes[term, 1]]
        if tell_held(terms.held[term], PagesNotice(state.pages, params, memory)) == RAISED:
            fail(state.counters, FAULT.choice_raised, now, group, term)


@inlined
def tell_verdict(
    columns: Columns, rules: Rules, policies: Policies, state: State, entry: int, module: int, now: int
) -> None:
    """Keep what was said of a verdict, and the module that was chosen."""
    at = state.counters[COUNT.verdicts]
    if not rules.tells_all or policies.terms.holder[ROUTINE] == NO_ANSWER or at >= state.verdicts.shape[0]:
        return
    for m in range(state.pages.size):
        state.verdicts[at, m] = state.pages[m]
    state.counters[COUNT.verdicts] = at + 1
    tell_of(columns, state, VERDICT, entry, now, module, at)
