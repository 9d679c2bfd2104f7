"""A grant on one card: a cached block, several, or the driver (spec 5, R10-R13, R23, E1, E2), and what goes back.

After a release cached memory goes back to the driver (R29, E6, E7).
"""

from __future__ import annotations

from workbench.compiled import RAISED, kernel, routine
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.pool.blocks import from_driver, keep_idle, return_to_driver, use
from workbench.engines.pool.driver import has_bytes
from workbench.engines.pool.expandable_segments import bytes_to_map, grow, unmap_free
from workbench.engines.pool.state import COUNT, FAULT, POOLS, Columns, Policies, Rules, State, note_stitching, stopped
from workbench.policies.pool.fit import FIT, FitView
from workbench.policies.pool.idle import EACH, IN_USE, RELEASE, IdleView
from workbench.records.pool import CACHED, PHYSICAL, STITCHED
from workbench.structures.size_index import (
    ABOVE,
    ADDRESS,
    AFTER,
    FIELDS,
    NONE,
    ORIGIN,
    OUTSIDE,
    SIZE,
    largest,
    smallest_at_least,
)

ask_fit = FIT.ask
LARGEST, SUM_OF_ONE, SUM_OF_ALL = range(3)
"""When a card has space: by its largest cached block or its physical bytes; by the sum of either; by the sum of
both."""


@kernel
def pool_of(columns: Columns, rules: Rules, row: int, card: int) -> int:
    """Return the pool of a card that serves a request."""
    return card * POOLS + (1 if columns.size[row] <= rules.small_most else 0)


@routine
def cached_block(columns: Columns, policies: Policies, state: State, row: int, pool: int) -> int:
    """Choose the cached block that the policy takes, -1 = none."""
    index, need = state.blocks, columns.need[row]
    candidate = ask_fit(
        policies.fit,
        FitView(
            need, pool, state.first[pool], index.roots, index.filled, index.nodes, policies.fit_params, state.fit_memory
        ),
    )
    if candidate == NONE:
        return NONE
    wrong = candidate < 0 or candidate >= state.piece.size
    if not wrong:
        at = candidate * FIELDS
        inside = index.nodes[at + ABOVE] != OUTSIDE and index.nodes[at + SIZE] >= need
        wrong = not inside or state.pool[index.nodes[at + ORIGIN]] != pool
    if wrong:
        stopped(state, FAULT.fit_raised if candidate == RAISED else FAULT.fit_wrong, row, candidate)
        return NONE
    return int(candidate)


@kernel
def least_segment(columns: Columns, rules: Rules, row: int) -> int:
    """Return the bytes that the driver must have for a request."""
    need = columns.need[row]
    if columns.size[row] <= rules.small_most:
        return max(rules.small_segment, need)
    if need < rules.middle_most:
        return rules.middle_segment
    rounded = -(-need // rules.segment_granule) * rules.segment_granule
    return rounded if rules.grows else max(rounded, rules.first_segment)


@kernel
def _segment(columns: Columns, rules: Rules, state: State, row: int, card: int) -> int:
    """Return the bytes that the driver is asked for: more than needed where a card grows, halved until the driver has
    them."""
    least = least_segment(columns, rules, row)
    if rules.grows == 0:
        return least
    wanted = rules.first_segment
    if state.grown[card] > 0:
        wanted = max(state.grown[card], wanted) if rules.grows == 1 else state.cached[card] + state.held[card]
    while rules.grows == 1 and wanted < least:
        wanted *= 2
    wanted = max(wanted, least)
    while wanted > least and not has_bytes(state, row, card, wanted):
        wanted = max(wanted // 2, least)
    return wanted


@kernel
def _take_first(columns: Columns, rules: Rules, state: State, row: int, of: int, pool: int) -> None:
    """Take a card's first driver allocation if the request is larger, and the driver has both."""
    card, least, size = pool // POOLS, least_segment(columns, rules, of), rules.first_segment
    if size < least and has_bytes(state, row, card, size + least):
        block = from_driver(rules, state, row, pool, size)
        if block != NONE:
            keep_idle(state, pool, block)
            state.grown[card] = 2 * size


@kernel
def ask_driver(columns: Columns, rules: Rules, state: State, row: int, of: int, pool: int) -> int:
    """Take a block from the driver for the region `of` an allocation, asked for by a request, -1 = it has too
    little."""
    card = pool // POOLS
    if rules.pages:
        return grow(rules, state, row, pool, columns.need[of])
    if rules.grows == 2 and state.grown[card] == 0:
        _take_first(columns, rules, state, row, of, pool)
    size = _segment(columns, rules, state, of, card)
    block = from_driver(rules, state, row, pool, size)
    if block != NONE:
        state.grown[card] = 2 * size
    return block


@routine
def has_room(columns: Columns, rules: Rules, policies: Policies, state: State, row: int, card: int) -> bool:
    """Return whether a card qualifies, by the lever `free_metric` (spec 5, R10, R15, E1)."""
    cached, physical = state.cached[card], state.physical[card]
    need, least = columns.need[row], least_segment(columns, rules, row)
    if rules.metric == SUM_OF_ALL:
        return bool(cached + physical >= least)
    if rules.metric == SUM_OF_ONE:
        return bool(physical >= least or cached >= need)
    if has_bytes(state, row, card, least):
        return True
    pool = pool_of(columns, rules, row, card)
    # No block exceeds the cached bytes: if they are fewer than the need, no policy is asked.
    if cached >= need and cached_block(columns, policies, state, row, pool) != NONE:
        return True
    if rules.pages:
        return bytes_to_map(rules, state, pool, need) <= physical
    return rules.stitches > 0 and cached >= need and _stitchable(rules, state, pool, need)


@kernel
def serve(columns: Columns, rules: Rules, policies: Policies, state: State, row: int, card: int) -> bool:
    """Grant a request on a card, if that has one region of the size; on the own card also by flushing."""
    pool, own = pool_of(columns, rules, row, card), card == columns.borrower[row]
    since = state.counters[COUNT.calls]
    block, source = cached_block(columns, policies, state, row, pool), CACHED
    if block == NONE and state.counters[STOP.fault] != FINE:
        return False
    if block == NONE and rules.stitches:
        block, source = _stitched(columns, rules, state, row, pool), STITCHED
    flushing = own and rules.flushes != 0
    while block == NONE:
        block, source = ask_driver(columns, rules, state, row, row, pool), PHYSICAL
        if block != NONE or not flushing or not flush(rules, state, row, card):
            break
    if block == NONE:
        return False
    if source != STITCHED:
        use(rules, state, pool, block, columns.need[row], source == PHYSICAL)
        state.taken[row] = state.blocks.nodes[block * FIELDS + SIZE]
    state.block[row], state.outcome[row], state.card[row] = block, source, card
    state.identifier[row] = state.blocks.nodes[block * FIELDS + ADDRESS]
    state.counters[COUNT.reused] = state.taken[row] - _given_since(
        state, since, state.identifier[row], state.taken[row]
    )
    return True


@kernel
def _given_since(state: State, since: int, address: int, size: int) -> int:
    """Return the bytes of a region that the driver has given by its latest calls; none of one that is stitched."""
    given_bytes = 0
    for call in range(since, state.counters[COUNT.calls]):
        begin, got = state.calls[call, 2], state.calls[call, 3]
        given_bytes += max(min(begin + got, address + size) - max(begin, address), 0)
    return given_bytes


@kernel
def flush(rules: Rules, state: State, row: int, card: int) -> bool:
    """Give back everything that can go; whether anything did."""
    if rules.pages:
        return unmap_free(rules, state, row, card, state.cached[card])
    any_went = state.oldest[card] != NONE
    while state.oldest[card] != NONE:
        return_to_driver(rules, state, row, state.oldest[card])
    return bool(any_went)


@kernel
def _stitched(columns: Columns, rules: Rules, state: State, row: int, pool: int) -> int:
    """Return the first of several cached blocks that together have the size, -1 = there is too little.

    The largest goes first; the last one is the smallest that completes the request.
    """
    index, nodes, left = state.blocks, state.blocks.nodes, columns.need[row]
    if not _stitchable(rules, state, pool, left):
        return NONE
    first, latest = NONE, NONE
    while left > 0:
        # Blocks below `stitches` are too small to be a part, also to be the last one.
        block = smallest_at_least(index.roots, index.filled, nodes, pool, max(left, rules.stitches))
        if block == NONE:
            block = largest(index.roots, index.filled, nodes, pool)
        # The last part may be larger than what is left; `use` cuts the rest off if that is worth it.
        use(rules, state, pool, block, min(left, nodes[block * FIELDS + SIZE]), False)
        if latest == NONE:
            first = block
        else:
            state.piece[latest] = block
        latest = block
        left -= nodes[block * FIELDS + SIZE]
        state.taken[row] += nodes[block * FIELDS + SIZE]
    note_stitching(rules, state, row, first, 1)
    return int(first)


@kernel
def _stitchable(rules: Rules, state: State, pool: int, need: int) -> bool:
    """Return whether the blocks that are large enough to be stitched have the size together."""
    nodes, block, together = state.blocks.nodes, state.first[pool], 0
    while block != NONE and together < need:
        if nodes[block * FIELDS + ABOVE] != OUTSIDE and nodes[block * FIELDS + SIZE] >= rules.stitches:
            together += nodes[block * FIELDS + SIZE]
        block = nodes[block * FIELDS + AFTER]
    return bool(together >= need)


ask_idle = RELEASE.ask


@routine
def trim(policies: Policies, rules: Rules, state: State, row: int, card: int) -> None:
    """Give back whole driver allocations until the cached bytes are within the limit (spec 5, R29, E6, E7).

    Of segments that grow by pages, which are no driver allocations, pages go back and no policy is asked which.
    """
    limit = policies.idle_limit if rules.keeps else 0
    if rules.pages and state.cached[card] > limit:
        unmap_free(rules, state, row, card, state.cached[card] - limit)
    while state.cached[card] > limit and state.oldest[card] != NONE:
        candidate = state.oldest[card]
        if rules.keeps:
            excess = state.cached[card] - limit
            candidate = ask_idle(policies.idle, IdleView(excess, candidate, state.origins, policies.idle_params))
        if candidate == NONE:
            return
        if not _can_go(state, card, candidate):
            stopped(state, FAULT.idle_raised if candidate == RAISED else FAULT.idle_wrong, row, candidate)
            return
        return_to_driver(rules, state, row, candidate)


@kernel
def _can_go(state: State, card: int, origin: int) -> bool:
    """Return whether it is a driver allocation of the card that is wholly cached."""
    if origin < 0 or origin >= state.piece.size or state.blocks.nodes[origin * FIELDS + SIZE] == 0:
        return False
    is_one = state.blocks.nodes[origin * FIELDS + ORIGIN] == origin and state.origins[origin * EACH + IN_USE] == 0
    return bool(is_one and state.pool[origin] // POOLS == card)
