"""Which memory does a request get? What the engine `pool` grants it, in the arenas (spec 5, R6-R24).

The engine counts addresses of each card on and on, as drivers of GPUs do with virtual ones; a driver allocation lies in
an arena as long as it exists. The driver of a card gives ranges of its arena, with pages behind them, and takes them
back as zeros. After a kill the regions in use alone are known, and how their driver allocations were cut follows.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.shared_memory import SharedMemory
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.kit.engine import Setup
from workbench.engines.pool.live import Granted, LiveBoard
from workbench.errors import PolicyError
from workbench.pool_service.arenas import PAGE, Slots, discard_pages, memory_of, reserve_pages
from workbench.pool_service.protocol import NO_PAGES, OUT_OF_MEMORY, POLICY_FAILED, Refusal, place_of, region_id


class Segment(NamedTuple):
    """A driver allocation that was made, or given back."""

    card: int
    pool: int
    offset: int
    bytes: int
    """Negative for one that was given back."""


class Grant(NamedTuple):
    """A region that was given."""

    region: int
    """Its identifier: card and offset in the card's arena (spec 5, R8)."""
    bytes: int
    """Of its block."""
    cached: bool
    """Whether a cached block served it."""


class Ledger:
    """The records of all cards.

    Parameters
    ----------
    setup : Setup
        The board and the policies, as an engine has them.
    drivers : sequence of Driver
        One a card.
    zeroes : bool
        Whether cached memory is filled with zeros before it is granted again (spec 5, E20).
    noted : callable
        Is told of every driver allocation that is made or given back.

    Examples
    --------
    >>> from workbench.pool_service.service import ServiceSettings
    >>> settings = ServiceSettings(card_bytes=100)
    >>> ledger = Ledger(settings.setup(), [Driver(100)] * 3, False, lambda segment: print(segment.card, segment.bytes))
    >>> one, other = ledger.alloc(1, 80), ledger.alloc(1, 50)    # the second does not fit gpu0: gpu1 is next by NVLink
    1 80
    2 50
    >>> ledger.give_back(one.region), ledger.state(1), ledger.alloc(1, 80) == one._replace(cached=True)
    (None, (0, 80), True)

    References
    ----------
    spec 5, R6-R8, R10-R15, R23, R24, R28, R29.
    """

    def __init__(self, setup: Setup, drivers: Sequence[Driver], zeroes: bool, noted: Callable[[Segment], None]) -> None:
        self._live, self.drivers, self._zeroes, self._noted = LiveBoard(setup), drivers, zeroes, noted
        cache: Any = setup.policies["cache"]
        self._pieces = halves if cache.rules().halves else pieces
        self._offset: dict[tuple[int, int], int] = {}
        """Where each driver allocation lies in its arena, by card and the engine's address."""
        self._row: dict[int, int] = {}
        """What the engine calls each region."""
        self._said = False

    def alloc(self, borrower: int, size: int) -> Grant:
        """Serve a request of an application on a card.

        Raises
        ------
        Refusal
            No card has space (spec 5, R24), the system has no pages for the one that has, or a policy failed.
        """
        grant, status = None, OUT_OF_MEMORY
        try:
            grant = self._live.allocate(borrower, size)
        except PolicyError as problem:
            status = self._say(problem)
        if self._live.called():
            self._follow(self._live.pool_of(size), grant)
        if grant is None:
            raise Refusal(status)
        offset = self._offset[grant.card, grant.origin] + grant.address - grant.origin
        region = region_id(grant.card, offset)
        self._row[region] = grant.row
        if self._zeroes and grant.cached:
            self.drivers[grant.card].zero(offset, grant.taken)
        return Grant(region, grant.taken, grant.cached)

    def give_back(self, region: int) -> None:
        """Move a region in use to the cache; what is beyond the idle limit goes back to the driver (spec 5, R28,
        R29)."""
        try:
            self._live.free(self._row.pop(region))
        except PolicyError as problem:
            self._say(problem)
        if self._live.called():
            self._follow(0, None)

    def state(self, card: int) -> tuple[int, int]:
        """Return the bytes of a card that are in use, and bytes that are cached."""
        return self._live.in_use(card), self._live.cached(card)

    def restore(self, segments: Sequence[Segment], regions: dict[int, int]) -> None:
        """Take up driver allocations, in the order in which they were made, and regions in use with their bytes."""
        places = [place_of(region) for region in regions]
        for card, driver in enumerate(self.drivers):
            used = sorted(at for its, at in places if its == card)
            own = [segment for segment in segments if segment.card == card]
            driver.take_all([(segment.offset, segment.bytes) for segment in own])
            for segment in own:
                first, end = (bisect_left(used, at) for at in (segment.offset, segment.offset + segment.bytes))
                self._restore(segment, {at: regions[region_id(card, at)] for at in used[first:end]})

    def _restore(self, segment: Segment, inside: dict[int, int]) -> None:
        card, pool, start, size = segment
        address, rows = self._live.restore(card, pool, self._pieces(start, size, inside))
        self._offset[card, address] = start
        self._row.update(zip((region_id(card, at) for at in inside), rows, strict=True))

    def _say(self, problem: PolicyError) -> int:
        """Tell, once, what a policy did wrong; the service goes on without its answer."""
        if not self._said:
            print(f"workbench: {problem}", file=sys.stderr, flush=True)
        self._said = True
        return POLICY_FAILED

    def _follow(self, pool: int, grant: Granted | None) -> None:
        """Do in the arenas what the engine's driver did; undo the grant that finds no pages."""
        for card, address, size in self._live.calls():
            if size < 0:
                offset = self._offset.pop((card, address))
                self.drivers[card].give_back(offset, -size)
            else:
                offset = self._pages(card, size, grant)
                self._offset[card, address] = offset
            self._noted(Segment(card, pool, offset, size))

    def _pages(self, card: int, size: int, grant: Granted | None) -> int:
        try:
            return self.drivers[card].take(size)
        except Refusal:
            assert grant is not None
            self._live.take_back(grant.row)
            raise


class Driver:
    """The arena of a card, of which whole ranges are given and taken back.

    Parameters
    ----------
    size : int
        Bytes of the card; who asks never has more of them at a time.
    arena : SharedMemory or None
        None = a card without memory, or addresses alone.

    Examples
    --------
    >>> driver = Driver(1 << 20)
    >>> one, other = driver.take(5000), driver.take(5000)
    >>> other - one, driver.give_back(one, 5000), driver.take(6000) == one
    (8192, None, True)

    References
    ----------
    spec 5, R7, R13, R29, E20.
    """

    def __init__(self, size: int, arena: SharedMemory | None = None) -> None:
        self._slots, self._arena, self.bytes = Slots(size), arena, size

    def take(self, size: int) -> int:
        """Take the start of a free range of zeros.

        Raises
        ------
        Refusal
            The system has no pages left; nothing has changed.
        """
        start = self._slots.take(size)
        try:
            if self._arena is not None:
                reserve_pages(self._arena, start, size)
        except OSError:
            self._slots.give_back(start, size)
            raise Refusal(NO_PAGES) from None
        return start

    def gives(self, start: int, size: int) -> bool:
        """Return whether a range is one that `take` may return for a size."""
        return self._slots.is_slot(start, size)

    def take_all(self, taken: list[tuple[int, int]]) -> None:
        """Begin with these (start, bytes) given, as a service that was killed had given them."""
        self._slots.take_all(taken)

    def give_back(self, start: int, size: int) -> None:
        """Give a range back; whoever gets it next finds zeros, as from a driver."""
        if self._arena is not None:
            if size >= PAGE:
                discard_pages(self._arena, start, size)
            else:
                self.zero(start, size)
        self._slots.give_back(start, size)

    def zero(self, start: int, size: int) -> None:
        """Fill a range with zeros (spec 5, E20)."""
        if self._arena is not None:
            np.frombuffer(memory_of(self._arena), np.uint8)[start : start + size] = 0


def pieces(start: int, size: int, regions: Mapping[int, int]) -> list[tuple[int, bool]]:
    """Return the blocks of a driver allocation, (bytes, whether in use): what lies between two regions is one block.

    >>> pieces(100, 50, {110: 5, 115: 5, 500: 8})
    [(10, False), (5, True), (5, True), (30, False)]
    """
    blocks, at = [], start
    for region in sorted(it for it in regions if start <= it < start + size):
        blocks += [(region - at, False), (regions[region], True)]
        at = region + regions[region]
    return [piece for piece in [*blocks, (start + size - at, False)] if piece[0]]


def halves(start: int, size: int, regions: Mapping[int, int]) -> list[tuple[int, bool]]:
    """Return the same where blocks are halves of halves: a half without a region is one block.

    >>> halves(0, 64, {16: 16})
    [(16, False), (16, True), (32, False)]
    """
    if regions.get(start) == size:
        return [(size, True)]
    if not any(start <= it < start + size for it in regions):
        return [(size, False)]
    half = size // 2
    return halves(start, half, regions) + halves(start + half, half, regions)
