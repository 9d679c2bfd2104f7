"""The resources of RMM that are tried on a log, each as one writes it and as `studies.rmm` has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from workbench.studies.rmm import Arena, Binning, Bins, Resource

STEP = 2 << 20
"""In which steps the least pool is looked for: what the driver deals in."""
_GROWING = (1 << 20, 1 << 26, 1 << 30)
_BINS = (Bins(8, 16), Bins(8, 20), Bins(12, 18), Bins(16, 20), Bins(18, 22))
"""The last is that of RMM's manual."""


def pools(live: list[int], least: int) -> Iterator[tuple[str, int]]:
    """Yield RMM's pool from several sizes on, as one writes them."""
    sizes = [least, *(size for size in _GROWING if size < least), power_above(max(live, default=1))]
    for size in dict.fromkeys(sizes):
        yield f"rmm.reinitialize(pool_allocator=True, initial_pool_size={size})", size


def arenas(least: int) -> Iterator[tuple[str, Callable[[], Resource]]]:
    """Yield RMM's arena of the smallest size."""
    yield f"rmm.mr.ArenaMemoryResource(rmm.mr.CudaMemoryResource(), arena_size={least})", partial(Arena, least)


def binnings(least_pool: int) -> Iterator[tuple[str, Callable[[], Resource]]]:
    """Yield RMM's bins over the driver, and over a pool as large as what serves everything by itself."""
    driver = "rmm.mr.CudaMemoryResource()"
    pool = f"rmm.mr.PoolMemoryResource({driver}, initial_pool_size={least_pool})"
    for bins in _BINS:
        for upstream, initial in ((driver, None), (pool, least_pool)):
            setting = f"rmm.mr.BinningMemoryResource({upstream}, {bins.least}, {bins.most})"
            yield setting, partial(Binning, bins, initial)


def power_above(size: int) -> int:
    """Return the least power of two that holds a size, at least a step.

    >>> power_above(5 << 20) >> 20
    8
    """
    return max(1 << (size - 1).bit_length(), STEP)
