"""RMM's coalescing pool."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.pool.cache.question import Cache, CacheRules


class RmmPool(Cache):
    """One pool a card that starts with `initial` bytes and doubles when it lacks a block; best fit with coalescing.

    Requests are rounded up to 256 B. A tie is up to `cache_fit`: its own is best fit, the lowest address first.

    References
    ----------
    spec 5, section 7; RMM, mr/device/pool_memory_resource and mr/device/detail/coalescing_free_list. What differs is in
    DEVIATIONS.md.

    Examples
    --------
    >>> RmmPool(initial=1 << 30).segment_bytes(100), RmmPool().block_bytes(100)
    (1073741824, 256)
    """

    initial: int = lever(1 << 28, least=256, most=1 << 44, unit="bytes", description="what a card's pool starts with")

    def rules(self) -> CacheRules:
        return CacheRules(granule=256, grows=2, first_segment=self.initial)
