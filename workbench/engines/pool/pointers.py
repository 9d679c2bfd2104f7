"""What an application gets of a region: an identifier, or a pointer that its client maps (spec 5, R25-R27)."""

from __future__ import annotations

import numpy as np

from workbench.engines.pool.options import PoolOptions
from workbench.records.pool import RELEASED, STITCHED


def answered(options: PoolOptions, outcome: np.ndarray, done: np.ndarray) -> np.ndarray:
    """Return when each application has its answer: int64[requests], nanoseconds.

    With mapped pointers a client maps what it was granted, cached or not, and unmaps what it released. That takes its
    own time, after the service's: the service meanwhile serves others. A request that changes nothing maps nothing.

    Parameters
    ----------
    options : PoolOptions
        Of these `pointer_mode`, `map_ns` and `unmap_ns`.
    outcome : int8[requests]
        What came of each request.
    done : int64[requests]
        When the service was done with it.

    Examples
    --------
    >>> from workbench.engines.pool.options import PoolOptions
    >>> from workbench.records.pool import CACHED, REFUSED
    >>> mapped = PoolOptions(pointer_mode="mapped_pointer", map_ns=30, unmap_ns=20)
    >>> answered(mapped, np.array([CACHED, RELEASED, REFUSED]), np.array([100, 200, 300])).tolist()
    [130, 220, 300]
    """
    if options.pointer_mode == "identifier":
        return done
    mapping = np.where(outcome <= STITCHED, options.map_ns, np.where(outcome == RELEASED, options.unmap_ns, 0))
    return done + mapping.astype(np.int64)
