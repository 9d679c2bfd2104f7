"""How sizes are rounded, and how large the segment is that a size needs."""

from __future__ import annotations

import numpy as np

from workbench.compiled import by_reference, inlined, kernel, leading_zeros, routine
from workbench.engines.torch_allocator.state import (
    MIN_BLOCK,
    MIN_LARGE,
    ROUND_LARGE,
    SMALL_BUFFER,
    SMALL_SIZE,
    Rules,
)

FIRST_INTERVAL, LAST_INTERVAL = 20, 15
"""The power of two at which the first interval of `roundup_power2_divisions` begins; the number of the last one."""


@kernel
def block_size(rules: Rules, size: int) -> int:
    """Return the bytes of a block for a request (round_size)."""
    if size < MIN_BLOCK:
        return MIN_BLOCK
    power = 63 - leading_zeros(np.uint64(size))
    divisions = rules.divisions[min(max(power - FIRST_INTERVAL, 0), LAST_INTERVAL)]
    if divisions > 1 and size > MIN_BLOCK * divisions:
        return int(divided(size, power, divisions))
    return -(-size // MIN_BLOCK) * MIN_BLOCK


@inlined
def divided(size: int, power: int, divisions: int) -> int:
    """Return the next of so many even steps between two powers of two (roundup_power2_next_division)."""
    if size == 1 << power:
        return size
    step = (1 << power) >> (63 - leading_zeros(np.uint64(divisions)))
    return 2 << power if step == 0 else -(-size // step) * step


@kernel
def segment_size(rules: Rules, size: int) -> int:
    """Return the bytes that the driver is asked for when no block serves (get_allocation_size)."""
    if size <= SMALL_SIZE:
        return SMALL_BUFFER
    if size < MIN_LARGE:
        return int(rules.large_segment)
    return -(-size // ROUND_LARGE) * ROUND_LARGE


@kernel
def page_size(rules: Rules, pool: int) -> int:
    """Return the bytes of a page of an expandable segment of a pool."""
    return SMALL_BUFFER if pool & 1 else int(rules.large_segment)


def rounded_sizes(rules: Rules, sizes: np.ndarray) -> np.ndarray:
    """Return what requests are rounded up to: int64[requests]."""
    result = np.zeros(len(sizes), np.int64)
    _round_all(rules, np.ascontiguousarray(sizes, np.int64), result)
    return result


@routine
def _round_all(rules: Rules, sizes: np.ndarray, values: np.ndarray) -> None:
    levers = by_reference(rules)
    for row in range(sizes.size):
        values[row] = block_size(levers, sizes[row])
