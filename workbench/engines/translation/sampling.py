"""Looks at who shares what: entries by the degree of their page, and pages that two cores both hold."""

from __future__ import annotations

from workbench.compiled import apart, kernel, lend
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.state import Run
from workbench.structures.core_bits import NOBODY, count_cores, next_core
from workbench.structures.entry_sets import NONE, PAGE, ROW


@kernel
def sample_if_due(run: Run) -> None:
    """Look at the end of an event that serves the access after which a look is due."""
    counters = run.state.counters
    while counters[COUNT.served] >= counters[COUNT.next_sample]:
        counters[COUNT.next_sample] += run.rules.sample_accesses
        sample(run)


@apart
def sample(run: Run) -> None:
    """Look at who shares what now."""
    rules, state = run.rules, run.state
    state.counters[COUNT.samples] += 1
    for entry in range(rules.cores * rules.private_entries):
        page = state.tlbs.entries[entry * ROW + PAGE]
        if page != NONE:
            _count_holders(run, page * rules.words, entry // rules.private_entries)


@apart
def _count_holders(run: Run, row: int, core: int) -> None:
    """Count the holders of the page of an entry, and the pairs that its core makes with them."""
    rules, state = run.rules, run.state
    state.degrees[count_cores(state.held, row, rules.words)] += 1
    peer = next_core(state.held, row, rules.words, 0)
    while peer != NOBODY:
        if peer != core:
            state.pair_sums[core * rules.cores + peer] += 1
        peer = next_core(state.held, row, rules.words, peer + 1)


@kernel
def last_sample(run: Run) -> None:
    """Look at who shares what once more, at the end."""
    sample(lend(run))
