"""A miss that is answered before anything else happens is served in one step, as if each of its events had happened.

It takes no register, and none of its messages is an event. A walk that it needs begins in the same step, and ends as
any other.
"""

from __future__ import annotations

from workbench.compiled import inlined
from workbench.engines.translation.asking import ANSWER, FROM_PEER, NOBODY, REQUEST, nearest
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.far_filling import shared_set
from workbench.engines.translation.filling import fill_private
from workbench.engines.translation.finding import NOWHERE, find
from workbench.engines.translation.issuing import await_answer
from workbench.engines.translation.ordering import order_of_row
from workbench.engines.translation.registers import register_of, take_register
from workbench.engines.translation.reporting import ONE_MESSAGE, count_messages, count_served
from workbench.engines.translation.sampling import sample_if_due
from workbench.engines.translation.scheduling import next_cycle
from workbench.engines.translation.shape import to_int64
from workbench.engines.translation.state import Run
from workbench.engines.translation.walking import SHARED, request_at_walkers
from workbench.policies.translation.locate import DIRECTORY
from workbench.structures.set_assoc import NONE, touch


@inlined
def miss(run: Run, row: int, end: int) -> None:
    """Let a row wait for a page that its core's own TLB does not hold, unless it is answered at once."""
    core, page = to_int64(run.rows.core[row]), to_int64(run.rows.number[row])
    if run.rules.answers_at_once and _serve_at_once(run, row, end, core, page):
        return
    rows, cycle = run.rows, run.rows.cycle[row]
    run.state.counters[COUNT.now] = cycle
    known, order = cycle + run.rules.private_cycles, order_of_row(rows, row)
    await_answer(run, core, page, rows.key[row], rows.page[row], order, cycle, known, cycle)


@inlined
def _serve_at_once(run: Run, row: int, end: int, core: int, page: int) -> bool:
    """Return whether a row that misses is served, or its walk begun, before anything else happens."""
    rules, plan, rows = run.rules, run.policies.plan, run.rows
    if row + 1 == end or run.state.in_use[core] == rules.mshrs or register_of(run, core, page) != NONE:
        return False
    quiet, leave = min(next_cycle(run) - 1, rows.cycle[row + 1]), rows.cycle[row] + rules.private_cycles
    if plan.kind == DIRECTORY:
        leave += plan.look_up_cycles
        peer = nearest(run, core, run.state.held, page * rules.words)
        if peer != NOBODY:
            return _ask_peer(run, row, core, page, peer, leave, quiet)
    return _ask_shared(run, row, core, page, leave, quiet)


@inlined
def _ask_peer(run: Run, row: int, core: int, page: int, peer: int, leave: int, quiet: int) -> bool:
    """Return whether a peer, which holds the page, is asked at a cycle and answers until another."""
    rules, state = run.rules, run.state
    way = state.hops[core * rules.cores + peer] * rules.hop_cycles
    replies = leave + way + rules.private_cycles
    if replies + way > quiet:
        return False
    state.load[peer] += 1
    state.counters[COUNT.remote] += 1
    state.counters[COUNT.noc_trips] += 2
    count_messages(run, REQUEST, ONE_MESSAGE, leave)
    count_messages(run, ANSWER, ONE_MESSAGE, replies)
    _serve(run, row, core, page, FROM_PEER, peer, replies + way)
    return True


@inlined
def _ask_shared(run: Run, row: int, core: int, page: int, leave: int, quiet: int) -> bool:
    """Return whether the shared TLB is asked at a cycle and answers, or the walkers are reached, until another."""
    rules, state, done = run.rules, run.state, leave + run.rules.shared_cycles
    if done > quiet:
        return False
    state.counters[COUNT.shared_accesses] += 1
    entry = find(run, rules.tlbs - 1, page)
    if entry == NOWHERE:
        _walk(run, row, core, page, done)
    else:
        touch(state.tlbs, shared_set(run, run.rows.key[row]), entry)
        _serve(run, row, core, page, SHARED, NONE, done)
    return True


@inlined
def _serve(run: Run, row: int, core: int, page: int, source: int, peer: int, done: int) -> None:
    """Serve a row at a cycle, and fill its core."""
    rows, order = run.rows, order_of_row(run.rows, row)
    run.state.counters[COUNT.now] = done
    count_served(run, core, rows.page[row], rows.cycle[row], done, source, peer)
    fill_private(run, core, page, rows.key[row], NONE, order, done)
    sample_if_due(run)


@inlined
def _walk(run: Run, row: int, core: int, page: int, now: int) -> None:
    """Let a row be at the walkers."""
    rows, order = run.rows, order_of_row(run.rows, row)
    run.state.counters[COUNT.now] = now
    miss = take_register(run, core, page, rows.key[row], rows.page[row], order, rows.cycle[row])
    request_at_walkers(run, miss, now)
