"""One request: a block found, or got, and cut (malloc, get_free_block, alloc_block of PyTorch)."""

from __future__ import annotations

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.torch_allocator.blocks import cache, cut, get, put, uncache
from workbench.engines.torch_allocator.driver import new_segment
from workbench.engines.torch_allocator.expandable import expand, is_kind
from workbench.engines.torch_allocator.releasing import collect, empty_cache, release_oversize
from workbench.engines.torch_allocator.sizes import block_size, segment_size
from workbench.engines.torch_allocator.state import (
    DEFAULT_POOL,
    FLUSHES,
    IN_USE,
    KIND,
    MIN_BLOCK,
    RESERVED,
    SMALL_SIZE,
    UNMAPPED,
    Rules,
    State,
    Supply,
)
from workbench.structures.size_index import ADDRESS, AFTER, NONE, SIZE, smallest_at_least, smallest_from


@inlined
def allocate(rules: Rules, supply: Supply, state: State, owner: int, requested: int, searched: bool) -> int:
    """Return the block that serves a request, -1 = out of memory; none is looked for among the free ones if they were
    `searched` before.
    """
    size = block_size(rules, requested)
    pool = 2 * owner + int(size <= SMALL_SIZE)
    block = NONE if searched else find(rules, state, pool, size)
    if block == NONE:
        block = obtain(rules, supply, state, pool, size)
    if block == NONE:
        return NONE
    if is_split(rules, pool, size, get(state, block, SIZE) - size):
        cache(rules, state, cut(state, block, size))
    put(state, block, KIND, IN_USE)
    return int(block)


@inlined
def is_split(rules: Rules, pool: int, size: int, rest: int) -> bool:
    """Return whether what a block has too much becomes a block of its own (should_split)."""
    if pool & 1 or rules.expandable:
        return rest >= MIN_BLOCK
    return size < rules.max_split and rest > SMALL_SIZE


@noinline
def find(rules: Rules, state: State, pool: int, size: int) -> int:
    """Return the free block that serves a size, out of its order; -1 = none may (get_free_block)."""
    if rules.collect_above != NONE:
        state.searches[2 * rules.private[pool >> 1] + (pool & 1)] += 1
    blocks = state.blocks
    block = smallest_at_least(blocks.roots, blocks.filled, blocks.nodes, pool, size)
    if block != NONE and state.base[block] != NONE:
        block = least_expandable(state, pool, block) if rules.expandable else not_expandable(state, pool, block)
    if block == NONE:
        return NONE
    its = get(state, block, SIZE)
    if size < rules.max_split <= its or (size >= rules.max_split and its >= size + rules.rounding):
        return NONE
    uncache(state, block)
    return int(block)


@kernel
def following(state: State, pool: int, block: int) -> int:
    """Return the next free block in the order of sizes and addresses, -1 = there is none."""
    blocks, size, address = state.blocks, get(state, block, SIZE), get(state, block, ADDRESS)
    return int(smallest_from(blocks.roots, blocks.filled, blocks.nodes, pool, size, address + 1))


@noinline
def not_expandable(state: State, pool: int, block: int) -> int:
    """Return the first block from here on that is in no expandable segment, -1 = there is none."""
    while block != NONE and state.base[block] != NONE:
        block = following(state, pool, block)
    return int(block)


@kernel
def least_expandable(state: State, pool: int, block: int) -> int:
    """Go on in the order as long as the next block could grow to less."""
    after = following(state, pool, block)
    while state.base[block] != NONE and after != NONE and could_be(state, after) < could_be(state, block):
        block, after = after, following(state, pool, after)
    return int(block)


@kernel
def could_be(state: State, block: int) -> int:
    """Return the size that a block could grow to."""
    after = get(state, block, AFTER)
    return get(state, block, SIZE) + (get(state, after, SIZE) if is_kind(state, after, UNMAPPED) else 0)


@noinline
def obtain(rules: Rules, supply: Supply, state: State, pool: int, size: int) -> int:
    """Return a block from the driver, after as much went back as it takes; -1 = out of memory."""
    if rules.collect_above != NONE:
        collect(rules, state)
    block = ask_driver(rules, supply, state, pool, size)
    if block == NONE and release_oversize(rules, state, pool, size):
        block = ask_driver(rules, supply, state, pool, size)
    if block == NONE and rules.private[pool >> 1] == DEFAULT_POOL:
        empty_cache(rules, state)
        state.counters[FLUSHES] += 1
        if rules.searches_again:
            block = find(rules, state, pool, size)
        if block == NONE:
            block = ask_driver(rules, supply, state, pool, size)
    return int(block)


@noinline
def ask_driver(rules: Rules, supply: Supply, state: State, pool: int, size: int) -> int:
    """Return a block of a new segment, or of one that grew; -1 = the card, or what is allowed of it, is used up."""
    length = segment_size(rules, size)
    if rules.allowed != NONE and state.counters[RESERVED] + length > rules.allowed:
        return NONE
    if rules.expandable:
        return int(expand(rules, supply, state, pool, size))
    return int(new_segment(rules, supply, state, pool, length))
