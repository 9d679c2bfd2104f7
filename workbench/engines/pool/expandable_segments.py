"""Expandable segments of a pool: ranges of addresses of which pages are mapped as they are needed (spec 5, section 7).

Free memory goes back to the driver from any place in them. A segment begins with a block of no bytes, its origin, which
is never given back; between two blocks that do not touch lie pages that are not mapped.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel, noinline
from workbench.engines.pool.blocks import called, forget_block, is_cached_part, join, new_block, put_behind, to_cache
from workbench.engines.pool.state import POOLS, Rules, State, note_mappings
from workbench.policies.pool.idle import BYTES, EACH, IN_USE, NEWER, OLDER
from workbench.structures.size_index import ABOVE, ADDRESS, AFTER, BEFORE, FIELDS, NONE, ORIGIN, OUTSIDE, SIZE, remove

SPARE_SPACE = 8
"""A segment's addresses are as many as the card has bytes, and one in so many more."""


@kernel
def page_of(rules: Rules, pool: int) -> int:
    """Return the bytes of a page of a pool."""
    return rules.small_segment if pool % POOLS == 1 else rules.segment_granule


@noinline
def bytes_to_map(rules: Rules, state: State, pool: int, need: int) -> int:
    """Return the bytes that the driver must give for a block of a size."""
    return _lowest_run(rules, state, pool, need)[1]


@noinline
def grow(rules: Rules, state: State, row: int, pool: int, need: int) -> int:
    """Take a block of at least a size, not cached, for which pages are mapped; -1 = the driver has too few."""
    before, missing = _lowest_run(rules, state, pool, need)
    if missing > state.physical[pool // POOLS]:
        return NONE
    if before == NONE:
        before = _new_segment(rules, state, pool)
    return _fill_behind(rules, state, row, pool, before, need)


@noinline
def _lowest_run(rules: Rules, state: State, pool: int, need: int) -> tuple[int, int]:
    """Find behind which block the lowest free and unmapped addresses have space, -1 = nowhere, and the bytes to be
    mapped."""
    nodes, page, before = state.blocks.nodes, page_of(rules, pool), state.first[pool]
    while before != NONE:
        origin, at = nodes[before * FIELDS + ORIGIN], _end(nodes, before)
        room, missing, block = 0, 0, nodes[before * FIELDS + AFTER]
        while True:
            until = _next_mapped(state, origin, block)
            if room < need:
                missing += min(-(-(need - room) // page) * page, until - at)
            room += until - at
            if not is_cached_part(state, block, origin):
                break
            room, at = room + nodes[block * FIELDS + SIZE], _end(nodes, block)
            block = nodes[block * FIELDS + AFTER]
        if room >= need and missing > 0:
            return int(before), int(missing)
        # A block in use, or of another segment, ends this stretch, and the next begins behind it; -1 ends the list.
        before = block
    return NONE, -(-need // page) * page


@kernel
def _next_mapped(state: State, origin: int, block: int) -> int:
    """Return the address of a block of a segment, or where the segment ends if the block is not in it."""
    nodes = state.blocks.nodes
    if block != NONE and nodes[block * FIELDS + ORIGIN] == origin:
        return int(nodes[block * FIELDS + ADDRESS])
    return int(nodes[origin * FIELDS + ADDRESS] + state.origins[origin * EACH + BYTES])


@kernel
def _end(nodes: np.ndarray, block: int) -> int:
    """Return the address behind a block."""
    return int(nodes[block * FIELDS + ADDRESS] + nodes[block * FIELDS + SIZE])


@kernel
def _new_segment(rules: Rules, state: State, pool: int) -> int:
    """Return the block of no bytes at which a new segment of a pool begins."""
    card, page = pool // POOLS, page_of(rules, pool)
    capacity = state.physical[card] + state.cached[card] + state.held[card]
    span = -(-(capacity + capacity // SPARE_SPACE) // page) * page
    origin = _empty_block(state, pool, state.last[pool], state.address[card], NONE)
    # In use for ever: pages go back to the driver, a segment as a whole never does.
    state.origins[origin * EACH + BYTES], state.origins[origin * EACH + IN_USE] = span, 1
    state.origins[origin * EACH + OLDER], state.origins[origin * EACH + NEWER] = NONE, NONE
    state.pool[origin] = pool
    state.address[card] += span
    return origin


@noinline
def _empty_block(state: State, pool: int, before: int, address: int, origin: int) -> int:
    """Return a block of no bytes behind another; without an origin it is its own."""
    block, nodes = new_block(state), state.blocks.nodes
    at = block * FIELDS
    nodes[at + SIZE], nodes[at + ADDRESS], nodes[at + ABOVE] = 0, address, OUTSIDE
    nodes[at + ORIGIN] = block if origin == NONE else origin
    put_behind(state, pool, block, before)
    return block


@kernel
def _fill_behind(rules: Rules, state: State, row: int, pool: int, before: int, need: int) -> int:
    """Join the free blocks behind a block, and map the pages between them, until the size is reached."""
    nodes, page = state.blocks.nodes, page_of(rules, pool)
    origin = nodes[before * FIELDS + ORIGIN]
    block = _empty_block(state, pool, before, _end(nodes, before), origin)
    while True:
        following, size = nodes[block * FIELDS + AFTER], nodes[block * FIELDS + SIZE]
        unmapped = _next_mapped(state, origin, following) - _end(nodes, block)
        if unmapped > 0 and size < need:
            more = min(-(-(need - size) // page) * page, unmapped)
            _map(rules, state, row, pool, _end(nodes, block), more)
            nodes[block * FIELDS + SIZE] += more
        elif unmapped == 0 and is_cached_part(state, following, origin):
            join(state, pool, block, following, following)
        else:
            return block


@kernel
def _map(rules: Rules, state: State, row: int, pool: int, address: int, size: int) -> None:
    """Map pages side by side: one is mapped by each call, access is set by one for all."""
    state.physical[pool // POOLS] -= size
    called(rules, state, row, pool // POOLS, address, size)
    note_mappings(rules, state, row, size // page_of(rules, pool) + 1)


@noinline
def unmap_free(rules: Rules, state: State, row: int, card: int, excess: int) -> bool:
    """Give pages back that are wholly free, the highest address first, until so many bytes went; whether any went."""
    nodes, left = state.blocks.nodes, excess
    for pool in range(card * POOLS, (card + 1) * POOLS):
        block = state.last[pool]
        while block != NONE and left > 0:
            before = nodes[block * FIELDS + BEFORE]
            if nodes[block * FIELDS + ABOVE] != OUTSIDE:
                left -= _unmap_in(rules, state, row, pool, block, left)
            block = before
    return bool(left < excess)


@kernel
def _unmap_in(rules: Rules, state: State, row: int, pool: int, block: int, excess: int) -> int:
    """Unmap the highest whole pages of a free block and return their bytes; its neighbors stay cached."""
    nodes, page = state.blocks.nodes, page_of(rules, pool)
    at, origin = nodes[block * FIELDS + ADDRESS], nodes[block * FIELDS + ORIGIN]
    base, end = nodes[origin * FIELDS + ADDRESS], _end(nodes, block)
    high = base + (end - base) // page * page
    # Both roundings are up: to the first page that begins in the block, and to whole pages of the excess.
    low = max(base - (base - at) // page * page, high - -(-excess // page) * page)
    if low >= high:
        return 0
    remove(state.blocks, pool, block)
    state.cached[pool // POOLS] -= end - at
    if end > high:
        rest = _empty_block(state, pool, block, high, origin)
        nodes[rest * FIELDS + SIZE] = end - high
        to_cache(state, pool, rest)
    nodes[block * FIELDS + SIZE] = low - at
    if low > at:
        to_cache(state, pool, block)
    else:
        forget_block(state, pool, block)
    state.physical[pool // POOLS] += high - low
    called(rules, state, row, pool // POOLS, low, low - high)
    note_mappings(rules, state, row, (high - low) // page)
    return int(high - low)
