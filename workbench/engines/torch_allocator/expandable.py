"""Expandable segments: ranges of addresses in which memory is mapped where it is needed, page by page."""

from __future__ import annotations

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.torch_allocator.blocks import (
    cache,
    cut,
    drop_unmapped,
    forget,
    get,
    join_cached,
    join_unmapped,
    new_block,
    note_unmapped,
    put,
    uncache,
)
from workbench.engines.torch_allocator.driver import called, fresh_address, supplied
from workbench.engines.torch_allocator.sizes import page_size
from workbench.engines.torch_allocator.state import (
    CACHED,
    IN_USE,
    KIND,
    MAPPED,
    RESERVED,
    UNMAPPED,
    Rules,
    State,
    Supply,
)
from workbench.structures.size_index import ADDRESS, AFTER, BEFORE, NONE, ORIGIN, SIZE


@kernel
def is_kind(state: State, block: int, kind: int) -> bool:
    """Return whether there is such a block and it is of a kind."""
    return block != NONE and get(state, block, KIND) == kind


@inlined
def expand(rules: Rules, supply: Supply, state: State, pool: int, size: int) -> int:
    """Return a block of at least a size that is in no order, -1 = the card has too little.

    What was mapped before the card ran out stays, as free memory (try_allocate_expandable_block).
    """
    block = find_room(rules, supply, state, pool, size)
    if is_kind(state, block, UNMAPPED) and not map_pages(rules, state, block, size):
        return NONE
    while get(state, block, SIZE) < size:
        above = get(state, block, AFTER)
        if not map_pages(rules, state, above, size - get(state, block, SIZE)):
            return NONE
        block = above
    uncache(state, block)
    put(state, block, KIND, IN_USE)
    return int(block)


@inlined
def find_room(rules: Rules, supply: Supply, state: State, pool: int, size: int) -> int:
    """Return the lowest block from which on free and unmapped ranges hold a size; a new segment's if there is none."""
    block = state.unmapped[pool]
    while block != NONE:
        before = get(state, block, BEFORE)
        start = before if is_kind(state, before, CACHED) else block
        if holds(state, start, size):
            return int(start)
        block = state.below[block]
    return int(new_range(rules, supply, state, pool))


@inlined
def holds(state: State, block: int, size: int) -> bool:
    """Return whether a block and the free and unmapped ones above it are large enough together."""
    total = 0
    while total < size and (is_kind(state, block, CACHED) or is_kind(state, block, UNMAPPED)):
        total += get(state, block, SIZE)
        block = get(state, block, AFTER)
    return total >= size


@inlined
def new_range(rules: Rules, supply: Supply, state: State, pool: int) -> int:
    """Return the one range of a new expandable segment, all of it unmapped."""
    page = page_size(rules, pool)
    length = -(-rules.reach // page) * page
    address = supplied(supply, state, NONE)
    if address == NONE:
        address = fresh_address(state, length)
    block = new_block(state, pool, address, length, address)
    note_unmapped(state, block)
    return int(block)


@noinline
def map_pages(rules: Rules, state: State, block: int, size: int) -> bool:
    """Map the first pages of an unmapped range, no more than a size needs; return whether the card has them."""
    page = page_size(rules, get(state, block, ORIGIN))
    length = -(-min(size, get(state, block, SIZE)) // page) * page
    if state.counters[RESERVED] + length > rules.card:
        return False
    drop_unmapped(state, block)
    if length < get(state, block, SIZE):
        note_unmapped(state, cut(state, block, length))
    called(state, get(state, block, ADDRESS), length, length // page)
    state.counters[MAPPED] += length // page
    join_cached(state, block, get(state, block, BEFORE))
    join_cached(state, block, get(state, block, AFTER))
    cache(rules, state, block)
    return True


@inlined
def unmap_pages(rules: Rules, state: State, block: int) -> None:
    """Give back the pages that lie within a free block (unmap_block); a segment without a page is gone."""
    base, page = state.base[block], page_size(rules, get(state, block, ORIGIN))
    start = get(state, block, ADDRESS) - base
    first, end = -(-start // page) * page, (start + get(state, block, SIZE)) // page * page
    if first >= end:
        return
    uncache(state, block)
    if first > start:
        middle = cut(state, block, first - start)
        cache(rules, state, block)
        block = middle
    if end - first < get(state, block, SIZE):
        cache(rules, state, cut(state, block, end - first))
    called(state, base + first, first - end, (end - first) // page)
    join_unmapped(state, block, get(state, block, BEFORE))
    join_unmapped(state, block, get(state, block, AFTER))
    if get(state, block, BEFORE) == NONE and get(state, block, AFTER) == NONE:
        forget(state, block)
    else:
        note_unmapped(state, block)
