"""Looks at who shares what: entries by the degree of their page, and pages that two cores both hold."""

from __future__ import annotations

from workbench.compiled import entry_point, inlined, kernel, noinline
from workbench.engines.kit import FINE, STOP
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.state import Run
from workbench.structures.bitmaps import FIRST_WORD, NOBODY, next_core
from workbench.structures.set_assoc import HELD, NONE, PAGE, ROW


@kernel
def sample_if_due(run: Run) -> None:
    """Look at the end of an event that serves the access after which a look is due."""
    counters = run.state.counters
    while counters[COUNT.served] >= counters[COUNT.next_sample]:
        counters[COUNT.next_sample] += run.rules.sample_accesses
        sample(run)


@entry_point
def sample(run: Run) -> None:
    """Look at who shares what now."""
    rules, state = run.rules, run.state
    state.counters[COUNT.samples] += 1
    if rules.cores == 1:
        _count_own(run)
        return
    for entry in range(rules.cores * rules.private_entries):
        page = state.tlbs.entries[entry * ROW + PAGE]
        if page != NONE:
            first = next_core(state.held, page * rules.words, rules.words, FIRST_WORD)
            if first == entry // rules.private_entries:
                _count_holders(run, page * rules.words, first)


@kernel
def _count_own(run: Run) -> None:
    """Count the entries of the only core, each of which one core holds."""
    for at in range(run.rules.private_sets):
        run.state.degrees[1] += run.state.tlbs.sets[at * ROW + HELD]


@noinline
def _count_holders(run: Run, row: int, first: int) -> None:
    """Count the holders of a page, of whom the first is given, and every pair of them; `push` is room for a list."""
    rules, state, count = run.rules, run.state, 0
    holders, peer = state.push, first
    while peer != NOBODY:
        holders[count] = peer
        count += 1
        peer = next_core(state.held, row, rules.words, peer + 1)
    state.degrees[count] += count
    for one in range(count):
        for other in range(one):
            state.pair_sums[holders[one] * rules.cores + holders[other]] += 1
            state.pair_sums[holders[other] * rules.cores + holders[one]] += 1


@inlined
def sample_at_end(run: Run) -> None:
    """Look at who shares what once more, where nothing more will happen."""
    counters = run.state.counters
    if counters[COUNT.ended] and counters[STOP.fault] == FINE:
        sample(run)
