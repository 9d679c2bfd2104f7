"""Blocks ordered by (size, address): what best fit searches, however many blocks there are.

Sizes fall into 32 classes a doubling, told apart by a bitmap; the blocks of a class form a search tree with wide nodes.
A search looks at the request's own class and else at the first block of the next class that holds one: the depth of a
tree of a few blocks, whatever the total. Sizes lie side by side in the trees, so a block is only looked at once found.

References
----------
M. Masmano et al., "TLSF: a New Dynamic Memory Allocator for Real-Time Systems", ECRTS 2004: the classes and the bitmap.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import (
    ALL_BITS,
    NO_BITS,
    ONE_BIT,
    kernel,
    leading_zeros,
    left,
    noinline,
    routine,
    trailing_zeros,
)
from workbench.structures.wide_trees import (
    HEAD,
    empty,
    first_at_least,
    first_from,
    largest_size,
    put,
    take_out,
    words_needed,
)

NONE, OUTSIDE = -1, -2
LONE = -2
"""A class with one block has no tree: `LONE - block` stands for its root."""
SIZE, ADDRESS, ABOVE, BEFORE, AFTER, ORIGIN = range(6)
FIELDS = 8
"""Numbers of a block, side by side in one cache line, of which six are used: its size, its address, where the root of
the tree above it is (`OUTSIDE` = it is in no pool). The last three are its owner's: its neighbors in memory, and what
it was cut from."""
STEPS = 5
WORDS = 25
CLASSES = 64 * WORDS
"""Classes of a pool, 32 to each doubling: enough for sizes below 2**53."""
CACHE_LINE = 64


class SizeIndex(NamedTuple):
    """The arrays of several pools of blocks; a block is a number below the capacity and in one pool at most."""

    roots: np.ndarray
    """int64[]: the trees, first the root of each class of each pool, or its only block."""
    filled: np.ndarray
    """uint64[pools * 25]: which classes hold a block."""
    nodes: np.ndarray
    """int64[capacity * 8]: what is known of each block."""


def new_size_index(pools: int, capacity: int) -> SizeIndex:
    """Make empty pools for so many blocks."""
    trees = pools * CLASSES
    roots = empty(_zeros(words_needed(trees, capacity)), trees)
    return SizeIndex(roots, np.zeros(pools * WORDS, np.uint64), _zeros(capacity * FIELDS))


def with_room(index: SizeIndex, pools: int, capacity: int) -> SizeIndex:
    """Return the same pools in new arrays, for so many blocks."""
    larger = new_size_index(pools, capacity)
    for old, new in zip(index, larger, strict=True):
        new[: old.size] = old
    return larger


def _zeros(count: int) -> np.ndarray:
    """Return so many zeros from the beginning of a cache line on: a block or a node's column never lies in two.

    NumPy asks for huge pages where it may, and memory that is never used costs nothing.
    """
    words = CACHE_LINE // 8
    array = np.zeros(count + words, np.int64)
    start = -(array.ctypes.data // 8) % words
    return array[start : start + count]


@kernel
def class_of(size: int) -> int:
    """Return the class of a size of at least 1: 32 to each doubling, from 32 on; below that each size is one."""
    exponent = 63 - leading_zeros(np.uint64(size))
    if exponent < STEPS:
        return int(size)
    return ((exponent - STEPS + 1) << STEPS) | ((size >> (exponent - STEPS)) & ((1 << STEPS) - 1))


@kernel
def _root_of(pool: int, kind: int) -> int:
    """Return the place of the root of a class of a pool."""
    return HEAD + pool * CLASSES + kind


@routine
def insert(index: SizeIndex, pool: int, block: int) -> None:
    """Enter a block whose size and address are in its node."""
    nodes, at = index.nodes, block * FIELDS
    kind = class_of(nodes[at + SIZE])
    place = _root_of(pool, kind)
    root = index.roots[place]
    nodes[at + ABOVE] = place
    if root == NONE:
        index.roots[place] = LONE - block
        index.filled[pool * WORDS + (kind >> 6)] |= left(ONE_BIT, kind & 63)
        return
    if root < NONE:
        index.roots[place] = NONE
        _put(index, place, LONE - root)
    _put(index, place, block)


@noinline
def _put(index: SizeIndex, place: int, block: int) -> None:
    """Enter a block into the tree whose root is there."""
    put(index.roots, place, index.nodes[block * FIELDS + SIZE], index.nodes[block * FIELDS + ADDRESS], block)


@routine
def remove(index: SizeIndex, pool: int, block: int) -> None:
    """Take out a block that is in the pool."""
    nodes, at = index.nodes, block * FIELDS
    place = nodes[at + ABOVE]
    nodes[at + ABOVE] = OUTSIDE
    if index.roots[place] < NONE:
        index.roots[place] = NONE
    elif not _take_out(index, place, block):
        return
    kind = place - _root_of(pool, 0)
    index.filled[pool * WORDS + (kind >> 6)] &= ~left(ONE_BIT, kind & 63)


@noinline
def _take_out(index: SizeIndex, place: int, block: int) -> bool:
    """Take a block out of the tree whose root is there; whether it was the last."""
    return take_out(index.roots, place, index.nodes[block * FIELDS + SIZE], index.nodes[block * FIELDS + ADDRESS])


@routine
def smallest_at_least(roots: Any, filled: Any, nodes: Any, pool: int, size: int) -> int:
    """Return the smallest block of a pool of at least a size, the lowest address of those; -1 = there is none."""
    kind = class_of(size)
    entry = _first_of_class(roots, nodes, _root_of(pool, kind), size)
    if entry != NONE:
        return int(entry)
    following = _next_class(filled, pool, kind + 1)
    # Every block of a higher class is large enough; its first one is the smallest.
    return NONE if following == NONE else _first_of_class(roots, nodes, _root_of(pool, following), size)


@routine
def smallest_from(roots: Any, filled: Any, nodes: Any, pool: int, size: int, address: int) -> int:
    """Return the first block of a pool from a size and address on, in the order of both; -1 = there is none."""
    kind = class_of(size)
    entry = _first_of_class_from(roots, nodes, _root_of(pool, kind), size, address)
    if entry != NONE:
        return int(entry)
    following = _next_class(filled, pool, kind + 1)
    return NONE if following == NONE else _first_of_class(roots, nodes, _root_of(pool, following), size)


@kernel
def _first_of_class_from(roots: Any, nodes: Any, place: int, size: int, address: int) -> int:
    """Return the first block from a size and address on of the class whose root is there, -1 = there is none."""
    root = roots[place]
    if root < NONE:
        at = (LONE - root) * FIELDS
        follows = nodes[at + SIZE] > size or (nodes[at + SIZE] == size and nodes[at + ADDRESS] >= address)
        return int(LONE - root) if follows else NONE
    return first_from(roots, place, size, address)


@kernel
def _first_of_class(roots: Any, nodes: Any, place: int, size: int) -> int:
    """Return the first block of at least a size of the class whose root is there, -1 = there is none."""
    root = roots[place]
    if root < NONE:
        return int(LONE - root) if nodes[(LONE - root) * FIELDS + SIZE] >= size else NONE
    return first_at_least(roots, place, size)


@kernel
def _next_class(filled: Any, pool: int, kind: int) -> int:
    """Return the first class that holds a block, from this one on; -1 = there is none."""
    for word in range(kind >> 6, WORDS):
        bits = filled[pool * WORDS + word]
        if word == kind >> 6:
            bits &= left(ALL_BITS, kind & 63)
        if bits != NO_BITS:
            return (word << 6) + trailing_zeros(bits)
    return NONE


@routine
def largest(roots: Any, filled: Any, nodes: Any, pool: int) -> int:
    """Return the largest block of a pool, the lowest address of those; -1 = the pool is empty."""
    for word in range(WORDS - 1, -1, -1):
        bits = filled[pool * WORDS + word]
        if bits != NO_BITS:
            place = _root_of(pool, (word << 6) + 63 - leading_zeros(bits))
            root = roots[place]
            if root < NONE:
                return int(LONE - root)
            return int(first_at_least(roots, place, largest_size(roots, place)))
    return NONE
