"""Which of the modules with room takes the group? Scores of the candidates, summed, and the rule for ties."""

from __future__ import annotations

import math

import numpy as np

from workbench.compiled import RAISED, inlined, noinline
from workbench.engines.dispatch.bits import members
from workbench.engines.dispatch.entries import group_of, needs
from workbench.engines.dispatch.pages import ask_pages, tell_verdict
from workbench.engines.dispatch.past import remember, warm_up
from workbench.engines.dispatch.shape import LOWEST, RANDOM, Columns, Policies, Rules, Shape
from workbench.engines.dispatch.state import COUNT, FAULT, State
from workbench.engines.kit.faults import fail
from workbench.policies.dispatch.choice.question import SCORE, ChoiceView
from workbench.structures.rng import below

ask_score = SCORE.ask


@noinline
def choose(shape: Shape, columns: Columns, rules: Rules, policies: Policies, state: State, offer: int, now: int) -> int:
    """Choose the module that takes an offer, of those that it fits."""
    count = members(state.fits[offer], state.candidates)
    entry = state.offer[offer]
    needs(shape, columns, state, entry, state.need)
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
            state.term_memory[term][: terms.sizes[term, 1]],
        ),
    )
    if status == RAISED:
        fail(state.counters, FAULT.choice_raised, now, group, term)
    for k in range(count):
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
    if rules.tie == LOWEST or tied == 1:
        return modules[0]
    if rules.tie == RANDOM:
        return modules[below(state.counters, COUNT.generator, tied)]
    for k in range(tied):
        if modules[k] > state.counters[COUNT.last_module]:
            return modules[k]
    return modules[0]
