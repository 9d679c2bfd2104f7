"""RMM's bins: blocks of one size each, with an upstream for what is larger.

Sizes are powers of two. Each bin begins with 128 blocks and gets 128 more whenever none is free; none goes back. The
upstream is the driver or a pool.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.advice.rmm.pool import NEWEST, PoolRules, StreamPool
from workbench.advice.rmm.resource import DEFAULT_STREAM, NO_ROOM, Direct, Driver, Resource

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
    driver : Driver, optional
        What all memory comes from.
    rules : PoolRules
        Those of the pool upstream.

    References
    ----------
    RMM, binning_memory_resource and fixed_size_memory_resource.

    Examples
    --------
    >>> binning = Binning(Bins(8, 9))
    >>> calls = binning.driver.calls
    >>> calls == [128 << 8, 128 << 9], binning.allocate(0, 4096), calls[2:]
    (True, 98816, [4096])
    """

    def __init__(
        self, bins: Bins, pool: int | None = None, driver: Driver | None = None, rules: PoolRules = NEWEST
    ) -> None:
        self.driver = driver or Driver()
        self._bins = bins
        self._upstream: Resource = Direct(self.driver) if pool is None else StreamPool(pool, self.driver, rules=rules)
        self._free = {exponent: self._blocks(exponent, DEFAULT_STREAM) for exponent in range(bins.least, bins.most + 1)}
        self.built = all(self._free.values())

    def allocate(self, stream: int, size: int) -> int:
        """Return the address of so many bytes for work on a stream; `NO_ROOM` = the upstream has none."""
        if not self.built:
            return NO_ROOM
        exponent = self._bins.of(size)
        if exponent > self._bins.most:
            return self._upstream.allocate(stream, size)
        free = self._free[exponent]
        if not free:
            free.extend(self._blocks(exponent, stream))
        return free.pop() if free else NO_ROOM

    def free(self, stream: int, address: int, size: int) -> None:
        """Take back what was given."""
        exponent = self._bins.of(size)
        if exponent <= self._bins.most:
            self._free[exponent].append(address)
        else:
            self._upstream.free(stream, address, size)

    def _blocks(self, exponent: int, stream: int) -> list[int]:
        """Take a bin's next blocks from the upstream; none = it has too little."""
        start = self._upstream.allocate(stream, BLOCKS << exponent)
        return [] if start == NO_ROOM else list(range(start, start + (BLOCKS << exponent), 1 << exponent))
