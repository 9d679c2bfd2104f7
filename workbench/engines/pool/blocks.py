"""Blocks of a card: got from the driver, cut, joined, given back (spec 5, R12, R13, R28, R29, E3-E5).

The driver has so many bytes of a card, or runs of granules among which a placement policy chooses. With a policy each
driver allocation lies in one run of granules, as many as its bytes need, and is refused where no run is long enough,
however many bytes are free (spec 5, section 8; spec 1). Identifiers stay what they are: where a region lies physically
is the driver's own affair.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, addresses, kernel, noinline, routine
from workbench.engines.pool.options import Case
from workbench.engines.pool.state import COUNT, FAULT, POOLS, Driver, Rules, State, stopped
from workbench.policies.placement.question import PLACE, TOLD
from workbench.policies.placement.view import PlacementNotice, PlacementView
from workbench.policies.pool.cache import APART, BUDDIES
from workbench.policies.pool.idle import BYTES, EACH, IN_USE, NEWER, OLDER
from workbench.structures.bitmaps import all_free, is_free, mark_free, mark_taken
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


@routine
def give(rules: Rules, state: State, pool: int, block: int) -> None:
    """Cache a block that was in use, joined with what is cached beside it in the same driver allocation."""
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
    """Join two neighbours, of which one is cached; the lower one stays, not cached."""
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
        nodes[block * FIELDS + ORIGIN] = NONE
        block = following
    state.cached[card] -= size
    give_bytes(state, card, size, origin)
    called(rules, state, row, card, address, -size)


ask_place, tell_placement = PLACE.ask, TOLD.ask
ASKED, GRANTED, RELEASED = range(3)
"""The answers of the policy: where, and what it is told afterwards."""
WORDS, LENGTHS, SLOTS = range(3)
"""What each card has a part of: free maps, footprints, what the policy remembers."""
NOWHERE = -1


def new_driver(case: Case, capacity: np.ndarray, blocks: int, checked: bool) -> Driver:
    """Return a driver with everything free and the policy's memory of each card as at the start of a run."""
    policy, options, streams = case.slots.driver, case.options, case.streams
    counted = policy.layout != "contiguous"
    granules = np.zeros(capacity.size, np.int64) if counted else capacity // options.driver_granule
    each = [policy.ready(max(int(it), 1), streams.integer(f"driver/{k}"), checked) for k, it in enumerate(granules)]
    free = [all_free(int(it)) for it in granules]
    lengths = [np.asarray(policy.footprint(np.arange(1, it + 1), max(int(it), 1)), np.int64) for it in granules]
    columns = free, [np.concatenate([[0], it]) for it in lengths], [it.memory for it in each]
    memory = np.concatenate(columns[SLOTS])
    return Driver(
        answers=addresses([each[0].answer, each[0].granted, each[0].released]),
        params=each[0].params,
        granule=0 if counted else options.driver_granule,
        granules=granules,
        first=np.array([np.cumsum([0, *(it.size for it in column)]) for column in columns]),
        free=np.concatenate(free),
        footprints=np.concatenate(columns[LENGTHS]),
        memory=memory,
        scratch=memory.copy(),
        start=np.full(0 if counted else blocks, NOWHERE),
    )


@kernel
def has_bytes(state: State, row: int, card: int, size: int) -> bool:
    """Return whether the driver has so many bytes of a card, in one run where they must be."""
    if state.driver.granule == 0:
        return bool(state.physical[card] >= size)
    return _has_run(state, row, card, size)


@kernel
def could_have(state: State, card: int, size: int, capacity: int) -> bool:
    """Return whether the driver has so many bytes of a card when nothing of it is taken."""
    if state.driver.granule == 0:
        return size <= capacity
    return bool(_taken(state.driver, card, size) <= state.driver.granules[card])


@noinline
def _has_run(state: State, row: int, card: int, size: int) -> bool:
    """Return whether the policy would place so many bytes; it forgets that it was asked."""
    driver = state.driver
    at, end = driver.first[SLOTS, card], driver.first[SLOTS, card + 1]
    for slot in range(at, end):
        driver.scratch[slot] = driver.memory[slot]
    return _place(state, row, card, _taken(driver, card, size), driver.scratch[at:end]) != NOWHERE


@kernel
def take_bytes(state: State, row: int, card: int, size: int, block: int) -> bool:
    """Take so many bytes of a card for a driver allocation that begins with a block; whether they were there."""
    if state.driver.granule > 0:
        return _take_run(state, row, card, size, block)
    if size > state.physical[card]:
        return False
    state.physical[card] -= size
    return True


@noinline
def _take_run(state: State, row: int, card: int, size: int, block: int) -> bool:
    """Take the run that the policy chooses; whether there is one."""
    driver = state.driver
    length = _taken(driver, card, size)
    memory = driver.memory[driver.first[SLOTS, card] : driver.first[SLOTS, card + 1]]
    start = _place(state, row, card, length, memory)
    if start == NOWHERE:
        return False
    driver.start[block] = start
    mark_taken(driver.free[driver.first[WORDS, card] : driver.first[WORDS, card + 1]], start, length)
    state.physical[card] -= length * driver.granule
    _notify(driver, GRANTED, card, start, length)
    return True


@kernel
def give_bytes(state: State, card: int, size: int, block: int) -> None:
    """Give back what a driver allocation took that began with a block."""
    if state.driver.granule > 0:
        _give_run(state, card, size, block)
    else:
        state.physical[card] += size


@noinline
def _give_run(state: State, card: int, size: int, block: int) -> None:
    """Give a run back, and tell the policy."""
    driver = state.driver
    start, length = driver.start[block], _taken(driver, card, size)
    mark_free(driver.free[driver.first[WORDS, card] : driver.first[WORDS, card + 1]], start, length)
    state.physical[card] += length * driver.granule
    _notify(driver, RELEASED, card, start, length)


@kernel
def _taken(driver: Driver, card: int, size: int) -> int:
    """Return the granules that a driver allocation takes; more than there are where it can never be served."""
    length = -(-size // driver.granule)
    return int(length if length > driver.granules[card] else driver.footprints[driver.first[LENGTHS, card] + length])


@noinline
def _place(state: State, row: int, card: int, length: int, memory: np.ndarray) -> int:
    """Return the first granule of the run that the policy chooses, -1 = there is none."""
    driver = state.driver
    if length > driver.granules[card]:
        return NOWHERE
    free = driver.free[driver.first[WORDS, card] : driver.first[WORDS, card + 1]]
    start = ask_place(driver.answers[ASKED], PlacementView(free, driver.granules[card], length, driver.params, memory))
    if start != NOWHERE and (start < 0 or not is_free(free, start, length)):
        stopped(state, FAULT.driver_raised if start == RAISED else FAULT.driver_wrong, row, start)
        return NOWHERE
    return int(start)


@kernel
def _notify(driver: Driver, what: int, card: int, start: int, length: int) -> None:
    """Tell the policy of what was taken or given back."""
    if driver.answers[what] != NO_ANSWER:
        free = driver.free[driver.first[WORDS, card] : driver.first[WORDS, card + 1]]
        memory = driver.memory[driver.first[SLOTS, card] : driver.first[SLOTS, card + 1]]
        tell_placement(
            driver.answers[what], PlacementNotice(free, driver.granules[card], start, length, driver.params, memory)
        )
