"""Caching allocators: split and coalesce, size classes, buddies; those of PyTorch, TensorFlow (BFC), RMM, GMLake.

`SplitAndCoalesce` is the source document's cache with the recommendations of the specification.
"""

from __future__ import annotations

from typing import ClassVar

from workbench.levers import lever
from workbench.policies.pool.cache import APART, BUDDIES, NEIGHBOURS, NEVER, Cache, CacheRules


class SplitAndCoalesce(Cache):
    """Cut a request off the lower end of a block, keep the rest cached, join cached neighbors at a release.

    The driver is asked for what is needed, no more. Which block is cut, and ties, are up to `cache_fit`.

    References
    ----------
    spec 5, R11-R13, R28, E3-E5, E25; source document ¶29-31.

    Examples
    --------
    >>> SplitAndCoalesce().block_bytes(100), SplitAndCoalesce(align=64).block_bytes(100)
    (100, 128)
    """

    split: bool = lever(True, description="whether a larger block is split (spec 5, R12)")
    min_remainder: int = lever(
        1, least=1, most=1 << 40, unit="bytes", description="a block is split if so much remains (spec 5, E25)"
    )
    align: int = lever(
        1, least=1, most=1 << 30, unit="bytes", description="requests are rounded up to a multiple of it"
    )
    coalesce: bool = lever(True, description="whether cached neighbors are joined (spec 5, E4); off = as written")
    flush_before_remote: bool = lever(
        False, description="whether the own card's cached blocks go back before another card is asked (spec 5, E2)"
    )

    def rules(self) -> CacheRules:
        rest = self.min_remainder if self.split else NEVER
        joins = NEIGHBOURS if self.coalesce else APART
        return CacheRules(
            granule=self.align,
            least_rest=rest,
            small_least_rest=rest,
            joins=joins,
            flushes=int(self.flush_before_remote),
        )


class NoCache(Cache):
    """Ask the driver at every allocation and give back at every release; there is no block to choose, so no tie.

    References
    ----------
    spec 5, section 7 (driver allocation per request), H5.3.

    Examples
    --------
    >>> NoCache().rules().keeps
    0
    """

    def rules(self) -> CacheRules:
        return CacheRules(least_rest=NEVER, small_least_rest=NEVER, keeps=0)


class SizeClasses(Cache):
    """Round every request up to a class; blocks are neither split nor joined. A tie is up to `cache_fit: exact_fit`.

    References
    ----------
    spec 5, section 7 (buddy, slab and size classes); H5.4.

    Examples
    --------
    >>> SizeClasses(classes=4).block_bytes(70), SizeClasses(classes=1).block_bytes(70)
    (80, 128)
    """

    classes: int = lever(
        4, least=1, most=64, scale="power_of_two", unit="classes", description="sizes to each doubling"
    )

    def rules(self) -> CacheRules:
        return CacheRules(classes=self.classes, least_rest=NEVER, small_least_rest=NEVER, joins=APART)


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


class ExpandableSegments(Cache):
    """One segment a pool that grows by pages where they are needed; free pages go back from any place in it.

    Requests are rounded up to 512 B; up to 1 MiB they come from the small pool, whose pages have 2 MiB. Every block is
    split if 512 B remain, and joined with its free neighbors. Where no block is large enough, pages are mapped in the
    lowest free addresses that have space, as a rule at the end. When the driver has too few, all pages that are wholly
    free go back, of both pools, before it is asked again. A tie is up to `cache_fit`: its own is best fit, the lowest
    address first.

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


class Bfc(Cache):
    """Regions that double in size; a block is split if the rest is no smaller than the request or has 128 MiB.

    Requests are rounded up to 256 B. What a region's remains are is joined with its neighbors at a release. A tie is up
    to `cache_fit`: its own is best fit within bins of powers of two, the lowest address first.

    References
    ----------
    spec 5, section 7; TensorFlow, tsl/framework/bfc_allocator (kMinAllocationSize, kMaxInternalFragmentation, the
    growth of `curr_region_allocation_bytes_`). What differs is in DEVIATIONS.md.

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


class Stitching(Cache):
    """As a caching allocator, but where no block is large enough several are mapped side by side, the largest first.

    Of equal blocks the lowest address goes first; the last of them is the smallest that completes the request, split if
    it is larger. Blocks below `least_piece` are not stitched. At a release each part is cached where it came from.

    Mapping costs calls of the driver: one for each chunk of each part, and one for each part that sets access; at the
    release again one for each chunk.

    References
    ----------
    spec 5, section 7; Guo et al., "GMLake", ASPLOS 2024. What differs is in DEVIATIONS.md.

    Examples
    --------
    >>> Stitching().block_bytes(100), Stitching().segment_bytes(3 << 20)
    (512, 4194304)
    """

    least_piece: int = lever(
        1 << 21,
        least=1,
        most=1 << 40,
        scale="power_of_two",
        unit="bytes",
        description="smallest block that is stitched",
    )

    chunk: int = lever(
        1 << 21,
        least=1,
        most=1 << 40,
        scale="power_of_two",
        unit="bytes",
        description="what one call of the driver maps",
    )

    def rules(self) -> CacheRules:
        return CacheRules(
            granule=512,
            small_most=1 << 20,
            small_segment=2 << 20,
            segment_granule=2 << 20,
            least_rest=2 << 20,
            small_least_rest=512,
            stitches=self.least_piece,
            chunk=self.chunk,
            flushes=1,
        )
