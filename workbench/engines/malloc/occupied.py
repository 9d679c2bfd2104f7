"""A heap that is not empty at the start: runs of taken granules between free ones, at random."""

from __future__ import annotations

import numpy as np

from workbench.engines.malloc.options import MallocOptions
from workbench.structures.bitmaps import packed


def occupied(granules: int, options: MallocOptions, seed: int) -> np.ndarray:
    """Return a free map of which a share is taken: uint64[words].

    Taken runs are uniform from 1 to 2 m - 1 granules for a mean of m, free ones likewise with the mean that makes the
    share; the map begins with a free run.

    Parameters
    ----------
    granules : int
    options : MallocOptions
        `occupancy` and `occupied_run_bytes` over `granule_bytes`.
    seed : int
        Of a generator of its own.
    """
    share = options.occupancy
    taken = max(options.occupied_run_bytes / options.granule_bytes, 1.0)
    free = max(taken * (1 - share) / share, 1.0)
    pairs = int(2 * granules / (taken + free)) + 8
    draws = np.random.Generator(np.random.PCG64(seed)).random((pairs, 2))
    lengths = 1 + (draws * (2 * np.array([free, taken]) - 1)).astype(np.int64)
    lengths = lengths[np.cumsum(lengths.sum(axis=1)) <= 2 * granules + lengths.sum(axis=1)]
    bits = np.repeat(np.tile(np.array([True, False]), len(lengths)), lengths.ravel())[:granules]
    missing = np.ones(granules - len(bits), bool)
    return packed(np.concatenate([bits, missing]))
