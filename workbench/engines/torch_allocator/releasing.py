"""Cached memory that goes back to the driver: all of it, what is too large to be split, what was idle for long."""

from __future__ import annotations

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.torch_allocator.blocks import get, is_whole, release, searched
from workbench.engines.torch_allocator.driver import give_back
from workbench.engines.torch_allocator.expandable import unmap_pages
from workbench.engines.torch_allocator.state import (
    AWAITED,
    BORN,
    CACHED,
    DEFAULT_POOL,
    FRESH,
    KIND,
    RESERVED,
    UNLIMITED,
    Requests,
    Rules,
    State,
)
from workbench.structures.size_index import (
    ABOVE,
    ADDRESS,
    NONE,
    ORIGIN,
    OUTSIDE,
    SIZE,
    smallest_at_least,
    smallest_from,
)


@noinline
def empty_cache(rules: Rules, state: State) -> None:
    """Wait for every stream, then give back each free segment and page (release_cached_blocks)."""
    for block in range(state.counters[FRESH]):
        if get(state, block, SIZE) > 0 and get(state, block, KIND) == AWAITED:
            state.block_of[get(state, block, BORN)] = NONE
            release(rules, state, block)
    used = state.counters[FRESH]
    for block in range(used):
        if is_cached(state, block) and may_go(rules, state, block):
            if state.base[block] != NONE:
                unmap_pages(rules, state, block)
            elif is_whole(state, block):
                give_back(state, block)


@kernel
def is_cached(state: State, block: int) -> bool:
    """Return whether a number is that of a free block."""
    return get(state, block, SIZE) > 0 and get(state, block, KIND) == CACHED and get(state, block, ABOVE) != OUTSIDE


@inlined
def may_go(rules: Rules, state: State, block: int) -> bool:
    """Return whether the pool of a block is one whose segments may go back."""
    return state.freeable[rules.private[get(state, block, ORIGIN) >> 1]] > 0


@noinline
def give_back_one(requests: Requests, state: State, row: int) -> None:
    """Give back the free segment that a row names, if it is one."""
    size, address = requests.size[row], requests.address[row]
    blocks, pool = state.blocks, 2 * requests.owner[row] + requests.handle[row]
    block = smallest_from(blocks.roots, blocks.filled, blocks.nodes, pool, size, address)
    if block != NONE and get(state, block, ADDRESS) == address and is_whole(state, block):
        give_back(state, block)


@inlined
def release_oversize(rules: Rules, state: State, pool: int, size: int) -> bool:
    """Give back free blocks that are too large to be split, as few as needed (release_available_cached_blocks)."""
    if rules.max_split == UNLIMITED:
        return False
    blocks, key = state.blocks, max(size, rules.max_split)
    first = smallest_at_least(blocks.roots, blocks.filled, blocks.nodes, pool, key)
    if first != NONE and state.base[first] == NONE:
        if not is_whole(state, first):
            return False
        give_back(state, first)
        return True
    return release_largest(rules, state, pool, key, first)


@inlined
def release_largest(rules: Rules, state: State, pool: int, key: int, below: int) -> bool:
    """Give back the largest free blocks below one of the order, until they are as large as needed."""
    gone = 0
    last_size = get(state, below, SIZE) if below != NONE else UNLIMITED
    last_address = get(state, below, ADDRESS) if below != NONE else 0
    while gone < key:
        block = preceding(state, pool, last_size, last_address)
        if block == NONE or get(state, block, SIZE) < rules.max_split:
            break
        last_size, last_address = get(state, block, SIZE), get(state, block, ADDRESS)
        if is_whole(state, block):
            gone += last_size
            give_back(state, block)
    return gone >= key


@inlined
def preceding(state: State, pool: int, size: int, address: int) -> int:
    """Return the last free block of a pool before a size and address, -1 = there is none; a look at every block."""
    best = NONE
    for block in range(state.counters[FRESH]):
        if is_cached(state, block) and get(state, block, ORIGIN) == pool:
            its, where = get(state, block, SIZE), get(state, block, ADDRESS)
            if (its < size or (its == size and where < address)) and (
                best == NONE
                or its > get(state, best, SIZE)
                or (its == get(state, best, SIZE) and where > get(state, best, ADDRESS))
            ):
                best = block
    return best


@inlined
def collect(rules: Rules, state: State) -> None:
    """Give back large segments that were not used for longer than the average (garbage_collect_cached_blocks)."""
    target = state.counters[RESERVED] - rules.collect_above
    if target <= 0:
        return
    count, ages = 0, 0
    for block in range(state.counters[FRESH]):
        if is_idle(rules, state, block):
            count, ages = count + 1, ages + age(rules, state, block)
    gone, freed = 0, True
    while gone < target and freed and count > 0:
        average, freed = ages / count, False
        for block in range(state.counters[FRESH]):
            if is_idle(rules, state, block) and age(rules, state, block) >= average:
                gone, freed = gone + get(state, block, SIZE), True
                ages, count = ages - age(rules, state, block), count - 1
                give_back(state, block)


@kernel
def is_idle(rules: Rules, state: State, block: int) -> bool:
    """Return whether a number is that of a free segment of large blocks that is in no private pool."""
    pool = get(state, block, ORIGIN)
    large = pool & 1 == 0 and rules.private[pool >> 1] == DEFAULT_POOL
    return large and is_cached(state, block) and is_whole(state, block)


@kernel
def age(rules: Rules, state: State, block: int) -> int:
    """Return how often the pool was searched since a block became free."""
    return searched(rules, state, get(state, block, ORIGIN)) - get(state, block, BORN)
