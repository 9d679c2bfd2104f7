"""What programs ask of PyTorch's allocator: request by request, or as recorded histories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from workbench.workloads.allocator_log import AllocatorLog

ALLOC, FREE, DEFER, COMPLETE, EMPTY_CACHE = range(5)
"""The values of `TensorRequests.kind`: a block; a block back; a block back that a stream still uses, and the end of
that use; all cached memory back to the driver."""


class TensorRequests(NamedTuple):
    """One row a request, in the order in which the program made them; none where histories tell them."""

    kind: np.ndarray
    """int64[requests], `ALLOC` ... `EMPTY_CACHE`."""
    handle: np.ndarray
    """int64[requests], the number of the block, from 0."""
    size: np.ndarray
    """int64[requests], bytes asked for, 0 of other requests."""
    stream: np.ndarray
    """int64[requests], the number of the stream, from 0."""
    logs: tuple[AllocatorLog, ...] = ()
    """Recorded histories, one a card."""
    path: str = ""
    """The file that holds them."""


def program_of(rows: Iterable[tuple[int, int, int]]) -> TensorRequests:
    """Return the requests of a program with one stream: kind, number of the block, bytes.

    >>> program_of([(ALLOC, 0, 512), (FREE, 0, 0)]).size.tolist()
    [512, 0]
    """
    kind, handle, size = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return TensorRequests(kind, handle, size, np.zeros_like(kind))


def recorded_program(logs: tuple[AllocatorLog, ...], path: str) -> TensorRequests:
    """Return what recorded histories hold."""
    nothing = np.zeros(0, np.int64)
    return TensorRequests(nothing, nothing, nothing, nothing, logs, path)
