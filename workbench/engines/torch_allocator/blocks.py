"""Blocks and segments: made, cut, joined with their neighbors in memory, got from the driver and given back.

Blocks are entered into the order that searches follow. Expandable segments are ranges of addresses in which memory is
mapped where it is needed, page by page. The layout at the beginning is segments with their blocks and holes, where they
lie.
"""

from __future__ import annotations

from workbench.compiled import entry_point, inlined, kernel, noinline
from workbench.engines.torch_allocator.state import (
    AWAITED,
    BORN,
    CACHED,
    CALLS,
    FRESH,
    IN_USE,
    KIND,
    MAPPED,
    NEXT_ADDRESS,
    RESERVED,
    ROUND_LARGE,
    ROW,
    SPARE,
    SUPPLY,
    UNMAPPED,
    Rules,
    Run,
    Start,
    State,
    Supply,
    page_size,
)
from workbench.structures.size_index import (
    ABOVE,
    ADDRESS,
    AFTER,
    BEFORE,
    FIELDS,
    NONE,
    ORIGIN,
    OUTSIDE,
    SIZE,
    insert,
    remove,
)


@kernel
def get(state: State, block: int, field: int) -> int:
    """Return a number of a block."""
    return int(state.blocks.nodes[block * FIELDS + field])


@kernel
def put(state: State, block: int, field: int, value: int) -> None:
    """Write a number of a block."""
    state.blocks.nodes[block * FIELDS + field] = value


@kernel
def new_block(state: State, pool: int, address: int, size: int, base: int) -> int:
    """Return a block of a pool that has no neighbors and is in use."""
    counters = state.counters
    if counters[SPARE] > 0:
        counters[SPARE] -= 1
        block = state.spare[counters[SPARE]]
    else:
        block = counters[FRESH]
        counters[FRESH] += 1
    put(state, block, SIZE, size)
    put(state, block, ADDRESS, address)
    put(state, block, ABOVE, OUTSIDE)
    put(state, block, BEFORE, NONE)
    put(state, block, AFTER, NONE)
    put(state, block, ORIGIN, pool)
    put(state, block, KIND, IN_USE)
    state.base[block] = base
    return int(block)


@kernel
def forget(state: State, block: int) -> None:
    """Let a block's number be used again."""
    put(state, block, SIZE, 0)
    state.spare[state.counters[SPARE]] = block
    state.counters[SPARE] += 1


@kernel
def is_whole(state: State, block: int) -> bool:
    """Return whether a block is a segment of the driver by itself."""
    return get(state, block, BEFORE) == NONE and get(state, block, AFTER) == NONE and state.base[block] == NONE


@kernel
def searched(rules: Rules, state: State, pool: int) -> int:
    """Return the number of searches of the pool, streams together."""
    return int(state.searches[2 * rules.private[pool >> 1] + (pool & 1)])


@noinline
def cache(rules: Rules, state: State, block: int) -> None:
    """Enter a block among the free ones of its pool."""
    pool = get(state, block, ORIGIN)
    put(state, block, KIND, CACHED)
    put(state, block, BORN, searched(rules, state, pool))
    insert(state.blocks, pool, block)


@noinline
def uncache(state: State, block: int) -> None:
    """Take a block out of the free ones of its pool."""
    remove(state.blocks, get(state, block, ORIGIN), block)


@kernel
def put_after(state: State, block: int, before: int) -> None:
    """Make a block the upper neighbor of another."""
    after = get(state, before, AFTER)
    put(state, before, AFTER, block)
    put(state, block, BEFORE, before)
    put(state, block, AFTER, after)
    if after != NONE:
        put(state, after, BEFORE, block)


@noinline
def cut(state: State, block: int, size: int) -> int:
    """Cut a block down to a size; return the rest, a block of its own above it."""
    rest = new_block(
        state,
        get(state, block, ORIGIN),
        get(state, block, ADDRESS) + size,
        get(state, block, SIZE) - size,
        state.base[block],
    )
    put(state, block, SIZE, size)
    put_after(state, rest, block)
    return rest


@noinline
def absorb(state: State, block: int, other: int) -> None:
    """Join a neighbor, which no order holds any more, to a block."""
    put(state, block, SIZE, get(state, block, SIZE) + get(state, other, SIZE))
    if get(state, block, BEFORE) == other:
        put(state, block, ADDRESS, get(state, other, ADDRESS))
        before = get(state, other, BEFORE)
        put(state, block, BEFORE, before)
        if before != NONE:
            put(state, before, AFTER, block)
    else:
        after = get(state, other, AFTER)
        put(state, block, AFTER, after)
        if after != NONE:
            put(state, after, BEFORE, block)
    forget(state, other)


@noinline
def release(rules: Rules, state: State, block: int) -> None:
    """Make a block free, one with its free neighbors."""
    join_cached(state, block, get(state, block, BEFORE))
    join_cached(state, block, get(state, block, AFTER))
    cache(rules, state, block)


@kernel
def join_cached(state: State, block: int, other: int) -> None:
    """Join a neighbor to a block if it is free."""
    if other != NONE and get(state, other, KIND) == CACHED:
        uncache(state, other)
        absorb(state, block, other)


@noinline
def note_unmapped(state: State, block: int) -> None:
    """Enter a range without memory into its pool's list, the lowest address first."""
    pool, address = get(state, block, ORIGIN), get(state, block, ADDRESS)
    put(state, block, KIND, UNMAPPED)
    before, here = NONE, state.unmapped[pool]
    while here != NONE and get(state, here, ADDRESS) < address:
        before, here = here, state.below[here]
    state.below[block] = here
    if before == NONE:
        state.unmapped[pool] = block
    else:
        state.below[before] = block


@noinline
def drop_unmapped(state: State, block: int) -> None:
    """Take a range out of its pool's list."""
    pool = get(state, block, ORIGIN)
    before, here = NONE, state.unmapped[pool]
    while here != block:
        before, here = here, state.below[here]
    if before == NONE:
        state.unmapped[pool] = state.below[block]
    else:
        state.below[before] = state.below[block]


@kernel
def join_unmapped(state: State, block: int, other: int) -> None:
    """Join a neighbor to a range without memory if it is one too."""
    if other != NONE and get(state, other, KIND) == UNMAPPED:
        drop_unmapped(state, other)
        absorb(state, block, other)


@kernel
def called(state: State, address: int, size: int, pages: int) -> None:
    """Write down a call of the driver."""
    counters = state.counters
    log = state.calls[counters[CALLS]]
    log[0], log[1], log[2], log[3] = counters[ROW], address, size, pages
    counters[CALLS] += 1
    counters[RESERVED] += size


@kernel
def fresh_address(state: State, size: int) -> int:
    """Return the address at which the driver gives memory of which nothing is known: above all that it gave."""
    address = state.counters[NEXT_ADDRESS]
    state.counters[NEXT_ADDRESS] += -(-size // ROUND_LARGE) * ROUND_LARGE
    return int(address)


@noinline
def supplied(supply: Supply, state: State, size: int) -> int:
    """Return the address at which the recorded driver gave a segment of this size for this row, -1 = it gave none."""
    counters = state.counters
    at = counters[SUPPLY]
    # Segments of earlier rows are skipped: the recorded allocator took them, this replay did not.
    while at < supply.row.size and supply.row[at] <= counters[ROW]:
        if supply.row[at] == counters[ROW] and (supply.size[at] == size or size == NONE):
            counters[SUPPLY] = at + 1
            return int(supply.address[at])
        at += 1
    return NONE


@inlined
def new_segment(rules: Rules, supply: Supply, state: State, pool: int, size: int) -> int:
    """Return a segment as one block that is in use, -1 = the card has too little (cudaMalloc)."""
    if state.counters[RESERVED] + size > rules.card:
        return NONE
    address = supplied(supply, state, size)
    if address == NONE:
        address = fresh_address(state, size)
    called(state, address, size, 0)
    return int(new_block(state, pool, address, size, NONE))


@noinline
def give_back(state: State, block: int) -> None:
    """Give a free segment back (cudaFree)."""
    uncache(state, block)
    called(state, get(state, block, ADDRESS), -get(state, block, SIZE), 0)
    forget(state, block)


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
        # Mapping joined this block to the range above.
        block = above
    # The block is among the free ones: it was before, or `map_pages` entered it.
    uncache(state, block)
    put(state, block, KIND, IN_USE)
    return int(block)


@inlined
def find_room(rules: Rules, supply: Supply, state: State, pool: int, size: int) -> int:
    """Return the lowest block from which on free and unmapped ranges hold a size; a new segment's if there is none."""
    block = state.unmapped[pool]
    while block != NONE:
        before = get(state, block, BEFORE)
        # One block is enough, as free neighbors are always joined.
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
    # Round inward: only whole pages go back.
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


@entry_point
def lay_out(run: Run) -> None:
    """Enter the blocks of the beginning."""
    start, state, before = run.start, run.state, NONE
    for row in range(start.address.size):
        block = new_block(state, start.pool[row], start.address[row], start.size[row], start.base[row])
        if start.first[row] == 0:
            put_after(state, block, before)
        enter(start, run.rules, state, row, block)
        before = block


@inlined
def enter(start: Start, rules: Rules, state: State, row: int, block: int) -> None:
    """Make a block what it is at the beginning."""
    kind, handle = start.kind[row], start.handle[row]
    if kind == CACHED:
        cache(rules, state, block)
    elif kind == UNMAPPED:
        note_unmapped(state, block)
    else:
        put(state, block, KIND, kind)
    if kind == AWAITED:
        put(state, block, BORN, handle)
    if handle != NONE:
        state.block_of[handle] = block
    if kind != UNMAPPED:
        state.counters[RESERVED] += start.size[row]
