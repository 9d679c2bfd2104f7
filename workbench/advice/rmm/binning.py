"""RMM's bins: blocks of one size each, with an upstream for what is larger.

Sizes are powers of two. Each bin begins with 128 blocks and gets 128 more whenever none is free; none goes back. The
upstream is the driver or a pool.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.advice.rmm.pool import StreamPool
from workbench.advice.rmm.resource import Upstream

BLOCKS = 128
"""Blocks that a bin gets at a time."""


class Bins(NamedTuple):
    """The exponents of the smallest and the largest bin."""

    least: int
    most: int

    def of(self, size: int) -> int:
        """Return the exponent of the bin that serves a size; one above the last = the upstream does.

        >>> Bins(18, 22).of(256), Bins(18, 22).of((1 << 18) + 256), Bins(18, 22).of(5 << 20)
        (18, 19, 23)
        """
        return min(max((size - 1).bit_length(), self.least), self.most + 1)


class Binning:
    """The binning resource of one card.

    Parameters
    ----------
    bins : Bins
    pool : int, optional
        What the pool upstream starts with; None = the driver is upstream.

    References
    ----------
    RMM, binning_memory_resource and fixed_size_memory_resource.

    Examples
    --------
    >>> binning = Binning(Bins(8, 9))
    >>> binning.calls == [128 << 8, 128 << 9], binning.allocate(0, 4096), binning.calls[2:]
    (True, 98304, [4096])
    """

    def __init__(self, bins: Bins, pool: int | None = None) -> None:
        self.calls: Upstream = []
        self._bins = bins
        self._pool = None if pool is None else StreamPool(pool, self.calls)
        self._free: dict[int, list[int]] = {}
        self._next = 0
        for exponent in range(bins.least, bins.most + 1):
            self._free[exponent] = self._blocks(exponent, 0)

    def allocate(self, stream: int, size: int) -> int:
        """Return the address of so many bytes for work on a stream."""
        exponent = self._bins.of(size)
        if exponent > self._bins.most:
            return self._upstream(size, stream)
        free = self._free[exponent]
        if not free:
            free.extend(self._blocks(exponent, stream))
        return free.pop()

    def free(self, stream: int, address: int, size: int) -> None:
        """Take back what was given."""
        exponent = self._bins.of(size)
        if exponent <= self._bins.most:
            self._free[exponent].append(address)
        elif self._pool is None:
            self.calls.append(-size)
        else:
            self._pool.free(stream, address, size)

    def _blocks(self, exponent: int, stream: int) -> list[int]:
        """Take a bin's next blocks from the upstream."""
        start = self._upstream(BLOCKS << exponent, stream)
        return list(range(start, start + (BLOCKS << exponent), 1 << exponent))

    def _upstream(self, size: int, stream: int) -> int:
        if self._pool is not None:
            return self._pool.allocate(stream, size)
        self.calls.append(size)
        self._next += size
        return self._next - size
