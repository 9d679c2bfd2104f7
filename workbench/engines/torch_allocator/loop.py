"""The compiled loop: one request after another, as the application made them.

A request finds a block, or gets one, and cuts it (malloc, get_free_block, alloc_block of PyTorch). Cached memory goes
back to the driver: all of it, what is too large to be split, what was idle for long.
"""

from __future__ import annotations

from workbench.compiled import entry_point, inlined, kernel, noinline
from workbench.engines.torch_allocator.blocks import (
    cache,
    cut,
    expand,
    get,
    give_back,
    is_kind,
    is_whole,
    new_segment,
    put,
    release,
    searched,
    uncache,
    unmap_pages,
)
from workbench.engines.torch_allocator.state import (
    ALLOC,
    AWAITED,
    BORN,
    CACHED,
    CALLS,
    COMPLETE,
    DEFAULT_POOL,
    DEFER,
    DONE,
    EMPTY_CACHE,
    FIRST_REFUSED,
    FLUSHES,
    FRESH,
    GIVE_BACK,
    IN_USE,
    KIND,
    MIN_BLOCK,
    NEEDS_ROOM,
    REFUSED,
    RESERVED,
    ROW,
    SEARCHED_BEFORE,
    SMALL_SIZE,
    SPARE,
    STATUS,
    STOPPED,
    UNLIMITED,
    UNMAPPED,
    Requests,
    Rules,
    Run,
    State,
    Supply,
    block_size,
    segment_size,
)
from workbench.structures.size_index import (
    ABOVE,
    ADDRESS,
    AFTER,
    NONE,
    ORIGIN,
    OUTSIDE,
    SIZE,
    smallest_at_least,
    smallest_from,
)


@entry_point
def simulate(run: Run) -> None:
    """Serve every request from the next row on, or stop before one for which the arrays may be too small."""
    requests, rules, state = run.requests, run.rules, run.state
    counters = state.counters
    while counters[ROW] < requests.kind.size:
        if lacks_room(state):
            counters[STATUS] = NEEDS_ROOM
            return
        row = counters[ROW]
        serve(requests, run.supply, rules, state, row)
        state.reserved[row] = counters[RESERVED]
        counters[ROW] += 1
        if rules.stops and counters[REFUSED] > 0:
            counters[STATUS] = STOPPED
            return
    counters[STATUS] = DONE


@inlined
def lacks_room(state: State) -> bool:
    """Return whether a row could need more blocks or calls than there is space for: all free ones go back at once."""
    counters, capacity = state.counters, state.spare.size
    used = counters[FRESH] - counters[SPARE]
    # Unmapping cuts a block into three at most. Each block that goes back is one call, each range that is mapped
    # another.
    return 3 * used + 16 > capacity or counters[CALLS] + 2 * used + 16 > capacity


@inlined
def serve(requests: Requests, supply: Supply, rules: Rules, state: State, row: int) -> None:
    """Serve one request."""
    kind, handle = requests.kind[row], requests.handle[row]
    if kind == ALLOC:
        searched = requests.address[row] == SEARCHED_BEFORE
        block = allocate(rules, supply, state, requests.owner[row], requests.size[row], searched)
        state.block_of[handle] = block
        if block == NONE:
            note_refusal(state, row)
        else:
            state.placed[row] = get(state, block, ADDRESS)
            if state.taken.size > 0:
                state.taken[row] = get(state, block, SIZE)
    elif kind == EMPTY_CACHE:
        empty_cache(rules, state)
    elif kind == GIVE_BACK:
        give_back_one(requests, state, row)
    elif kind <= COMPLETE:
        if state.block_of[handle] != NONE:
            let_go(rules, state, kind, handle)
    else:
        state.freeable[rules.private[requests.owner[row]]] = 1


@inlined
def note_refusal(state: State, row: int) -> None:
    """Count a request that was not served."""
    if state.counters[REFUSED] == 0:
        state.counters[FIRST_REFUSED] = row
    state.counters[REFUSED] += 1


@inlined
def let_go(rules: Rules, state: State, kind: int, handle: int) -> None:
    """Take a block back, at once or when the streams that use it are done; what was awaited may be back by then."""
    block = state.block_of[handle]
    if kind == DEFER:
        put(state, block, KIND, AWAITED)
        # `empty_cache` finds the handle of an awaited block in this field.
        put(state, block, BORN, handle)
        return
    state.block_of[handle] = NONE
    release(rules, state, block)


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
    # Only `collect` needs to know how often a pool was searched.
    if rules.collect_above != NONE:
        state.searches[2 * rules.private[pool >> 1] + (pool & 1)] += 1
    blocks = state.blocks
    block = smallest_at_least(blocks.roots, blocks.filled, blocks.nodes, pool, size)
    if block != NONE and state.base[block] != NONE:
        block = least_expandable(state, pool, block) if rules.expandable else not_expandable(state, pool, block)
    if block == NONE:
        return NONE
    its = get(state, block, SIZE)
    # A block of at least `max_split` serves no request below that, and none that it exceeds by `rounding` or more.
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
    """Return the first block from here on that could grow to less than the next one."""
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
    # As PyTorch does: collect idle segments first, ask the driver, give back oversize blocks, at last, but not for a
    # private pool, give back all that may go.
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


@noinline
def empty_cache(rules: Rules, state: State) -> None:
    """Wait for every stream, then give back each free segment and page (release_cached_blocks)."""
    for block in range(state.counters[FRESH]):
        if get(state, block, SIZE) > 0 and get(state, block, KIND) == AWAITED:
            state.block_of[get(state, block, BORN)] = NONE
            release(rules, state, block)
    # New numbers need no visit: unmapping cuts off less than a page.
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
    # If there is no block to begin below, the search begins at the largest free block.
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
    # The average changes: each round takes it over the blocks that are left.
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
    """Return the number of searches of the pool since a block became free."""
    return searched(rules, state, get(state, block, ORIGIN)) - get(state, block, BORN)
