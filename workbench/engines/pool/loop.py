"""The compiled loop of the engine `pool`: one request after another, as the service takes them (spec 5, E21).

With `when_full: wait` the loop is that of `waiting.py`, over the same steps.
"""

from __future__ import annotations

from workbench.compiled import by_reference, kernel, routine
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.pool.blocks import card_of, give_region
from workbench.engines.pool.lending import NOWHERE, choose_card, note_lending
from workbench.engines.pool.mapping import note_stitching
from workbench.engines.pool.moving import bring_home, make_room, settle, unsettle
from workbench.engines.pool.serving import LARGEST, has_room, serve
from workbench.engines.pool.state import COUNT, REPEATED, UNKNOWN, Columns, Policies, Rules, State, Tables
from workbench.engines.pool.trimming import trim
from workbench.records.pool import (
    FREE_OF_REFUSED,
    MISJUDGED,
    REFUSED,
    RELEASED,
    REPEATED_FREE,
    STITCHED,
    UNKNOWN_FREE,
)
from workbench.structures.size_index import ADDRESS, FIELDS, NONE


@routine
def simulate(columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State) -> None:
    """Serve every request in its order, or stop when a policy breaks its contract."""
    requests, board, levers, chosen, now = (
        by_reference(columns),
        by_reference(tables),
        by_reference(rules),
        by_reference(policies),
        by_reference(state),
    )
    for row in range(columns.time.size):
        begin(requests, now, row, levers.request_ns)
        if columns.names[row] == NONE:
            allocate(requests, board, levers, chosen, now, row)
        else:
            free(requests, board, levers, chosen, now, row)
        if state.counters[STOP.fault] != FINE:
            return
        serve_time(levers, now, row)
        note_peaks(now)


@routine
def allocate(columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, row: int) -> None:
    """Allocate on the own card first, as long as room is made there, then on another (spec 5, R10, R15)."""
    own, by_sum = columns.borrower[row], rules.metric != LARGEST
    card, trying_own = own, rules.own_first != 0 and tables.capacity[own] > 0
    if trying_own and by_sum and not has_room(columns, rules, policies, state, row, own):
        trying_own, by_sum = make_room(columns, tables, rules, policies, state, row), False
    while True:
        if not trying_own:
            card = choose_card(columns, tables, rules, policies, state, row, row, NOWHERE)
            if card == NONE:
                state.outcome[row] = REFUSED
                return
        granted = serve(columns, rules, policies, state, row, card)
        if granted or not trying_own or by_sum or state.counters[STOP.fault] != FINE:
            break
        trying_own = make_room(columns, tables, rules, policies, state, row)
    if not granted:
        state.outcome[row] = MISJUDGED
        return
    settle(columns, rules, state, row)
    if not trying_own:
        note_lending(columns, tables, rules, policies, state, row, row, card)


@kernel
def free(columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, row: int) -> None:
    """Cache what was allocated, where it lies by now; a free that names nothing in use changes nothing (R28, E19)."""
    named = columns.names[row]
    if named in (UNKNOWN, REPEATED):
        state.outcome[row] = UNKNOWN_FREE if named == UNKNOWN else REPEATED_FREE
        return
    block = int(state.block[named])
    if block == NONE:
        state.outcome[row] = FREE_OF_REFUSED
        return
    card = card_of(state, block)
    state.outcome[row], state.card[row] = RELEASED, card
    state.identifier[row] = state.blocks.nodes[block * FIELDS + ADDRESS]
    unsettle(columns, rules, state, named)
    note_stitching(rules, state, row, block, 0)
    state.taken[row] = give_region(rules, state, block)
    trim(policies, rules, state, row, card)
    bring_home(columns, tables, rules, policies, state, row, card)


@kernel
def begin(columns: Columns, state: State, row: int, overhead: int) -> None:
    """Begin with a request when the service is free, after so many ns: it does one thing at a time (E21)."""
    counters = state.counters
    counters[COUNT.begins] = max(counters[COUNT.free_at], columns.time[row]) + overhead
    counters[COUNT.driver_ns] = 0


@kernel
def serve_time(rules: Rules, state: State, row: int) -> None:
    """Serve a request once the driver is done, moves are, and what is used again is zeroed (spec 5, E20)."""
    counters, outcome = state.counters, state.outcome[row]
    work = counters[COUNT.driver_ns]
    if rules.zero_gbps > 0.0 and outcome <= STITCHED:
        work += int(counters[COUNT.reused] / rules.zero_gbps)
    counters[COUNT.free_at] = counters[COUNT.begins] + work
    state.done[row] = counters[COUNT.free_at]


@kernel
def note_peaks(state: State) -> None:
    """Remember the most cached bytes of each card."""
    for card in range(state.peak.size):
        state.peak[card] = max(state.peak[card], state.cached[card])
