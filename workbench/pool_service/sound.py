"""Can what a journal tells ever have been so? A damaged one is refused before anything is built of it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from workbench.engines.pool.state import POOLS
from workbench.pool_service.driver import Driver
from workbench.pool_service.protocol import region_id
from workbench.pool_service.records import Told

_MOST_CLIENT = 1 << 62
"""Numbers of clients go on from the highest, in words of 64 bits."""


def is_sound(record: Told, drivers: Sequence[Driver]) -> bool:
    """Return whether clients, driver allocations and regions fit these cards and one another."""
    return _clients_are(record, len(drivers)) and _segments_are(record, drivers) and _regions_are(record)


def _clients_are(record: Told, cards: int) -> bool:
    known = all(
        0 < one.number < _MOST_CLIENT and one.process > 0 and 0 <= one.card < cards for one in record.clients.values()
    )
    return known and all(holders.keys() <= record.clients.keys() for holders in record.holders.values())


def _segments_are(record: Told, drivers: Sequence[Driver]) -> bool:
    """Return whether each driver allocation is one that its card's driver gives, and all of them fit the card."""
    taken: Counter[int] = Counter()
    for (card, offset), (pool, size) in record.segments.items():
        if not (0 <= card < len(drivers) and 0 <= pool < POOLS and drivers[card].gives(offset, size)):
            return False
        taken[card] += size
    return all(size <= drivers[card].bytes for card, size in taken.items())


def _regions_are(record: Told) -> bool:
    """Return whether each region lies in one driver allocation, and no two have a byte in common."""
    segments = sorted((region_id(*place), size) for place, (_, size) in record.segments.items())
    free = 0
    for region, size in sorted(record.regions.items()):
        place = bisect_right(segments, region, key=lambda segment: segment[0]) - 1
        if place < 0 or size < 1 or region < free or region + size > sum(segments[place]):
            return False
        free = region + size
    return True
