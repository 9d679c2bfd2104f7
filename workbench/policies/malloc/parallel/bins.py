"""Hashed bins behind a lock each: what CUDA's own `malloc` looks like from outside (spec 2, R32)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import kernel, leading_zeros
from workbench.levers import lever
from workbench.policies.malloc.parallel.access import (
    CYCLES,
    FIRST,
    GRANT,
    GRANULES,
    HOLD,
    NULL,
    STAGE,
    START,
    WAIT,
    WORD,
    AccessView,
    ParallelHeap,
    ReturnView,
    from_pool,
    new_memory,
)

HASH = 2_654_435_761
SIZES = 40
"""Size classes, powers of two of granules."""
GIVEN = -2
"""The link of a granule at which a block begins that a bin gave out."""
AWAY, AT_BIN = 100, 101
BINS, OWN_CYCLES, BIN_CYCLES = range(3)
"""Places of the levers, which other heaps put behind their own."""


class HashedBins(ParallelHeap):
    """A time of its own, then a lock of a bin; blocks of powers of two, of equal ones the last freed goes first.

    The lanes of a warp hash to one bin, so they are served one after the other. Of two that wait for a bin, the one
    that came first goes first. Large requests of other heaps go here, as theirs go to CUDA's `malloc`.

    References
    ----------
    spec 2, section 7 and R32: CUDA's `malloc` is closed, and this is what its published times look like.

    Examples
    --------
    >>> HashedBins(bins=8).plain()["bins"]
    8
    """

    bins: int = lever(16, least=1, most=4096, scale="log", unit="bins", description="locks of which a group has one")
    own_cycles: int = lever(
        26_000, least=0, most=10_000_000, unit="cycles", description="time of a request outside of the lock"
    )
    bin_cycles: int = lever(
        2600, least=1, most=10_000_000, scale="log", unit="cycles", description="how long a request holds its bin"
    )

    @staticmethod
    def answer(see: AccessView) -> int:
        return ask_bins(see, FIRST, 0)

    @staticmethod
    def returned(see: ReturnView) -> None:
        to_bins(see.memory, FIRST, int(see.levers[BINS]), see.start, see.granules)

    def start_memory(self, granules: int, granule_bytes: int, units: int) -> np.ndarray:
        """Return the memory: the words of the bins, the last freed block of each size, a link a granule."""
        return new_memory(granules, granule_bytes, units, words_of_bins(self.bins, granules))


def words_of_bins(bins: int, granules: int) -> int:
    """Return the number of words that bins need for a heap of so many granules."""
    return bins + SIZES + granules


@kernel
def ask_bins(see: Any, at: int, levers: int) -> int:
    """Do what a request in need of a bin does next; `at` = the first of the bins' words, `levers` = their place."""
    memory, bins = see.memory, int(see.levers[levers + BINS])
    if see.own[STAGE] < AWAY:
        see.own[STAGE], see.out[CYCLES] = AWAY, int(see.levers[levers + OWN_CYCLES])
        return WAIT
    if see.own[STAGE] == AWAY:
        see.own[STAGE] = AT_BIN
        see.out[WORD] = at + (((see.group * HASH) & 0xFFFF_FFFF) >> 16) % bins
        see.out[CYCLES] = int(see.levers[levers + BIN_CYCLES])
        return HOLD
    which = 64 - leading_zeros(np.uint64(see.granules - 1))
    size = np.int64(1) << which
    heads, links = at + bins, at + bins + SIZES
    # Heads and links are stored plus 1, so that zeroed memory has empty lists.
    start = memory[heads + which] - 1
    if start >= 0:
        memory[heads + which] = memory[links + start]
    else:
        start = from_pool(memory, int(size))
        if start < 0:
            return NULL
    memory[links + start] = GIVEN
    see.out[START], see.out[GRANULES] = start, size
    return GRANT


@kernel
def is_of_a_bin(memory: np.ndarray, at: int, bins: int, start: int) -> bool:
    """Return whether a bin gave out the block that begins at a granule."""
    return bool(memory[at + bins + SIZES + start] == GIVEN)


@kernel
def to_bins(memory: np.ndarray, at: int, bins: int, start: int, granules: int) -> None:
    """Give a block back to the ones of its size."""
    which = 63 - leading_zeros(np.uint64(granules))
    heads, links = at + bins, at + bins + SIZES
    memory[links + start] = memory[heads + which]
    memory[heads + which] = start + 1
