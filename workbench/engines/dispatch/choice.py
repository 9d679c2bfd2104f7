"""The choice of a round: the offer that is dispatched, and the module that takes it.

The selection policy takes one of the channels' heads. Scores of the candidate modules are summed, and the rule for ties
decides between equals. How many pages of a group each module holds is asked of the translation part of a node before
each verdict (spec 6, R15); a dispatcher by itself has no such part: then no module holds any.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, inlined, kernel, noinline
from workbench.compiled.memory_access import call
from workbench.engines.dispatch.channels import VERDICT, tell_of
from workbench.engines.dispatch.history import remember, warm_up
from workbench.engines.dispatch.setting import LOWEST, RANDOM, Columns, Policies, Rules, Shape, Terms
from workbench.engines.dispatch.state import COUNT, FAULT, NONE, State
from workbench.engines.dispatch.subgroups import first_wave_of, group_of, level_of, members, waves_of, write_needs
from workbench.engines.kit.faults import fail
from workbench.policies.dispatch.choice.question import HELD, SCORE
from workbench.policies.dispatch.choice.view import ChoiceView, PagesNotice
from workbench.policies.dispatch.priority import RANK, PriorityView
from workbench.policies.dispatch.selection.question import SELECT
from workbench.policies.dispatch.selection.view import SelectionView
from workbench.structures.rng import below

ask_rank = RANK.ask
ask_selection = SELECT.ask
OFFER, CHANNEL, PRIORITY, RANKED, FITS, WAITED, WAVES = range(7)
NOTHING_FITS, REFUSED, BROKEN = -1, -2, -3


@kernel
def anything_fits(rules: Rules, state: State) -> bool:
    """Return True if any offer fits some module."""
    for channel in range(rules.channels):
        for offer in range(channel * rules.offers, channel * rules.offers + state.offered[channel]):
            if state.opens[offer] > 0:
                return True
    return False


@noinline
def select(columns: Columns, rules: Rules, policies: Policies, state: State, now: int) -> int:
    """Choose the offer to dispatch; NOTHING_FITS, or REFUSED where the selection policy dispatches nothing."""
    if not anything_fits(rules, state):
        return NOTHING_FITS
    count = 0
    for channel in range(rules.channels):
        # A channel of which nothing fits is shown too: under `strict_blocking` it blocks the others (R15).
        if state.offered[channel] > 0:
            _put_down(columns, rules, policies, state, channel, count, now)
            count += 1
    seen, policy = state.entry, policies.selection
    chosen = ask_selection(
        policy.answer,
        SelectionView(
            now,
            count,
            seen[CHANNEL],
            seen[PRIORITY],
            seen[RANKED],
            seen[FITS],
            seen[WAITED],
            seen[WAVES],
            policy.params,
            policy.memory,
        ),
    )
    if chosen == NONE:
        return REFUSED
    if chosen == RAISED:
        fail(state.counters, FAULT.selection_raised, now, NONE, chosen)
        return BROKEN
    if chosen < 0 or chosen >= count or seen[FITS, chosen] == 0:
        fail(state.counters, FAULT.selection_wrong, now, NONE, chosen)
        return BROKEN
    return seen[OFFER, chosen]


@inlined
def _put_down(
    columns: Columns, rules: Rules, policies: Policies, state: State, channel: int, at: int, now: int
) -> None:
    """Write down what a channel puts forward: its first offer that fits, else its head."""
    offer = channel * rules.offers
    for behind in range(state.offered[channel]):
        if state.opens[channel * rules.offers + behind] > 0:
            offer = channel * rules.offers + behind
            break
    entry, seen = state.offer[offer], state.entry
    group = group_of(columns, state, entry)
    waited = now - columns.arrival[group]
    level = level_of(columns, state, entry)
    rank = ask_rank(policies.priority.answer, PriorityView(now, level, rules.levels, waited, policies.priority.params))
    if rank == RAISED:
        fail(state.counters, FAULT.priority_raised, now, group, level)
    # A level below all keeps its label: only the static priorities are one (E3).
    label = 1 if rules.one_label and level <= rules.levels else level
    seen[OFFER, at], seen[CHANNEL, at], seen[PRIORITY, at], seen[RANKED, at] = offer, channel, label, rank
    seen[FITS, at] = int(state.opens[offer] > 0)
    seen[WAITED, at], seen[WAVES, at] = waited, waves_of(columns, state, entry)


ask_score = SCORE.ask


@noinline
def choose(shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State, offer: int, now: int) -> int:
    """Choose the module that takes an offer, of those that it fits."""
    count = members(state.open[offer], state.candidates)
    return best_of(shape, columns, rules, policies, state, state.offer[offer], count, now)


@noinline
def best_of(
    shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State, entry: int, count: int, now: int
) -> int:
    """Choose the module that takes an entry, of so many candidates."""
    write_needs(shape, columns, state, entry, state.need)
    if rules.heat_cycles:
        warm_up(rules, policies, state, now)
    if rules.asks_pages:
        ask_pages(columns, policies, state, entry, now)
    sums, several = state.scores[1], policies.terms.weights.size > 1
    for k in range(count):
        sums[k] = 0.0
    for term in range(policies.terms.weights.size):
        _score(shape, columns, rules, policies, state, term, count, now, group_of(columns, state, entry))
        if several:
            _normalise(state.scores[0], count)
        for k in range(count):
            sums[k] += policies.terms.weights[term] * state.scores[0, k] if several else state.scores[0, k]
    module = _best(rules, state, count)
    if rules.asks_pages:
        tell_verdict(columns, rules, policies, state, entry, module, now)
    return module


@inlined
def memory_row(terms: Terms, state: State, term: int) -> int:
    """Return the row of what a term remembers: of all dies, or of the die that was chosen (spec 7, E8)."""
    return state.counters[COUNT.memory] * terms.weights.size + term


@inlined
def _score(
    shape: Shape,
    columns: Columns,
    rules: Rules,
    policies: Policies,
    state: State,
    term: int,
    count: int,
    now: int,
    group: int,
) -> None:
    terms, scores = policies.terms, state.scores[0]
    remembers = terms.history[term] > 0 or terms.halving[term] > 0
    if remembers:
        for k in range(count):
            remember(columns, rules, policies, state, term, state.candidates[k], now)
    status = ask_score(
        terms.answers[term],
        ChoiceView(
            now,
            count,
            state.candidates,
            state.need,
            state.total,
            state.longest,
            shape.totals,
            state.recent[int(remembers)][: shape.modules * terms.classes[term]],
            state.heat,
            scores,
            terms.params[term][: terms.sizes[term, 0]],
            state.term_memory[memory_row(terms, state, term)][: terms.sizes[term, 1]],
        ),
    )
    if status == RAISED:
        fail(state.counters, FAULT.choice_raised, now, group, term)
    for k in range(count):
        # With one term an infinite score still ranks; with several, scores are scaled to 0..1, which may make it NaN.
        if math.isnan(scores[k]) or (math.isinf(scores[k]) and terms.weights.size > 1):
            fail(state.counters, FAULT.choice_wrong, now, group, state.candidates[k])


@inlined
def _normalise(scores: np.ndarray, count: int) -> None:
    """Bring scores to 0..1 over the candidates, 0 where all are equal (spec 3, E20)."""
    least = most = scores[0]
    for k in range(1, count):
        least, most = min(least, scores[k]), max(most, scores[k])
    for k in range(count):
        scores[k] = (scores[k] - least) / (most - least) if most > least else 0.0


@inlined
def _best(rules: Rules, state: State, count: int) -> int:
    """Choose the candidate with the highest sum; of equal ones the lowest, a random one, or the next after the last
    taken."""
    sums, modules = state.scores[1], state.candidates
    most, tied = sums[0], 0
    for k in range(1, count):
        most = max(most, sums[k])
    for k in range(count):
        if sums[k] == most:
            modules[tied] = modules[k]
            tied += 1
    # The candidates are in increasing order. Without a tie no random number is drawn.
    if rules.tie == LOWEST or tied == 1:
        return modules[0]
    if rules.tie == RANDOM:
        return modules[below(state.counters, COUNT.generator, tied)]
    for k in range(tied):
        if modules[k] > state.last_module[state.counters[COUNT.memory]]:
            return modules[k]
    return modules[0]


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
        memory = state.term_memory[memory_row(terms, state, term)][: terms.sizes[term, 1]]
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
