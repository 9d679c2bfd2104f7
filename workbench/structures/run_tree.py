"""A binary tree over the words of a large free map that finds a free run of a given length without a scan.

Each node says of the segments below it how many are free from the lower end on, how many up to the upper end, and how
long the longest free run is. A search goes down one path, a change goes up one: some eighteen steps for the 16.7
million granules of a heap of 256 MB, where a scan reads 262,144 words.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import NO_BITS, allocating, kernel, leading_zeros, left, right, routine, trailing_zeros
from workbench.structures.bitmaps import NOWHERE, WORD, starts_inside

LOW, HIGH, LONGEST, FIELDS = 0, 1, 2, 3
"""What a node says: free segments from its lower end on, up to its upper end, and in its longest run."""


@allocating
def new_run_tree(free: np.ndarray) -> np.ndarray:
    """Make the tree over a free map: int32[2 leaves x 3]; node 1 is the root, leaf k is word k."""
    leaves = 1
    while leaves < free.size:
        leaves *= 2
    tree = np.zeros(2 * leaves * FIELDS, np.int32)
    for word in range(free.size):
        _set_leaf(tree, leaves + word, free[word])
    size, first = WORD, leaves // 2
    while first >= 1:
        for node in range(first, 2 * first):
            _join(tree, node, size)
        size, first = 2 * size, first // 2
    return tree


@kernel
def longest_in(bits: np.uint64) -> int:
    """Return the length of the longest run of ones in a word."""
    longest = 0
    while bits != NO_BITS:
        bits = right(bits, trailing_zeros(bits))
        run = trailing_zeros(~bits)
        if run > longest:
            longest = run
        if run == WORD:
            return WORD
        bits = right(bits, run)
    return longest


@kernel
def _set_leaf(tree: np.ndarray, node: int, bits: np.uint64) -> None:
    at = node * FIELDS
    tree[at + LOW] = trailing_zeros(~bits)
    tree[at + HIGH] = leading_zeros(~bits)
    tree[at + LONGEST] = longest_in(bits)


@kernel
def _join(tree: np.ndarray, node: int, size: int) -> bool:
    """Renew a node whose children have so many segments each; False where nothing changed."""
    at, lower, upper = node * FIELDS, 2 * node * FIELDS, (2 * node + 1) * FIELDS
    low, high = tree[lower + LOW], tree[upper + HIGH]
    across = tree[lower + HIGH] + tree[upper + LOW]
    longest = max(max(tree[lower + LONGEST], tree[upper + LONGEST]), across)
    if low == size:
        low += tree[upper + LOW]
    if high == size:
        high += tree[lower + HIGH]
    if tree[at + LOW] == low and tree[at + HIGH] == high and tree[at + LONGEST] == longest:
        return False
    tree[at + LOW], tree[at + HIGH], tree[at + LONGEST] = low, high, longest
    return True


@routine
def renew(tree: np.ndarray, free: np.ndarray, start: int, length: int) -> None:
    """Say what has become of the segments [start, start + length) in the free map."""
    leaves = tree.size // (2 * FIELDS)
    first, last = leaves + (start >> 6), leaves + ((start + length - 1) >> 6)
    for node in range(first, last + 1):
        _set_leaf(tree, node, free[node - leaves])
    size = WORD
    while first < last:
        first, last = first >> 1, last >> 1
        for node in range(first, last + 1):
            _join(tree, node, size)
        size *= 2
    _climb(tree, first, size)


@kernel
def _climb(tree: np.ndarray, node: int, size: int) -> None:
    """Renew everything above a node of so many segments, until nothing changes.

    What the node says is carried along: read from memory, where it was just written, it takes half as long again.
    """
    low, high, longest = tree[node * FIELDS + LOW], tree[node * FIELDS + HIGH], tree[node * FIELDS + LONGEST]
    while node > 1:
        beside = (node ^ 1) * FIELDS
        beside_low, beside_high = tree[beside + LOW], tree[beside + HIGH]
        longest = max(longest, tree[beside + LONGEST])
        if node & 1:
            longest = max(longest, beside_high + low)
            low = beside_low + low if beside_low == size else beside_low
            high = high + beside_high if high == size else high
        else:
            longest = max(longest, high + beside_low)
            high = beside_high + high if beside_high == size else beside_high
            low = low + beside_low if low == size else low
        node, size = node >> 1, 2 * size
        at = node * FIELDS
        if tree[at + LOW] == low and tree[at + HIGH] == high and tree[at + LONGEST] == longest:
            return
        tree[at + LOW], tree[at + HIGH], tree[at + LONGEST] = low, high, longest


@routine
def lowest_start(tree: np.ndarray, free: np.ndarray, length: int) -> int:
    """Return the lowest feasible start, or -1."""
    leaves = tree.size // (2 * FIELDS)
    if tree[FIELDS + LONGEST] < length:
        return NOWHERE
    return _lowest_below(tree, free, leaves, 1, 0, leaves * WORD, length)


@kernel
def _lowest_below(tree: np.ndarray, free: np.ndarray, leaves: int, node: int, at: int, size: int, length: int) -> int:
    """Return the lowest start below a node that begins at a segment and is known to hold a run that is long enough."""
    while node < leaves:
        size //= 2
        lower, upper = 2 * node * FIELDS, (2 * node + 1) * FIELDS
        node *= 2
        if tree[lower + LONGEST] >= length:
            continue
        if tree[lower + HIGH] + tree[upper + LOW] >= length:
            return at + size - tree[lower + HIGH]
        node, at = node + 1, at + size
    return at + trailing_zeros(starts_inside(free[node - leaves], length))


@routine
def lowest_start_from(tree: np.ndarray, free: np.ndarray, length: int, at: int) -> int:
    """Return the lowest feasible start that is not below `at`, or -1."""
    leaves = tree.size // (2 * FIELDS)
    word = at >> 6
    if word >= free.size:
        return NOWHERE
    bits = left(right(free[word], at & 63), at & 63)
    starts = starts_inside(bits, length)
    if starts != NO_BITS:
        return word * WORD + trailing_zeros(starts)
    carry, node, size, end = leading_zeros(~bits), leaves + word, WORD, (word + 1) * WORD
    while node > 1:
        # From a right child the sibling lies below `at`: only what is on the right is left to search.
        if node & 1 == 0:
            upper = (node + 1) * FIELDS
            if carry + tree[upper + LOW] >= length:
                return end - carry
            if tree[upper + LONGEST] >= length:
                return _lowest_below(tree, free, leaves, node + 1, end, size, length)
            carry = carry + size if tree[upper + LOW] == size else int(tree[upper + HIGH])
            end += size
        node, size = node >> 1, 2 * size
    return NOWHERE


@routine
def highest_start(tree: np.ndarray, free: np.ndarray, length: int) -> int:
    """Return the highest feasible start, or -1."""
    leaves = tree.size // (2 * FIELDS)
    if tree[FIELDS + LONGEST] < length:
        return NOWHERE
    node, at, size = 1, 0, leaves * WORD
    while node < leaves:
        size //= 2
        lower, upper = 2 * node * FIELDS, (2 * node + 1) * FIELDS
        if tree[upper + LONGEST] >= length:
            node, at = 2 * node + 1, at + size
        elif tree[lower + HIGH] + tree[upper + LOW] >= length:
            return at + size + tree[upper + LOW] - length
        else:
            node = 2 * node
    return at + WORD - 1 - leading_zeros(starts_inside(free[node - leaves], length))
