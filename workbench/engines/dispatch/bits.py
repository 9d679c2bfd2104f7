"""Sets of modules as bits, and how many they hold."""

from __future__ import annotations

import numpy as np

from workbench.compiled import NO_BITS, ONE_BIT, inlined, kernel, left, right, trailing_zeros


@inlined
def holds(row: np.ndarray, module: int) -> bool:
    """Return whether the module is in the set."""
    return right(row[module >> 6], module & 63) & ONE_BIT != NO_BITS


@kernel
def change(row: np.ndarray, module: int, member: bool) -> int:
    """Put the module in, or take it out; return by how much the set has grown."""
    bit = left(ONE_BIT, module & 63)
    was = row[module >> 6] & bit != NO_BITS
    if member:
        row[module >> 6] |= bit
    else:
        row[module >> 6] &= ~bit
    return int(member) - int(was)


@inlined
def members(row: np.ndarray, listed: np.ndarray) -> int:
    """Write the modules of the set down, increasing; return how many they are."""
    count = 0
    for word in range(row.size):
        bits = row[word]
        while bits != NO_BITS:
            listed[count] = word * 64 + trailing_zeros(bits)
            count += 1
            bits &= bits - ONE_BIT
    return count
