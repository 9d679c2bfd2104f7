"""The cache record of one card: driver allocations, cut into blocks in use or cached (spec 5, R6, R11-R13).

The blocks lie in the same arrays as those of the engine `pool`, so that the policies' answers read them as they are.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.policies.pool import Cache, CacheFit, CacheRules, IdleRelease
from workbench.policies.pool.cache.question import APART, BUDDIES
from workbench.policies.pool.idle.question import BYTES, EACH, IN_USE, NEWER, OLDER
from workbench.pool_service.free_ranges import FreeRanges
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
    new_size_index,
    remove,
    with_room,
)

LARGE, SMALL = 0, 1
POOLS = 2
_FIRST_BLOCKS = 1024


def check_rules(cache: Cache) -> CacheRules:
    """The rules of a cache that the service can work by.

    Raises
    ------
    InputError
        Its driver allocations grow, its blocks are halves, or it puts together what lies apart.
    """
    rules = cache.rules()
    if rules.halves or rules.joins == BUDDIES or rules.grows or rules.stitches or rules.pages:
        raise InputError(
            f"the service does not serve with the cache {cache.name}: it needs halving, growing or stitching, which "
            "shared-memory arenas do not have. Take split_and_coalesce, size_classes, pytorch_caching or no_cache."
        )
    return rules


class DriverCall(NamedTuple):
    """A driver allocation that was made or given back."""

    card: int
    pool: int
    offset: int
    bytes: int
    """Negative for one that was given back."""


class CardCache:
    """One card; addresses are offsets in its arena, and every driver call is appended to `calls`."""

    def __init__(
        self, number: int, size: int, rules: CacheRules, fit: CacheFit, idle: IdleRelease, calls: list[DriverCall]
    ) -> None:
        self._number = number
        self.ranges = FreeRanges(size)
        self.in_use = 0
        self.cached = 0
        self._calls = calls
        self._rules = rules
        self._fit, self._fit_levers = fit.function(), (fit.parameters(), fit.start_memory())
        self._idle, self._idle_params, self._limit = idle.function(), idle.parameters(), idle.limit_bytes()
        self._starts: tuple[list[int], list[int]] = ([], [])
        """Of each pool, where its driver allocations begin, increasing."""
        self._head: dict[int, int] = {}
        """The first block of each driver allocation, by its offset."""
        self._tail: dict[int, int] = {}
        """The last block of each driver allocation, by its first."""
        self._block: dict[int, int] = {}
        """The block in use at an offset."""
        self._oldest = self._newest = NONE
        self._spare: list[int] = []
        self._fresh = 0
        self._index, self._origin_array = new_size_index(POOLS, 0), np.zeros(0, np.int64)
        self._pool_of: list[int] = []
        self._room(_FIRST_BLOCKS)

    def serves(self, size: int, need: int) -> bool:
        """Whether a cached block, or the driver alone, can serve a request (spec 5, R10, R15, E1)."""
        return self._found(size, need) >= 0 or self.ranges.holds(self._segment(size, need))

    def take(self, size: int, need: int) -> tuple[int, bool] | None:
        """Put a region to use: its offset, and whether a cached block served it; None = this card cannot.

        Parameters
        ----------
        size, need : int
            What was asked for, and the same as the cache rounds it.
        """
        pool = self._pool(size)
        block = self._found(size, need)
        cached = block >= 0
        if cached:
            remove(self._index, pool, block)
            self.cached -= self._nodes[block * FIELDS + SIZE]
        else:
            block = self._from_driver(pool, self._segment(size, need))
            if block < 0 and self._rules.flushes:
                self.flush()
                block = self._from_driver(pool, self._segment(size, need))
            if block < 0:
                return None
        self._use(pool, block, need)
        return self._nodes[block * FIELDS + ADDRESS], cached

    def size_at(self, offset: int) -> int:
        """Bytes of the block in use at an offset; 0 = there is none."""
        block = self._block.get(offset)
        return 0 if block is None else self._nodes[block * FIELDS + SIZE]

    def give_back(self, offset: int) -> None:
        """A region in use is cached (logical release), joined with its cached neighbours, and what is beyond the idle
        limit goes to the driver (spec 5, R28, R29, E4-E6)."""
        block, nodes = self._block.pop(offset), self._nodes
        origin = nodes[block * FIELDS + ORIGIN]
        pool = self._pool_of[origin]
        self.in_use -= nodes[block * FIELDS + SIZE]
        self.cached += nodes[block * FIELDS + SIZE]
        self._origins[origin * EACH + IN_USE] -= 1
        if self._rules.joins != APART:
            block = self._joined(pool, block)
        insert(self._index, pool, block)
        if self._origins[origin * EACH + IN_USE] == 0:
            self._became_idle(origin)
            if not self._rules.keeps:
                self._return(origin)
        while self.cached > self._limit and self._oldest != NONE:
            gone = int(self._idle(self.cached - self._limit, self._oldest, self._origin_array, self._idle_params))
            if gone < 0:
                break
            self._return(gone)

    def flush(self) -> None:
        """Every driver allocation that is wholly cached goes back."""
        while self._oldest != NONE:
            self._return(self._oldest)

    def restore(self, segments: list[tuple[int, int, int]], regions: dict[int, int]) -> None:
        """Take up what a journal tells: driver allocations (pool, offset, bytes) and regions in use (offset -> bytes).

        What lies between regions is cached, in one block between each two.
        """
        for pool, start, size in sorted(segments, key=lambda it: it[1]):
            self.ranges.take_at(start, size)
            block = self._segment_at(pool, start, size)
            end = start + size
            for offset in sorted(it for it in regions if start <= it < end):
                if offset > self._nodes[block * FIELDS + ADDRESS]:
                    rest = self._cut(block, offset - self._nodes[block * FIELDS + ADDRESS])
                    self._cache_again(pool, block)
                    block = rest
                length = regions[offset]
                last = offset + length == end
                following = NONE if last else self._cut(block, length)
                self._mark(block)
                block = following
            if block != NONE:
                self._cache_again(pool, block)
            if self._origins[self._head[start] * EACH + IN_USE] == 0:
                self._became_idle(self._head[start])

    def _pool(self, size: int) -> int:
        return SMALL if size <= self._rules.small_most else LARGE

    def _found(self, size: int, need: int) -> int:
        """The cached block that the policy takes, -1 = none."""
        pool = self._pool(size)
        starts = self._starts[pool]
        return int(self._fit(need, pool, self._head[starts[0]] if starts else NONE, *self._shown))

    def _segment(self, size: int, need: int) -> int:
        """Bytes that the driver is asked for."""
        rules = self._rules
        if size <= rules.small_most:
            return max(rules.small_segment, need)
        if need < rules.middle_most:
            return rules.middle_segment
        return -(-need // rules.segment_granule) * rules.segment_granule

    def _from_driver(self, pool: int, size: int) -> int:
        start = self.ranges.take(size)
        return NONE if start is None else self._segment_at(pool, start, size)

    def _segment_at(self, pool: int, start: int, size: int) -> int:
        """A driver allocation as one block that is neither in use nor cached yet."""
        block, nodes = self._new_block(), self._nodes
        at = block * FIELDS
        nodes[at + SIZE], nodes[at + ADDRESS], nodes[at + ABOVE], nodes[at + ORIGIN] = size, start, OUTSIDE, block
        self._pool_of[block] = pool
        self._head[start] = self._tail[block] = block
        starts = self._starts[pool]
        place = bisect_left(starts, start)
        before = self._tail[self._head[starts[place - 1]]] if place else NONE
        after = self._head[starts[place]] if place < len(starts) else NONE
        insort(starts, start)
        self._link(before, block)
        self._link(block, after)
        self._origins[block * EACH + BYTES], self._origins[block * EACH + IN_USE] = size, 0
        self._origins[block * EACH + OLDER] = self._origins[block * EACH + NEWER] = NONE
        self._calls.append(DriverCall(self._number, pool, start, size))
        return block

    def _return(self, origin: int) -> None:
        """A wholly cached driver allocation goes back, in however many blocks it lies."""
        nodes = self._nodes
        start, size, pool = (
            nodes[origin * FIELDS + ADDRESS],
            self._origins[origin * EACH + BYTES],
            self._pool_of[origin],
        )
        last = self._tail.pop(origin)
        before, after = nodes[origin * FIELDS + BEFORE], nodes[last * FIELDS + AFTER]
        block = origin
        while True:
            following = nodes[block * FIELDS + AFTER]
            remove(self._index, pool, block)
            self._spare.append(block)
            if block == last:
                break
            block = following
        self._link(before, after)
        self._starts[pool].remove(start)
        del self._head[start]
        self._no_longer_idle(origin)
        self.cached -= size
        self.ranges.give_back(start, size)
        self._calls.append(DriverCall(self._number, pool, start, -size))

    def _use(self, pool: int, block: int, need: int) -> None:
        rest = self._nodes[block * FIELDS + SIZE] - need
        if self._worth_cutting(pool, rest, need):
            self._cache_again(pool, self._cut(block, need))
        self._mark(block)

    def _worth_cutting(self, pool: int, rest: int, need: int) -> bool:
        rules = self._rules
        least = rules.small_least_rest if pool == SMALL else rules.least_rest
        if rules.relative_rest and rest < need and rest < rules.large_rest:
            return False
        return rest >= least

    def _mark(self, block: int) -> None:
        """A block is in use."""
        nodes, origin = self._nodes, self._nodes[block * FIELDS + ORIGIN]
        if self._origins[origin * EACH + IN_USE] == 0:
            self._no_longer_idle(origin)
        self._origins[origin * EACH + IN_USE] += 1
        self.in_use += nodes[block * FIELDS + SIZE]
        self._block[nodes[block * FIELDS + ADDRESS]] = block

    def _cache_again(self, pool: int, block: int) -> None:
        self.cached += self._nodes[block * FIELDS + SIZE]
        insert(self._index, pool, block)

    def _cut(self, block: int, need: int) -> int:
        """What remains above the lower part of a block: a block of its own."""
        rest = self._new_block()
        nodes, at, it = self._nodes, block * FIELDS, rest * FIELDS
        origin = nodes[at + ORIGIN]
        nodes[it + SIZE], nodes[it + ADDRESS] = nodes[at + SIZE] - need, nodes[at + ADDRESS] + need
        nodes[it + ABOVE], nodes[it + ORIGIN] = OUTSIDE, origin
        self._link(rest, nodes[at + AFTER])
        self._link(block, rest)
        nodes[at + SIZE] = need
        if self._tail[origin] == block:
            self._tail[origin] = rest
        return rest

    def _joined(self, pool: int, block: int) -> int:
        """A block with its cached neighbours of the same driver allocation."""
        nodes = self._nodes
        before, after = nodes[block * FIELDS + BEFORE], nodes[block * FIELDS + AFTER]
        if after != NONE and self._cached_beside(block, after):
            remove(self._index, pool, after)
            self._swallow(block, after)
        if before != NONE and self._cached_beside(block, before):
            remove(self._index, pool, before)
            self._swallow(before, block)
            return before
        return block

    def _cached_beside(self, block: int, other: int) -> bool:
        nodes = self._nodes
        same = nodes[block * FIELDS + ORIGIN] == nodes[other * FIELDS + ORIGIN]
        return bool(same and nodes[other * FIELDS + ABOVE] != OUTSIDE)

    def _swallow(self, block: int, following: int) -> None:
        nodes, origin = self._nodes, self._nodes[block * FIELDS + ORIGIN]
        nodes[block * FIELDS + SIZE] += nodes[following * FIELDS + SIZE]
        self._link(block, nodes[following * FIELDS + AFTER])
        if self._tail[origin] == following:
            self._tail[origin] = block
        self._spare.append(following)

    def _link(self, before: int, after: int) -> None:
        if before != NONE:
            self._nodes[before * FIELDS + AFTER] = after
        if after != NONE:
            self._nodes[after * FIELDS + BEFORE] = before

    def _became_idle(self, origin: int) -> None:
        """A driver allocation is wholly cached: the youngest of those that are."""
        self._origins[origin * EACH + OLDER], self._origins[origin * EACH + NEWER] = self._newest, NONE
        if self._newest == NONE:
            self._oldest = origin
        else:
            self._origins[self._newest * EACH + NEWER] = origin
        self._newest = origin

    def _no_longer_idle(self, origin: int) -> None:
        older, newer = self._origins[origin * EACH + OLDER], self._origins[origin * EACH + NEWER]
        if older != NONE:
            self._origins[older * EACH + NEWER] = newer
        elif self._oldest == origin:
            self._oldest = newer
        if newer != NONE:
            self._origins[newer * EACH + OLDER] = older
        elif self._newest == origin:
            self._newest = older
        self._origins[origin * EACH + OLDER] = self._origins[origin * EACH + NEWER] = NONE

    def _new_block(self) -> int:
        if self._spare:
            return self._spare.pop()
        if self._fresh == len(self._pool_of):
            self._room(2 * self._fresh)
        self._fresh += 1
        return self._fresh - 1

    def _room(self, blocks: int) -> None:
        """Arrays for so many blocks, with what they held before."""
        self._index, origins = with_room(self._index, POOLS, blocks), np.full(blocks * EACH, NONE, np.int64)
        origins[: len(self._origin_array)] = self._origin_array
        self._origin_array = origins
        self._nodes, self._origins = self._index.nodes.data, origins.data
        self._shown = (*self._index, *self._fit_levers)
        self._pool_of += [LARGE] * (blocks - len(self._pool_of))
