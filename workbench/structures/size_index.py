"""Blocks ordered by (size, address): what best fit searches, however many blocks there are.

Sizes fall into 32 classes a doubling, told apart by a bitmap; the blocks of a class form a zip tree, a
binary search tree whose shape follows from a hash of the addresses alone. A search looks at the request's own class and
else at the first block of the next class that holds one: the depth of a tree of a few blocks, whatever the total.

References
----------
R. E. Tarjan, C. C. Levy, S. Timmel, "Zip Trees", ACM Transactions on Algorithms 17(4), 2021.
M. Masmano et al., "TLSF: a New Dynamic Memory Allocator for Real-Time Systems", ECRTS 2004: the classes and the bitmap.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import (
    ALL_BITS,
    NO_BITS,
    ONE_BIT,
    allocating,
    kernel,
    leading_zeros,
    left,
    right,
    routine,
    trailing_zeros,
)

NONE, OUTSIDE = -1, -2
SIZE, ADDRESS, LOWER, HIGHER, ABOVE, BEFORE, AFTER, ORIGIN = range(8)
FIELDS = 8
"""Numbers of a block, side by side in one cache line: its size, its address, the subtrees of what comes before and
after it, the block above it in the tree (`NONE` = it is the root, `OUTSIDE` = it is in no pool). The last three are its
owner's: its neighbours in memory, and what it was cut from."""
STEPS = 5
WORDS = 25
CLASSES = 64 * WORDS
"""Classes of a pool, 32 to each doubling: enough for sizes below 2**53."""
MIXER = np.uint64(0x9E3779B1)
LOW_HALF = np.uint64(0xFFFF_FFFF)


class SizeIndex(NamedTuple):
    """The arrays of several pools of blocks; a block is a number below the capacity and in one pool at most."""

    roots: np.ndarray
    """int64[pools * 1600]: the root of each class's tree, -1 = none."""
    filled: np.ndarray
    """uint64[pools * 25]: which classes hold a block."""
    nodes: np.ndarray
    """int64[capacity * 8]: what is known of each block."""


@allocating
def new_size_index(pools: int, capacity: int) -> SizeIndex:
    """Empty pools for so many blocks."""
    nodes = np.zeros(capacity * FIELDS, np.int64)
    return SizeIndex(np.full(pools * CLASSES, NONE), np.zeros(pools * WORDS, np.uint64), nodes)


@kernel
def class_of(size: int) -> int:
    """The class of a size of at least 1: 32 to each doubling, from 32 on; below that each size is one."""
    exponent = 63 - leading_zeros(np.uint64(size))
    if exponent < STEPS:
        return int(size)
    return ((exponent - STEPS + 1) << STEPS) | ((size >> (exponent - STEPS)) & ((1 << STEPS) - 1))


@kernel
def _height(address: int) -> int:
    """The rank of a block in its tree: geometric, from a hash of its address (a product that no word overflows)."""
    word = np.uint64(address)
    return trailing_zeros(right(((word ^ right(word, 32)) & LOW_HALF) * MIXER, 24))


@kernel
def _before(nodes: Any, one: int, size: int, address: int) -> bool:
    """Whether a block comes before (size, address)."""
    its = nodes[one * FIELDS + SIZE]
    return bool(its < size or (its == size and nodes[one * FIELDS + ADDRESS] < address))


@routine
def insert(index: SizeIndex, pool: int, block: int) -> None:
    """Enter a block whose size and address are in its node."""
    nodes, at = index.nodes, block * FIELDS
    size, address = nodes[at + SIZE], nodes[at + ADDRESS]
    kind = class_of(size)
    tree, height = pool * CLASSES + kind, _height(address)
    word = pool * WORDS + (kind >> 6)
    index.filled[word] |= left(ONE_BIT, kind & 63)
    above, current = NONE, index.roots[tree]
    while current != NONE:
        theirs = _height(nodes[current * FIELDS + ADDRESS])
        if height > theirs or (height == theirs and not _before(nodes, current, size, address)):
            break
        above = current
        current = nodes[current * FIELDS + (HIGHER if _before(nodes, current, size, address) else LOWER)]
    nodes[at + ABOVE] = above
    if above == NONE:
        index.roots[tree] = block
    else:
        nodes[above * FIELDS + (HIGHER if _before(nodes, above, size, address) else LOWER)] = block
    _unzip(nodes, block, current, size, address)


@kernel
def _unzip(nodes: Any, block: int, current: int, size: int, address: int) -> None:
    """Part a subtree into what comes before the block and what comes after it, and hang both below it."""
    low, high = block * FIELDS + LOWER, block * FIELDS + HIGHER
    while current != NONE:
        if _before(nodes, current, size, address):
            _hang(nodes, low, current)
            low = current * FIELDS + HIGHER
            current = nodes[low]
        else:
            _hang(nodes, high, current)
            high = current * FIELDS + LOWER
            current = nodes[high]
    nodes[low] = NONE
    nodes[high] = NONE


@kernel
def _hang(nodes: Any, side: int, block: int) -> None:
    """Hang a block below another, on a side of it given by its place in the array."""
    nodes[side] = block
    nodes[block * FIELDS + ABOVE] = side // FIELDS


@routine
def remove(index: SizeIndex, pool: int, block: int) -> None:
    """Take out a block that is in the pool."""
    nodes, at = index.nodes, block * FIELDS
    above, joined = nodes[at + ABOVE], _zipped(nodes, nodes[at + LOWER], nodes[at + HIGHER])
    nodes[at + ABOVE] = OUTSIDE
    if joined != NONE:
        nodes[joined * FIELDS + ABOVE] = above
    if above != NONE:
        nodes[above * FIELDS + (LOWER if nodes[above * FIELDS + LOWER] == block else HIGHER)] = joined
        return
    kind = class_of(nodes[at + SIZE])
    index.roots[pool * CLASSES + kind] = joined
    if joined == NONE:
        word = pool * WORDS + (kind >> 6)
        index.filled[word] &= ~left(ONE_BIT, kind & 63)


@kernel
def _zipped(nodes: Any, low: int, high: int) -> int:
    """One tree of two, all of the first before all of the second; its root, and what is above it left to the caller."""
    if low == NONE or high == NONE:
        return int(high if low == NONE else low)
    root, hanging = NONE, NONE
    while low != NONE and high != NONE:
        low_first = _height(nodes[low * FIELDS + ADDRESS]) >= _height(nodes[high * FIELDS + ADDRESS])
        taken = low if low_first else high
        if hanging == NONE:
            root = taken
        else:
            _hang(nodes, hanging, taken)
        if low_first:
            hanging = low * FIELDS + HIGHER
            low = nodes[hanging]
        else:
            hanging = high * FIELDS + LOWER
            high = nodes[hanging]
    _hang(nodes, hanging, high if low == NONE else low)
    return int(root)


@routine
def smallest_at_least(roots: Any, filled: Any, nodes: Any, pool: int, size: int) -> int:
    """The smallest block of a pool of at least a size, the lowest address of those; -1 = there is none."""
    kind = class_of(size)
    found, current = NONE, roots[pool * CLASSES + kind]
    while current != NONE:
        if nodes[current * FIELDS + SIZE] >= size:
            found = current
            current = nodes[current * FIELDS + LOWER]
        else:
            current = nodes[current * FIELDS + HIGHER]
    if found != NONE:
        return int(found)
    following = _next_class(filled, pool, kind + 1)
    if following == NONE:
        return NONE
    current = roots[pool * CLASSES + following]
    while nodes[current * FIELDS + LOWER] != NONE:
        current = nodes[current * FIELDS + LOWER]
    return int(current)


@kernel
def _next_class(filled: Any, pool: int, kind: int) -> int:
    """The first class that holds a block, from this one on; -1 = there is none."""
    for word in range(kind >> 6, WORDS):
        bits = filled[pool * WORDS + word]
        if word == kind >> 6:
            bits &= left(ALL_BITS, kind & 63)
        if bits != NO_BITS:
            return (word << 6) + trailing_zeros(bits)
    return NONE


@routine
def largest(roots: Any, filled: Any, nodes: Any, pool: int) -> int:
    """The largest block of a pool, the lowest address of those; -1 = the pool is empty."""
    for word in range(WORDS - 1, -1, -1):
        bits = filled[pool * WORDS + word]
        if bits != NO_BITS:
            current = roots[pool * CLASSES + (word << 6) + 63 - leading_zeros(bits)]
            while nodes[current * FIELDS + HIGHER] != NONE:
                current = nodes[current * FIELDS + HIGHER]
            return smallest_at_least(roots, filled, nodes, pool, nodes[current * FIELDS + SIZE])
    return NONE
