"""A row between two events, where no stretch is worth beginning: a hit is counted at once, a miss is looked up once."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import inlined, noinline
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.finding import NOWHERE, find
from workbench.engines.translation.hits import count_hits, count_window, fetch_page, is_far
from workbench.engines.translation.issuing import PRIVATE, await_answer
from workbench.engines.translation.ordering import order_of_row
from workbench.engines.translation.shape import to_int64
from workbench.engines.translation.state import KINDS_OF_SERVICE, Run
from workbench.structures.entry_sets import NONE, PUSHER, ROW, set_of, touch

ONE: Any = np.int64(1)
NO_WALK: Any = np.int64(0)


@noinline
def serve_row(run: Run, row: int, end: int) -> bool:
    """Return whether a row is served, or waits for an answer: not one that waits for its core, unmaps, or uses a copy
    that somebody wants to hear of."""
    rows, core, cycle = run.rows, to_int64(run.rows.core[row]), run.rows.cycle[row]
    if run.state.halted[core] or (rows.unmap.size > 0 and rows.unmap[row]):
        return False
    if is_far(run):
        fetch_page(run, row, end)
    page = to_int64(rows.number[row])
    entry = find(run, core, page)
    if entry == NOWHERE:
        run.state.counters[COUNT.now] = cycle
        known, order = cycle + run.rules.private_cycles, order_of_row(rows, row)
        await_answer(run, core, page, rows.key[row], rows.page[row], order, cycle, known, cycle)
        return True
    if run.state.tlbs.entries[entry * ROW + PUSHER] != NONE:
        return False
    _serve_hit(run, core, rows.key[row], entry, cycle)
    return True


@inlined
def _serve_hit(run: Run, core: int, key: int, entry: int, cycle: int) -> None:
    """Serve a hit that tells nobody."""
    rules, state = run.rules, run.state
    touch(state.tlbs, core * rules.private_sets + set_of(key, rules.private_sets), entry)
    state.served[core * KINDS_OF_SERVICE + PRIVATE] += 1
    count_window(run, cycle, ONE)
    count_hits(run, ONE, NO_WALK, cycle)
