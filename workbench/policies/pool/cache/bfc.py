"""BFC: TensorFlow's best fit with coalescing."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.pool.cache.question import Cache, CacheRules


class Bfc(Cache):
    """Regions that double in size; a block is split if the rest is no smaller than the request or has 128 MiB.

    Requests are rounded up to 256 B. What a region's remains are is joined with its neighbours at a release. A tie is
    up to `cache_fit`: its own is best fit within bins of powers of two, the lowest address first.

    References
    ----------
    spec 5, section 7; TensorFlow, tsl/framework/bfc_allocator (kMinAllocationSize, kMaxInternalFragmentation, the
    growth of curr_region_allocation_bytes_). What differs is in DEVIATIONS.md.

    Examples
    --------
    >>> Bfc().block_bytes(257), Bfc().segment_bytes(257)
    (512, 1048576)
    """

    first_region: int = lever(
        1 << 20,
        least=256,
        most=1 << 40,
        scale="power_of_two",
        unit="bytes",
        description="size of a card's first region",
    )

    def rules(self) -> CacheRules:
        return CacheRules(
            granule=256, relative_rest=1, large_rest=128 << 20, grows=1, first_segment=self.first_region, flushes=1
        )
