"""Expandable segments: PyTorch's allocator over virtual memory."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.pool.cache.pytorch_caching import PytorchCaching
from workbench.policies.pool.cache.question import Cache, CacheRules


class ExpandableSegments(Cache):
    """One segment a pool that grows by pages where they are needed; free pages go back from any place in it.

    Requests are rounded up to 512 B; up to 1 MiB they come from the small pool, whose pages have 2 MiB. Every block is
    split if 512 B remain, and joined with what is free beside it. Where no block is large enough, pages are mapped in
    the lowest free addresses that have room, as a rule at the end. When the driver has too few, all pages that are
    wholly free go back, of both pools, before it is asked again. A tie is up to `cache_fit`: its own is best fit, the
    lowest address first.

    A call of the driver maps each page, one more sets access to what is mapped together; a call unmaps each page.

    References
    ----------
    spec 5, section 7; PyTorch, c10/cuda/CUDACachingAllocator.cpp (Note [Expandable Segments], ExpandableSegment,
    find_expandable_block, unmap_block; kSmallBuffer, kLargeBuffer, should_split). What differs is in DEVIATIONS.md.

    Examples
    --------
    >>> allocator = ExpandableSegments()
    >>> allocator.block_bytes(513), [allocator.segment_bytes(size) // (1 << 20) for size in (100, 3 << 20, 21 << 20)]
    (1024, [2, 20, 40])
    """

    large_page: int = lever(
        PytorchCaching.large_buffer,
        least=512,
        most=1 << 40,
        unit="bytes",
        description="a page of the pool of large requests",
    )

    def rules(self) -> CacheRules:
        return CacheRules(
            granule=PytorchCaching.min_block,
            small_most=PytorchCaching.small_size,
            small_segment=PytorchCaching.small_buffer,
            segment_granule=self.large_page,
            least_rest=PytorchCaching.min_block,
            small_least_rest=PytorchCaching.min_block,
            flushes=1,
            pages=1,
        )
