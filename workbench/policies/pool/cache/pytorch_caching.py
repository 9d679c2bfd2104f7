"""PyTorch's caching allocator, with its constants."""

from __future__ import annotations

from typing import ClassVar

from workbench.policies.pool.cache.question import Cache, CacheRules

MIB = 1 << 20


class PytorchCaching(Cache):
    """Two pools a card, segments of 2 MiB and 20 MiB, splitting, joining, and a flush before anything fails.

    Requests are rounded up to 512 B. Up to 1 MiB they come from the small pool, whose segments have 2 MiB; below 10 MiB
    from segments of 20 MiB; else from segments rounded up to 2 MiB. A small block is split if 512 B remain, a large one
    if more than 1 MiB does. A tie is up to `cache_fit`: its own is best fit, the lowest address first.

    References
    ----------
    spec 5, section 7; PyTorch, c10/cuda/CUDACachingAllocator (kMinBlockSize, kSmallSize, kSmallBuffer, kLargeBuffer,
    kMinLargeAlloc, kRoundLarge). What differs is in DEVIATIONS.md.

    Examples
    --------
    >>> allocator = PytorchCaching()
    >>> allocator.block_bytes(513), [allocator.segment_bytes(size) // (1 << 20) for size in (100, 3 << 20, 21 << 20)]
    (1024, [2, 20, 22])
    """

    min_block: ClassVar[int] = 512
    small_size: ClassVar[int] = 1 * MIB
    small_buffer: ClassVar[int] = 2 * MIB
    large_buffer: ClassVar[int] = 20 * MIB
    min_large_alloc: ClassVar[int] = 10 * MIB
    round_large: ClassVar[int] = 2 * MIB

    def rules(self) -> CacheRules:
        return CacheRules(
            granule=self.min_block,
            small_most=self.small_size,
            small_segment=self.small_buffer,
            middle_most=self.min_large_alloc,
            middle_segment=self.large_buffer,
            segment_granule=self.round_large,
            least_rest=self.small_size + 1,
            small_least_rest=self.min_block,
            flushes=1,
        )
