"""Addresses in the heap of the engine `malloc`: ranges of granules are found, taken and given back (spec 2).

The memory of an arena is one of three kinds of heap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, Answer, kernel, leading_zeros, noinline, routine
from workbench.engines.kit.faults import fail
from workbench.engines.malloc.state import (
    ASK,
    BITMAP,
    BUMP,
    COUNT,
    FAULT,
    HIGHEST,
    LOWEST,
    NEXT,
    NONE,
    PARALLEL,
    Arena,
    Policies,
    Rules,
    State,
)
from workbench.policies.malloc.parallel.access import RETURNED, ReturnView
from workbench.policies.placement.question import PLACE, TOLD
from workbench.policies.placement.view import PlacementNotice, PlacementView
from workbench.structures.bitmaps import is_free, mark_free, mark_taken
from workbench.structures.run_tree import highest_start, lowest_start, lowest_start_from, renew

ask_placement = PLACE.ask
tell_placement = TOLD.ask
tell_heap = RETURNED.ask


@routine
def allocate(rules: Rules, arena: Arena, policies: Policies, state: State, at: int, size: int, now: int) -> int:
    """Allocate so many bytes in one arena: return the first granule of the range, or -1; how many it has is left in
    GRANTS."""
    granules = max((size + rules.granule - 1) // rules.granule, 1)
    if granules > rules.region:
        return NONE
    if rules.heap == BITMAP:
        return _from_bitmap(rules, arena, policies, state, at, granules, now)
    if rules.heap == BUMP:
        state.counters[COUNT.grants] = granules
        return _bump(arena, at, granules)
    return _from_class(rules, arena, state, at, granules)


@kernel
def _bump(arena: Arena, at: int, granules: int) -> int:
    start = arena.top[at]
    if start + granules > arena.limit[at]:
        return NONE
    arena.top[at] = start + granules
    return start


@kernel
def _from_class(rules: Rules, arena: Arena, state: State, at: int, granules: int) -> int:
    """Take a block of the next power of two: one that was freed, else from the chunk of its class."""
    which = 64 - leading_zeros(np.uint64(granules - 1))
    size: Any = np.int64(1) << which
    state.counters[COUNT.grants] = size
    spare = arena.spare[at, which]
    if spare >= 0:
        arena.spare[at, which] = state.link[spare]
        # `base` counts granules from the first arena, what is returned from this one.
        return state.base[spare] - at * rules.region
    if size >= rules.chunk:
        return _bump(arena, at, size)
    # Blocks and chunks are powers of two, so a chunk has no remainder.
    if arena.carved[at, which] == arena.carved_end[at, which]:
        chunk = _bump(arena, at, rules.chunk)
        if chunk == NONE:
            return NONE
        arena.carved[at, which], arena.carved_end[at, which] = chunk, chunk + rules.chunk
    arena.carved[at, which] += size
    return arena.carved[at, which] - size


@kernel
def _from_bitmap(rules: Rules, arena: Arena, policies: Policies, state: State, at: int, granules: int, now: int) -> int:
    if arena.rounded.size > 1:
        granules = arena.rounded[granules]
    if arena.room[at] < granules:
        return NONE
    free = arena.free[at]
    start = _search(rules, arena, policies, state, at, granules, now)
    if start == NONE:
        return NONE
    mark_taken(free, start, granules)
    if rules.search != ASK:
        renew(arena.tree[at], free, start, granules)
        arena.top[at] = start + granules
    arena.room[at] -= granules
    state.counters[COUNT.grants] = granules
    # The words of 64 bits from that of the first granule to that of the last one.
    state.counters[COUNT.words] += ((start + granules - 1) >> 6) - (start >> 6) + 1
    _tell(policies.granted, rules, arena, policies, state, at, start, granules, now)
    return start


@kernel
def _search(rules: Rules, arena: Arena, policies: Policies, state: State, at: int, granules: int, now: int) -> int:
    free, tree = arena.free[at], arena.tree[at]
    if rules.search == ASK:
        return _placed(rules, arena, policies, state, at, granules, now)
    if rules.search == HIGHEST:
        return highest_start(tree, free, granules)
    if rules.search == NEXT:
        start = lowest_start_from(tree, free, granules, arena.top[at])
        if start != NONE:
            return start
    low = lowest_start(tree, free, granules)
    if rules.search == LOWEST or rules.search == NEXT or low == NONE:
        return low
    high = highest_start(tree, free, granules)
    # A growing heap ends at its last chunk, not at the end of its address range.
    end = arena.limit[at] if rules.grows > 0 else rules.region
    return low if low <= end - granules - high else high


@kernel
def _placed(rules: Rules, arena: Arena, policies: Policies, state: State, at: int, granules: int, now: int) -> int:
    """Return the placement policy's own answer, checked."""
    free = arena.free[at]
    # A policy with memory was started for the whole region. It sees granules that are still to come as taken.
    blocks = arena.limit[at] if rules.grows > 0 and arena.memory.shape[1] == 0 else rules.region
    answer = ask_placement(policies.place, PlacementView(free, blocks, granules, policies.params, arena.memory[at]))
    if answer == RAISED:
        fail(state.counters, FAULT.placement_raised, now, at, granules)
        return NONE
    if answer != NONE and not (0 <= answer <= rules.region - granules and is_free(free, answer, granules)):
        fail(state.counters, FAULT.not_free, now, at, answer)
        return NONE
    return answer


@kernel
def _tell(
    notice: Answer,
    rules: Rules,
    arena: Arena,
    policies: Policies,
    state: State,
    at: int,
    start: int,
    granules: int,
    now: int,
) -> None:
    if rules.search == ASK and notice != NO_ANSWER:
        answer = tell_placement(
            notice, PlacementNotice(arena.free[at], rules.region, start, granules, policies.params, arena.memory[at])
        )
        if answer == RAISED:
            fail(state.counters, FAULT.placement_raised, now, at, granules)


@noinline
def extend(rules: Rules, arena: Arena, policies: Policies, state: State, at: int, granules: int, now: int) -> None:
    """Put granules behind the last one of an arena; a placement policy is told that they are free now."""
    start = arena.limit[at]
    arena.limit[at] += granules
    if rules.heap == BITMAP:
        mark_free(arena.free[at], start, granules)
        if rules.search != ASK:
            renew(arena.tree[at], arena.free[at], start, granules)
        arena.room[at] += granules
        _tell(policies.released, rules, arena, policies, state, at, start, granules, now)


@routine
def give_back(rules: Rules, arena: Arena, policies: Policies, state: State, block: int, now: int) -> None:
    """Give a block back to its arena."""
    at = state.base[block] // rules.region
    start, granules = state.base[block] - at * rules.region, state.granules[block]
    if rules.heap == BITMAP:
        mark_free(arena.free[at], start, granules)
        if rules.search != ASK:
            renew(arena.tree[at], arena.free[at], start, granules)
        arena.room[at] += granules
        state.counters[COUNT.words] += ((start + granules - 1) >> 6) - (start >> 6) + 1
        _tell(policies.released, rules, arena, policies, state, at, start, granules, now)
    elif rules.heap == PARALLEL:
        if policies.released != NO_ANSWER:
            answer = tell_heap(policies.released, ReturnView(start, granules, policies.params, arena.words))
            if answer == RAISED:
                fail(state.counters, FAULT.heap_raised, now, at, granules)
    elif rules.heap != BUMP:
        # The granules of a class are a power of two, so this is the class that `_from_class` chose.
        which = 63 - leading_zeros(np.uint64(granules))
        state.link[block] = arena.spare[at, which]
        arena.spare[at, which] = block
