"""The compiled loop of the engine `pool`: one request after another, as the service takes them (spec 5, E21)."""

from __future__ import annotations

from workbench.compiled import RAISED, kernel, lend, routine
from workbench.engines.pool.blocks import give, return_to_driver
from workbench.engines.pool.lending import choose_card, note_lending
from workbench.engines.pool.serving import LARGEST, has_room, serve
from workbench.engines.pool.state import (
    ANSWER,
    AT_ROW,
    DRIVER_NS,
    FINE,
    FREE_AT,
    POOLS,
    RAISED_IN_IDLE,
    REPEATED,
    STATUS,
    UNKNOWN,
    WRONG_ORIGIN,
    Columns,
    Policies,
    Rules,
    State,
    Tables,
)
from workbench.policies.pool.idle.question import EACH, IN_USE, RELEASE
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
from workbench.structures.size_index import ADDRESS, FIELDS, NONE, ORIGIN, SIZE

ask_idle = RELEASE.ask


@routine
def simulate(columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State) -> None:
    """Serve every request, or stop when a policy breaks its contract."""
    asked, board, levers, chosen, now = lend(columns), lend(tables), lend(rules), lend(policies), lend(state)
    for row in range(columns.time.size):
        state.counters[DRIVER_NS] = 0
        if columns.names[row] == NONE:
            allocate(asked, board, levers, chosen, now, row)
        else:
            free(asked, levers, chosen, now, row)
        if state.counters[STATUS] != FINE:
            return
        _serve_time(asked, levers, now, row)
        for card in range(tables.capacity.size):
            state.peak[card] = max(state.peak[card], state.cached[card])


@routine
def allocate(columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, row: int) -> None:
    """The own card first, then another (spec 5, R10, R15)."""
    own = columns.borrower[row]
    card, trying_own = own, rules.own_first != 0 and tables.capacity[own] > 0
    if trying_own and rules.metric != LARGEST:
        trying_own = has_room(columns, rules, policies, state, row, own)
    while True:
        if not trying_own:
            card = choose_card(columns, tables, rules, policies, state, row)
            if card == NONE:
                state.outcome[row] = REFUSED
                return
        granted = serve(columns, rules, policies, state, row, card)
        if granted or not trying_own or rules.metric != LARGEST or state.counters[STATUS] != FINE:
            break
        trying_own = False
    if not granted:
        state.outcome[row] = MISJUDGED
    elif not trying_own:
        note_lending(columns, tables, rules, policies, state, row, card)


@kernel
def free(columns: Columns, rules: Rules, policies: Policies, state: State, row: int) -> None:
    """Cache what was allocated; a free that names nothing in use changes nothing (spec 5, R28, E19)."""
    named = columns.names[row]
    if named in (UNKNOWN, REPEATED):
        state.outcome[row] = UNKNOWN_FREE if named == UNKNOWN else REPEATED_FREE
        return
    block = int(state.block[named])
    if block == NONE:
        state.outcome[row] = FREE_OF_REFUSED
        return
    nodes, card = state.blocks.nodes, state.card[named]
    state.outcome[row], state.card[row], state.taken[row] = RELEASED, card, state.taken[named]
    state.identifier[row] = nodes[block * FIELDS + ADDRESS]
    while block != NONE:
        following = int(state.piece[block])
        give(rules, state, int(state.pool[nodes[block * FIELDS + ORIGIN]]), block)
        block = following
    _trim(policies, rules, state, row, card)


@kernel
def _trim(policies: Policies, rules: Rules, state: State, row: int, card: int) -> None:
    """Give back whole driver allocations until the cached bytes are within the limit (spec 5, R29, E6, E7)."""
    limit = policies.idle_limit if rules.keeps else 0
    while state.cached[card] > limit and state.oldest[card] != NONE:
        found = state.oldest[card]
        if rules.keeps:
            excess = state.cached[card] - limit
            found = ask_idle(policies.idle, excess, found, state.origins, policies.idle_params)
        if found == NONE:
            return
        if not _can_go(state, card, found):
            state.counters[STATUS] = RAISED_IN_IDLE if found == RAISED else WRONG_ORIGIN
            state.counters[AT_ROW], state.counters[ANSWER] = row, found
            return
        return_to_driver(rules, state, row, found)


@kernel
def _can_go(state: State, card: int, origin: int) -> bool:
    """Whether it is a driver allocation of the card that is wholly cached."""
    if origin < 0 or origin >= state.piece.size or state.blocks.nodes[origin * FIELDS + SIZE] == 0:
        return False
    is_one = state.blocks.nodes[origin * FIELDS + ORIGIN] == origin and state.origins[origin * EACH + IN_USE] == 0
    return bool(is_one and state.pool[origin] // POOLS == card)


@kernel
def _serve_time(columns: Columns, rules: Rules, state: State, row: int) -> None:
    """The service takes one request at a time: from when it is free, so long as its work lasts (spec 5, E20, E21)."""
    counters, outcome = state.counters, state.outcome[row]
    work = rules.request_ns + counters[DRIVER_NS]
    if rules.zero_gbps > 0.0 and outcome in (CACHED, STITCHED):
        work += int(state.taken[row] / rules.zero_gbps)
    counters[FREE_AT] = max(counters[FREE_AT], columns.time[row]) + work
    state.done[row] = counters[FREE_AT]
