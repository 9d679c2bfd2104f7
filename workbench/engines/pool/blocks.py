"""Blocks of a card: cut, joined, cached, given back (spec 5, R12, R13, R28, R29, E3-E5)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel, routine
from workbench.engines.pool.driver import give_bytes, take_bytes
from workbench.engines.pool.state import COUNT, POOLS, Rules, State
from workbench.policies.pool.cache import APART, BUDDIES
from workbench.policies.pool.idle import BYTES, EACH, IN_USE, NEWER, OLDER
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
def new_block(state: State) -> int:
    """Return a block that is used for nothing yet; one that was used before first."""
    counters = state.counters
    if counters[COUNT.spare] > 0:
        counters[COUNT.spare] -= 1
        return int(state.spare[counters[COUNT.spare]])
    counters[COUNT.fresh] += 1
    return int(counters[COUNT.fresh] - 1)


@kernel
def forget_block(state: State, pool: int, block: int) -> None:
    """Take a block out of the order of addresses; its number may be used again."""
    nodes = state.blocks.nodes
    before, after = nodes[block * FIELDS + BEFORE], nodes[block * FIELDS + AFTER]
    if before == NONE:
        state.first[pool] = after
    else:
        nodes[before * FIELDS + AFTER] = after
    if after == NONE:
        state.last[pool] = before
    else:
        nodes[after * FIELDS + BEFORE] = before
    spare_block(state, block)


@kernel
def spare_block(state: State, block: int) -> None:
    """Mark a block as used for nothing; its number may be used again."""
    state.spare[state.counters[COUNT.spare]] = block
    state.counters[COUNT.spare] += 1


@kernel
def put_behind(state: State, pool: int, block: int, before: int) -> None:
    """Put a block behind another in the order of addresses; behind none it is the first of its pool."""
    nodes = state.blocks.nodes
    after = state.first[pool] if before == NONE else nodes[before * FIELDS + AFTER]
    nodes[block * FIELDS + BEFORE], nodes[block * FIELDS + AFTER] = before, after
    if before == NONE:
        state.first[pool] = block
    else:
        nodes[before * FIELDS + AFTER] = block
    if after == NONE:
        state.last[pool] = block
    else:
        nodes[after * FIELDS + BEFORE] = block


@kernel
def called(rules: Rules, state: State, row: int, card: int, address: int, size: int) -> None:
    """Write down a call of the driver, and its time."""
    counters = state.counters
    log = state.calls[counters[COUNT.calls]]
    log[0], log[1], log[2], log[3] = row, card, address, size
    counters[COUNT.calls] += 1
    call = rules.alloc_ns if size > 0 else rules.free_ns
    counters[COUNT.driver_ns] += call + rules.mib_ns * (abs(size) >> 20)


@routine
def from_driver(rules: Rules, state: State, row: int, pool: int, size: int) -> int:
    """Take a new driver allocation: one block, not cached; -1 = the driver has too little."""
    card, block, nodes = pool // POOLS, new_block(state), state.blocks.nodes
    # The number first: a driver that places allocations notes the place by the block.
    if not take_bytes(state, row, card, size, block):
        spare_block(state, block)
        return NONE
    at, address = block * FIELDS, state.address[card]
    nodes[at + SIZE], nodes[at + ADDRESS], nodes[at + ABOVE], nodes[at + ORIGIN] = size, address, OUTSIDE, block
    put_behind(state, pool, block, state.last[pool])
    state.origins[block * EACH + BYTES], state.origins[block * EACH + IN_USE] = size, 0
    state.origins[block * EACH + OLDER], state.origins[block * EACH + NEWER] = NONE, NONE
    state.pool[block] = pool
    state.address[card] += size
    called(rules, state, row, card, address, size)
    return block


@routine
def use(rules: Rules, state: State, pool: int, block: int, need: int, fresh: bool) -> None:
    """Put a block to use, cutting off what is not needed; a `fresh` one comes from the driver, not from the cache."""
    nodes, card = state.blocks.nodes, pool // POOLS
    origin = nodes[block * FIELDS + ORIGIN] * EACH
    # A fresh block is neither in the cache nor among what is wholly cached.
    if not fresh:
        remove(state.blocks, pool, block)
        state.cached[card] -= nodes[block * FIELDS + SIZE]
        if state.origins[origin + IN_USE] == 0:
            _leave_order(state, card, origin // EACH)
    state.origins[origin + IN_USE] += 1
    if rules.halves:
        while nodes[block * FIELDS + SIZE] % 2 == 0 and nodes[block * FIELDS + SIZE] // 2 >= need:
            _cut(state, pool, block, nodes[block * FIELDS + SIZE] // 2)
    elif _worth_cutting(rules, pool, nodes[block * FIELDS + SIZE] - need, need):
        _cut(state, pool, block, need)
    state.held[card] += nodes[block * FIELDS + SIZE]
    state.piece[block] = NONE


@kernel
def _worth_cutting(rules: Rules, pool: int, rest: int, need: int) -> bool:
    """Return whether what remains is kept apart."""
    least = rules.small_least_rest if pool % POOLS == 1 else rules.least_rest
    return rest >= least and (rules.relative_rest == 0 or rest >= need or rest >= rules.large_rest)


@kernel
def _cut(state: State, pool: int, block: int, keep: int) -> None:
    """Cut off what is above the bytes that are kept; it is cached."""
    nodes, upper = state.blocks.nodes, new_block(state)
    at, new = block * FIELDS, upper * FIELDS
    nodes[new + SIZE], nodes[new + ADDRESS] = nodes[at + SIZE] - keep, nodes[at + ADDRESS] + keep
    nodes[new + ORIGIN], nodes[at + SIZE] = nodes[at + ORIGIN], keep
    put_behind(state, pool, upper, block)
    to_cache(state, pool, upper)


@kernel
def to_cache(state: State, pool: int, block: int) -> None:
    """Move a block to the cache from now on."""
    insert(state.blocks, pool, block)
    state.cached[pool // POOLS] += state.blocks.nodes[block * FIELDS + SIZE]


@kernel
def keep_idle(state: State, pool: int, block: int) -> None:
    """Cache a driver allocation of which nothing is in use yet."""
    to_cache(state, pool, block)
    _enter_order(state, pool // POOLS, block)


@routine
def give(rules: Rules, state: State, pool: int, block: int) -> None:
    """Cache a block that was in use, joined with its cached neighbors in the same driver allocation."""
    nodes, card = state.blocks.nodes, pool // POOLS
    origin = nodes[block * FIELDS + ORIGIN]
    state.held[card] -= nodes[block * FIELDS + SIZE]
    if rules.joins == BUDDIES:
        block = _joined_buddies(state, pool, block)
    elif rules.joins != APART:
        after, before = nodes[block * FIELDS + AFTER], nodes[block * FIELDS + BEFORE]
        if is_cached_part(state, after, origin) and touch(nodes, block, after):
            join(state, pool, block, after, after)
        if is_cached_part(state, before, origin) and touch(nodes, before, block):
            join(state, pool, before, block, before)
            block = before
    to_cache(state, pool, block)
    state.origins[origin * EACH + IN_USE] -= 1
    if state.origins[origin * EACH + IN_USE] == 0:
        _enter_order(state, card, origin)


@routine
def give_region(rules: Rules, state: State, block: int) -> int:
    """Cache every part of a region, given its first; how many bytes it had."""
    nodes, taken = state.blocks.nodes, 0
    while block != NONE:
        following = int(state.piece[block])
        taken += nodes[block * FIELDS + SIZE]
        give(rules, state, int(state.pool[nodes[block * FIELDS + ORIGIN]]), block)
        block = following
    return taken


@kernel
def card_of(state: State, block: int) -> int:
    """Return the card on which a block lies."""
    return int(state.pool[state.blocks.nodes[block * FIELDS + ORIGIN]]) // POOLS


@kernel
def is_cached_part(state: State, block: int, origin: int) -> bool:
    """Return whether there is such a block, cached, of the same driver allocation."""
    at = block * FIELDS
    return bool(
        block != NONE and state.blocks.nodes[at + ORIGIN] == origin and state.blocks.nodes[at + ABOVE] != OUTSIDE
    )


@kernel
def touch(nodes: np.ndarray, low: int, high: int) -> bool:
    """Return whether a block ends where the next one begins; only in segments of pages they may not."""
    return bool(nodes[low * FIELDS + ADDRESS] + nodes[low * FIELDS + SIZE] == nodes[high * FIELDS + ADDRESS])


@kernel
def join(state: State, pool: int, low: int, high: int, cached: int) -> None:
    """Join two neighbors, of which one is cached; the lower one stays, not cached."""
    nodes = state.blocks.nodes
    remove(state.blocks, pool, cached)
    state.cached[pool // POOLS] -= nodes[cached * FIELDS + SIZE]
    nodes[low * FIELDS + SIZE] += nodes[high * FIELDS + SIZE]
    forget_block(state, pool, high)


@kernel
def _joined_buddies(state: State, pool: int, block: int) -> int:
    """Join a block with its buddy, the other half of what both were cut from, as long as that is cached."""
    nodes = state.blocks.nodes
    origin = nodes[block * FIELDS + ORIGIN]
    while True:
        size = nodes[block * FIELDS + SIZE]
        # An even multiple of its size above the origin is a lower half, an odd one an upper half.
        lower_half = ((nodes[block * FIELDS + ADDRESS] - nodes[origin * FIELDS + ADDRESS]) // size) % 2 == 0
        buddy = nodes[block * FIELDS + (AFTER if lower_half else BEFORE)]
        if not is_cached_part(state, buddy, origin) or nodes[buddy * FIELDS + SIZE] != size:
            return int(block)
        low = block if lower_half else buddy
        join(state, pool, low, buddy if lower_half else block, buddy)
        block = low


@kernel
def _enter_order(state: State, card: int, origin: int) -> None:
    """Enter a driver allocation that is wholly cached from now on."""
    origins, newest = state.origins, state.newest[card]
    origins[origin * EACH + OLDER], origins[origin * EACH + NEWER] = newest, NONE
    if newest == NONE:
        state.oldest[card] = origin
    else:
        origins[newest * EACH + NEWER] = origin
    state.newest[card] = origin


@kernel
def _leave_order(state: State, card: int, origin: int) -> None:
    """Take out a driver allocation that is no longer wholly cached."""
    origins = state.origins
    older, newer = origins[origin * EACH + OLDER], origins[origin * EACH + NEWER]
    if older == NONE:
        state.oldest[card] = newer
    else:
        origins[older * EACH + NEWER] = newer
    if newer == NONE:
        state.newest[card] = older
    else:
        origins[newer * EACH + OLDER] = older


@routine
def return_to_driver(rules: Rules, state: State, row: int, origin: int) -> None:
    """Give a driver allocation back that is wholly cached."""
    nodes, pool, block = state.blocks.nodes, int(state.pool[origin]), origin
    card, address, size = pool // POOLS, nodes[origin * FIELDS + ADDRESS], state.origins[origin * EACH + BYTES]
    _leave_order(state, card, origin)
    while block != NONE and nodes[block * FIELDS + ORIGIN] == origin:
        following = nodes[block * FIELDS + AFTER]
        remove(state.blocks, pool, block)
        forget_block(state, pool, block)
        # A spare number must not pass for a driver allocation, if an idle policy names it.
        nodes[block * FIELDS + ORIGIN] = NONE
        block = following
    state.cached[card] -= size
    give_bytes(state, card, size, origin)
    called(rules, state, row, card, address, -size)
