"""Blocks: made, cut, joined with their neighbours in memory, entered into the order that searches follow."""

from __future__ import annotations

from workbench.compiled import kernel, noinline
from workbench.engines.torch_allocator.state import (
    BORN,
    CACHED,
    FRESH,
    IN_USE,
    KIND,
    SPARE,
    UNMAPPED,
    Rules,
    State,
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
    """Return a block of a pool that has no neighbours and is in use."""
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
    """Return how often the pool was searched, streams together."""
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
    """Make a block the upper neighbour of another."""
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
    """Join a neighbour, which no order holds any more, to a block."""
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
    """Make a block free, one with its free neighbours."""
    join_cached(state, block, get(state, block, BEFORE))
    join_cached(state, block, get(state, block, AFTER))
    cache(rules, state, block)


@kernel
def join_cached(state: State, block: int, other: int) -> None:
    """Join a neighbour to a block if it is free."""
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
    """Join a neighbour to a range without memory if it is one too."""
    if other != NONE and get(state, other, KIND) == UNMAPPED:
        drop_unmapped(state, other)
        absorb(state, block, other)
