"""RMM's pool, which has a list of free blocks for each stream, by the rules of each version of RMM.

The pool takes its initial block when it is built. A block that is given back goes to the list of the stream that gave
it back. A request takes the best fit of its stream's list, then of each other list. Where no block fits, the lists of
the other streams are joined to its own, one after another. Last the pool grows. Free blocks coalesce within one block
of the driver. Of equal fits the lowest address is taken.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import NamedTuple

from workbench.advice.rmm.resource import (
    DEFAULT_STREAM,
    GRANULE,
    NO_ROOM,
    CardRequests,
    Driver,
    serve,
    smallest_size,
)
from workbench.errors import InputError

POOL_STEP = 2 << 20
"""In which steps the least size is looked for: what the driver deals in."""


class PoolRules(NamedTuple):
    """The rules that differ between versions of RMM."""

    since: str
    """The first version with these rules."""
    limited: bool
    """Whether a pool without a maximum has the memory of the card as its maximum."""
    halves: bool
    """Whether a refused growth is tried again with half of it, down to the request."""
    joins: bool
    """Whether the lists of all streams are joined before the pool grows."""
    leaves: bool
    """Whether the rest of another stream's block stays in its list; else the request takes that whole list."""


RULES = (
    PoolRules("0.15", limited=True, halves=False, joins=False, leaves=False),
    PoolRules("0.16", limited=True, halves=False, joins=True, leaves=False),
    PoolRules("0.17", limited=False, halves=True, joins=True, leaves=False),
    PoolRules("21.10", limited=False, halves=True, joins=True, leaves=True),
)
"""Oldest first; `DEVIATIONS.md` names the change of RMM behind each row."""
NEWEST = RULES[-1]


def version_of(text: str) -> tuple[int, int]:
    """Return a version of RMM as numbers that can be compared.

    Raises
    ------
    InputError
        It is no version, or RMM had another pool then.

    Examples
    --------
    >>> version_of("24.12.00"), version_of("v0.17.0")
    ((24, 12), (0, 17))
    """
    year, _, month = text.strip().removeprefix("v").partition(".")
    month = month.partition(".")[0]
    if not (year.isdecimal() and month.isdecimal()):
        raise InputError(f"the version of RMM must be like 24.12 or 0.17. Got {text!r}.")
    version = int(year), int(month)
    if version < (0, 15):
        raise InputError(
            f"the version of RMM must be at least 0.15, the first whose pool is not CNMeM's. Got {text!r}."
        )
    return version


def rules_of(text: str) -> PoolRules:
    """Return the rules of a version of RMM.

    >>> rules_of("21.08").since, rules_of("26.08") == NEWEST
    ('0.17', True)
    """
    version = version_of(text)
    return next(rules for rules in reversed(RULES) if version_of(rules.since) <= version)


class StreamPool:
    """The pool of one card, which starts with `initial` bytes.

    Parameters
    ----------
    initial : int
        RMM's `initial_pool_size`. If the driver refuses it, no request is served.
    driver : Driver, optional
        What the pool takes its blocks from.
    maximum : int, optional
        RMM's `maximum_pool_size`.
    rules : PoolRules
        Those of a version of RMM.

    Raises
    ------
    InputError
        The initial size exceeds the maximum; or the rules take the memory of the card as the maximum, and the driver
        has no limit.

    References
    ----------
    RMM, pool_memory_resource and stream_ordered_memory_resource.

    Examples
    --------
    >>> pool = StreamPool(1024)
    >>> one = pool.allocate(0, 1024)
    >>> pool.free(0, one, 1024)
    >>> pool.allocate(1, 512) == one, pool.allocate(1, 512), pool.driver.calls    # the rest stays with stream 0
    (True, 512, [1024])

    A pool without a maximum doubles; with one, it grows by half of what remains, or by the request if that is more.

    >>> pool, limited = StreamPool(1 << 20), StreamPool(1 << 20, maximum=9 << 20)
    >>> _ = [it.allocate(0, 1 << 20) for it in (pool, limited, pool, limited)]
    >>> [size >> 20 for size in pool.driver.calls], [size >> 20 for size in limited.driver.calls]
    ([1, 1], [1, 4])
    """

    def __init__(
        self, initial: int, driver: Driver | None = None, maximum: int | None = None, rules: PoolRules = NEWEST
    ) -> None:
        self.driver = driver or Driver()
        self.size = 0
        """Bytes that the pool has from the driver."""
        self._rules, self._maximum = rules, maximum
        if rules.limited and maximum is None:
            if self.driver.card_bytes is None:
                raise InputError(
                    f"a pool of RMM {rules.since} without maximum_pool_size grows by half of what remains of the card; "
                    "name card_bytes (--card-bytes), or a newer version of RMM."
                )
            self._maximum = self.driver.free_bytes() // GRANULE * GRANULE
        if self._maximum is not None and initial > self._maximum:
            raise InputError(f"initial_pool_size must be at most maximum_pool_size ({self._maximum}). Got {initial}.")
        self._free: dict[int, FreeBlocks] = {}
        self.built = not initial or self._get(initial, initial, self._list_of(DEFAULT_STREAM)) != NO_ROOM

    def allocate(self, stream: int, size: int) -> int:
        """Return the address of so many bytes for work on a stream; `NO_ROOM` = the pool cannot grow by them."""
        if not self.built:
            return NO_ROOM
        own = self._list_of(stream)
        block = own.take(size)
        if block is not None:
            return _cut(own, block, size)
        return self._from_others(stream, own, size)

    def free(self, stream: int, address: int, size: int) -> None:
        """Take back what was given, after the work on a stream so far."""
        self._list_of(stream).add(address, size)

    def _list_of(self, stream: int) -> FreeBlocks:
        return self._free.setdefault(stream, FreeBlocks())

    def _from_others(self, stream: int, own: FreeBlocks, size: int) -> int:
        others = [number for number in self._free if number != stream]
        for number in others:
            block = self._free[number].take(size)
            if block is not None:
                if self._rules.leaves:
                    return _cut(self._free[number], block, size)
                own.join(self._free.pop(number))
                return _cut(own, block, size)
        for number in others if self._rules.joins else ():
            own.join(self._free.pop(number))
            block = own.take(size)
            if block is not None:
                return _cut(own, block, size)
        start = self._get(self._growth(size), size, own)
        if start == NO_ROOM:
            return NO_ROOM
        block = own.take(size)
        assert block is not None
        return _cut(own, block, size)

    def _growth(self, size: int) -> int:
        """Return the bytes that the pool tries to grow by; less than the request = it must not grow so much."""
        if self._maximum is None:
            return max(size, self.size)
        left = -(-(self._maximum - self.size) // GRANULE) * GRANULE
        return max(size, left // 2) if size <= left else 0

    def _get(self, wanted: int, least: int, own: FreeBlocks) -> int:
        """Take a block from the driver into a list; while it refuses, try half of the size, down to the least."""
        while wanted >= least:
            start = self.driver.get(wanted)
            if start != NO_ROOM:
                self.size += wanted
                own.add(start, wanted)
                return start
            if wanted == least or not self._rules.halves:
                break
            wanted = max(least, wanted // 2)
        return NO_ROOM


def _cut(blocks: FreeBlocks, block: tuple[int, int], size: int) -> int:
    """Return the start of a block that was taken out; what is left of it goes back into a list."""
    start, whole = block
    if whole > size:
        blocks.add(start + size, whole - size)
    return start


def smallest_pool(cards: list[CardRequests], step: int = POOL_STEP, rules: PoolRules = NEWEST) -> int:
    """Return the smallest pool a card, in steps, that serves everything without growing, as far as halves tell.

    >>> requests = CardRequests([0, 1, -1, 2], [512, 512, 512, 1024], [0, 0, 0, 0])
    >>> smallest_pool([requests], step=256)    # neither hole is large enough for the last
    2048
    """

    def serves(size: int, requests: CardRequests) -> bool:
        return serve(StreamPool(size, maximum=size, rules=rules), requests).failed_at < 0

    return smallest_size(cards, step, serves)


def smallest_maximum(cards: list[CardRequests], initial: int, step: int = POOL_STEP, rules: PoolRules = NEWEST) -> int:
    """Return the smallest `maximum_pool_size` a card, in steps, with which a pool that starts small serves everything.

    It is looked for by halves, as `smallest_pool` is.

    >>> smallest_maximum([CardRequests([0, 1], [32 << 20, 32 << 20], [0, 0])], 1 << 20) >> 20
    66
    """

    def serves(size: int, requests: CardRequests) -> bool:
        return size >= initial and serve(StreamPool(initial, None, size, rules), requests).failed_at < 0

    return smallest_size(cards, step, serves)


class FreeBlocks:
    """Free blocks by address and by size; what touches is joined.

    >>> blocks = FreeBlocks()
    >>> blocks.add(0, 512), blocks.add(1024, 256), blocks.add(512, 512)
    (None, None, None)
    >>> blocks.take(300), blocks.take(2048)
    ((0, 1280), None)
    """

    def __init__(self) -> None:
        self.size_at: dict[int, int] = {}
        self._start_of_end: dict[int, int] = {}
        self._by_size: list[tuple[int, int]] = []

    def add(self, start: int, size: int) -> None:
        """Add a block, joined with those that touch it."""
        before = self._start_of_end.get(start)
        if before is not None:
            size += self._remove(before)
            start = before
        if start + size in self.size_at:
            size += self._remove(start + size)
        self.size_at[start] = size
        self._start_of_end[start + size] = start
        insort(self._by_size, (size, start))

    def take(self, size: int) -> tuple[int, int] | None:
        """Take out the smallest block that is large enough: its start and size; None = there is none."""
        place = bisect_left(self._by_size, (size, -1))
        if place == len(self._by_size):
            return None
        whole, start = self._by_size[place]
        self._remove(start)
        return start, whole

    def join(self, others: FreeBlocks) -> None:
        """Add all blocks of another stream, which has none then."""
        for start, size in sorted(others.size_at.items()):
            self.add(start, size)

    def _remove(self, start: int) -> int:
        size = self.size_at.pop(start)
        del self._start_of_end[start + size]
        del self._by_size[bisect_left(self._by_size, (size, start))]
        return size
