"""Binary buddies: powers of two, halved and joined again."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.pool.cache.question import BUDDIES, Cache, CacheRules


class BinaryBuddies(Cache):
    """Round every request up to a power of two, halve larger blocks, join two halves of one block when both are cached.

    Which block is halved, and ties, are up to `cache_fit`. What the driver gives is at least `segment`, so that there
    is something to halve.

    References
    ----------
    spec 5, section 7; Knuth, The Art of Computer Programming 1, section 2.5.

    Examples
    --------
    >>> BinaryBuddies().block_bytes(100), BinaryBuddies(segment=1 << 21).segment_bytes(100)
    (128, 2097152)
    """

    segment: int = lever(
        1 << 21,
        least=1,
        most=1 << 40,
        scale="power_of_two",
        unit="bytes",
        description="least that the driver is asked for",
    )

    def rules(self) -> CacheRules:
        return CacheRules(classes=1, first_segment=self.segment, halves=1, joins=BUDDIES)
