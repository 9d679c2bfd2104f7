"""Regions that move between cards (spec 5, E17 and section 7).

They move home when bytes come back on their application's card, and away when a newcomer needs space.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel, noinline
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.pool.blocks import give_region, use
from workbench.engines.pool.cards import choose_card, note_lending, settle, unsettle
from workbench.engines.pool.driver import could_have
from workbench.engines.pool.grants import ask_driver, cached_block, flush, has_room, least_segment, pool_of, trim
from workbench.engines.pool.state import (
    AWAY,
    COUNT,
    FAULT,
    HERE,
    Columns,
    Policies,
    Rules,
    State,
    Tables,
    note_stitching,
    stopped,
)
from workbench.policies.pool.residency import LARGEST, NOTHING, OLDEST, TO_TARGET
from workbench.structures.size_index import ADDRESS, FIELDS, NONE, SIZE


@noinline
def move(
    columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, row: int, of: int, to: int
) -> bool:
    """Bring a region to another card, if that has one region of the size; whether.

    The service waits until the bytes have gone over the path; then the old region is cached, and its card trimmed.
    """
    counters, left = state.counters, state.places.card[of]
    if counters[COUNT.moves] == state.moves.shape[0]:
        stopped(state, FAULT.no_more_moves, row, NONE)
        return False
    # The new region is taken before the old one is given back: both are held while the bytes are copied.
    block = _take(columns, rules, policies, state, row, of, to)
    if block == NONE:
        return False
    log, nodes = state.moves[counters[COUNT.moves]], state.blocks.nodes
    counters[COUNT.moves] += 1
    log[0], log[1], log[2], log[3], log[4] = row, of, left, to, nodes[block * FIELDS + ADDRESS]
    log[7] = counters[COUNT.begins] + counters[COUNT.driver_ns]
    counters[COUNT.driver_ns] += int(columns.size[of] / tables.narrowest[left * tables.capacity.size + to])
    unsettle(columns, rules, state, of)
    note_stitching(rules, state, row, int(state.block[of]), 0)
    log[5], log[6] = give_region(rules, state, int(state.block[of])), nodes[block * FIELDS + SIZE]
    state.block[of] = block
    settle(columns, rules, state, of)
    trim(policies, rules, state, row, left)
    return True


@kernel
def _take(columns: Columns, rules: Rules, policies: Policies, state: State, row: int, of: int, card: int) -> int:
    """Take a block for a region on a card: a cached one, else from the driver; -1 = neither has it. Nothing is
    stitched."""
    pool = pool_of(columns, rules, of, card)
    block, fresh = cached_block(columns, policies, state, of, pool), False
    if block == NONE and state.counters[STOP.fault] == FINE:
        block, fresh = ask_driver(columns, rules, state, row, of, pool), True
    if block != NONE:
        use(rules, state, pool, block, columns.need[of], fresh)
    return block


@noinline
def bring_home(
    columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, row: int, card: int
) -> None:
    """Bring regions home after a release on a card: those of its applications, then those of the lenders'."""
    if rules.returns == 0:
        return
    # Without a limit: there are no more regions than requests.
    with_room, left = state.places.with_room, rules.at_most if rules.at_most > 0 else columns.time.size
    for other in range(with_room.size):
        with_room[other] = 1 if other == card else 0
    while left > 0 and state.counters[STOP.fault] == FINE:
        home = _first_with_room(with_room)
        if home == NONE:
            return
        lender = _bring_one(columns, tables, rules, policies, state, row, home)
        if lender != NONE:
            with_room[lender] = 1
            left -= 1
        else:
            with_room[home] = 0


@kernel
def _first_with_room(with_room: np.ndarray) -> int:
    for card in range(with_room.size):
        if with_room[card]:
            return card
    return NONE


@kernel
def _bring_one(
    columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, row: int, home: int
) -> int:
    """Move the first region home that has space there, passing over those that find no one block; the card it left."""
    home_candidate = _next_home(columns, tables, rules, policies, state, home, NONE)
    while home_candidate != NONE:
        lender = int(state.places.card[home_candidate])
        if move(columns, tables, rules, policies, state, row, home_candidate, home):
            return lender
        if state.counters[STOP.fault] != FINE:
            return NONE
        home_candidate = _next_home(columns, tables, rules, policies, state, home, home_candidate)
    return NONE


@kernel
def _next_home(
    columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, home: int, behind: int
) -> int:
    """Return, of the regions that lie elsewhere and that their own card has space for, the one that moves first; -1 =
    none.

    Only what goes `behind` another counts, -1 = everything.
    """
    candidate, of = NONE, state.places.first[AWAY * tables.capacity.size + home]
    while of != NONE:
        earlier = candidate == NONE or _goes_before(columns, tables, rules, state, of, candidate)
        earlier = earlier and (behind == NONE or _goes_before(columns, tables, rules, state, behind, of))
        if earlier and has_room(columns, rules, policies, state, of, home):
            candidate = of
        of = state.places.after[AWAY * columns.time.size + of]
    return candidate


@kernel
def _goes_before(columns: Columns, tables: Tables, rules: Rules, state: State, one: int, other: int) -> bool:
    """Return whether a region moves home before another of the same card's; of equal ones the first one granted."""
    if rules.order == OLDEST:
        return one < other
    if rules.order == LARGEST:
        return bool(
            columns.size[one] > columns.size[other] or (columns.size[one] == columns.size[other] and one < other)
        )
    cards, home = tables.capacity.size, columns.borrower[one]
    its = tables.narrowest[state.places.card[one] * cards + home]
    theirs = tables.narrowest[state.places.card[other] * cards + home]
    return bool(its < theirs or (its == theirs and one < other))


@noinline
def make_room(columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, row: int) -> bool:
    """Take one step towards space for a newcomer on its own card: what is wholly cached there goes back, or a region
    moves.

    The region is the one placed there longest ago of those that another card has space for. Whether there was a step.
    """
    own, cards = columns.borrower[row], tables.capacity.size
    if rules.evicts == NOTHING or rules.own_first == 0:
        return False
    # No move helps a request that not even the empty card could serve.
    if not could_have(state, own, least_segment(columns, rules, row), tables.capacity[own]):
        return False
    if flush(rules, state, row, own):
        return True
    victim = state.places.first[HERE * cards + own]
    while victim != NONE and state.counters[STOP.fault] == FINE:
        to = NONE
        if rules.evicts == TO_TARGET:
            to = choose_card(columns, tables, rules, policies, state, row, victim, own)
        else:
            to = _host(columns, tables, rules, policies, state, victim)
        if to != NONE and move(columns, tables, rules, policies, state, row, victim, to):
            if rules.evicts == TO_TARGET:
                note_lending(columns, tables, rules, policies, state, row, victim, to)
            return True
        victim = state.places.after[HERE * columns.time.size + victim]
    return False


@kernel
def _host(columns: Columns, tables: Tables, rules: Rules, policies: Policies, state: State, of: int) -> int:
    """Return the CPU card with space for a region behind the fastest path, of equal ones the lowest; -1 = none."""
    cards, here, own, host = tables.capacity.size, state.places.card[of], columns.borrower[of], NONE
    for card in range(cards):
        may = tables.hosts[card] != 0 and tables.lends[card] != 0 and card != here
        may = may and tables.hops[here * cards + card] >= 0 and tables.hops[own * cards + card] >= 0
        faster = host == NONE or tables.gbps[here * cards + card] > tables.gbps[here * cards + host]
        if may and faster and has_room(columns, rules, policies, state, of, card):
            host = card
    return host
