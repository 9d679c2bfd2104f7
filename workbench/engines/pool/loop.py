"""The compiled loop of the engine `pool`: one request after another, as the service takes them (spec 5, E21)."""

from __future__ import annotations

from workbench.compiled import kernel, lend, routine
from workbench.engines.pool.blocks import card_of, give_region
from workbench.engines.pool.lending import choose_card, note_lending
from workbench.engines.pool.moving import bring_home, make_room, settle, unsettle
from workbench.engines.pool.serving import LARGEST, has_room, serve
from workbench.engines.pool.state import (
    DRIVER_NS,
    FINE,
    FREE_AT,
    REPEATED,
    STATUS,
    UNKNOWN,
    Columns,
    Policies,
    Rules,
    State,
    Tables,
)
from workbench.engines.pool.trimming import trim
from workbench.records.pool import (
    CACHED,
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
    """Serve every request, or stop when a policy breaks its contract."""
    asked, board, levers, chosen, now = lend(columns), lend(tables), lend(rules), lend(policies), lend(state)
    for row in range(columns.time.size):
        state.counters[DRIVER_NS] = 0
        if columns.names[row] == NONE:
            _allocate(asked, board, levers, chosen, now, row)
        else:
            _free(asked, board, levers, chosen, now, row)
        if state.counters[STATUS] != FINE:
            return
        _serve_time(asked, levers, now, row)
        for card in range(tables.capacity.size):
            state.peak[card] = max(state.peak[card], state.cached[card])


@kernel
def _allocate(columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, row: int) -> None:
    """The own card first, what lies there making room where the residency says so, then another (R10, R15, E17)."""
    own = columns.borrower[row]
    card, trying_own = own, rules.own_first != 0 and tables.capacity[own] > 0
    if trying_own and rules.metric != LARGEST:
        trying_own = has_room(columns, rules, policies, state, row, own)
    while True:
        if not trying_own:
            if make_room(columns, tables, rules, policies, state, row):
                settle(columns, rules, state, row)
                return
            card = choose_card(columns, tables, rules, policies, state, row, row, NONE)
            if card == NONE:
                state.outcome[row] = REFUSED
                return
        granted = serve(columns, rules, policies, state, row, card)
        if granted or not trying_own or rules.metric != LARGEST or state.counters[STATUS] != FINE:
            break
        trying_own = False
    if not granted:
        state.outcome[row] = MISJUDGED
        return
    settle(columns, rules, state, row)
    if not trying_own:
        note_lending(columns, tables, rules, policies, state, row, row, card)


@kernel
def _free(columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, row: int) -> None:
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
    state.taken[row] = give_region(rules, state, block)
    trim(policies, rules, state, row, card)
    bring_home(columns, tables, rules, policies, state, row, card)


@kernel
def _serve_time(columns: Columns, rules: Rules, state: State, row: int) -> None:
    """The service takes one request at a time: from when it is free, so long as its work lasts (spec 5, E20, E21)."""
    counters, outcome = state.counters, state.outcome[row]
    work = rules.request_ns + counters[DRIVER_NS]
    if rules.zero_gbps > 0.0 and outcome in (CACHED, STITCHED):
        work += int(state.taken[row] / rules.zero_gbps)
    counters[FREE_AT] = max(counters[FREE_AT], columns.time[row]) + work
    state.done[row] = counters[FREE_AT]
