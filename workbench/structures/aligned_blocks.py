"""Aligned free blocks of 2**order segments: the state of a buddy allocator, read from the free map.

Buddies that are both free are always joined, so the free blocks of a buddy allocator are the largest aligned blocks
that are free: those whose buddy is not. Nothing has to be remembered beside the map. A block lies wholly within the
memory, so any number of segments will do: 1,824 is one block of 1,024 and blocks of 512, 256 and 32 behind it.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import NO_BITS, kernel, leading_zeros, left, right, trailing_zeros
from workbench.structures.free_map import NOWHERE, WORD, is_free

WORD_ORDER = 6
_ALIGNED = tuple(np.uint64(sum(1 << k for k in range(0, WORD, 1 << order))) for order in range(WORD_ORDER + 1))
"""For each order, the positions in a word where a block may begin."""


@kernel
def order_of(length: int) -> int:
    """Return the order of the smallest block that holds a length."""
    return WORD - leading_zeros(np.uint64(length - 1))


@kernel
def _pairs(blocks: np.uint64, order: int) -> np.uint64:
    """Return, of the free blocks of an order in a word, those that are the lower of two buddies that are both free."""
    return blocks & right(blocks, 1 << order) & _ALIGNED[order + 1]


@kernel
def _alone(bits: np.uint64, order: int) -> np.uint64:
    """Return the free blocks of an order below a word's whose buddy is not free."""
    blocks = bits
    for smaller in range(order):
        blocks = _pairs(blocks, smaller)
    joined = _pairs(blocks, order)
    return blocks & ~(joined | left(joined, 1 << order))


@kernel
def _lowest_alone(free: np.ndarray, order: int) -> int:
    if order < WORD_ORDER:
        for word in range(free.size):
            blocks = _alone(free[word], order)
            if blocks != NO_BITS:
                return word * WORD + trailing_zeros(blocks)
        return NOWHERE
    size = 1 << order
    for start in range(0, free.size * WORD, size):
        if is_free(free, start, size) and not is_free(free, start ^ size, size):
            return start
    return NOWHERE


@kernel
def smallest_block(free: np.ndarray, order: int) -> int:
    """Return the first segment of the lowest of the smallest free blocks of at least an order, or -1."""
    while 1 << order <= free.size * WORD:
        start = _lowest_alone(free, order)
        if start != NOWHERE:
            return start
        order += 1
    return NOWHERE
