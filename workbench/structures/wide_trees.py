"""Search trees with wide nodes: entries of (size, address, number) in order, many trees in one array.

A B+-tree: the entries lie in leaves, up to 15 side by side, and each leaf leads to the one behind it. A node above has
an entry for each node below it: a size and address that nothing below precedes, and where that node is. So a search
reads a few neighboring cache lines at each of few levels, where a binary tree would read one line at each of many.

Nodes are filled up or split on the way down, before a change reaches them: nothing is written on the way back. None but
a root ever holds fewer than `LEAST` entries.

References
----------
D. Comer, "The Ubiquitous B-Tree", ACM Computing Surveys 11(2), 1979.
L. J. Guibas, R. Sedgewick, "A Dichromatic Framework for Balanced Trees", FOCS 1978: changes on the way down.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel, noinline

NONE, INNER = -1, -2
PLACES = 16
"""Numbers of a node side by side: sizes, then addresses, then numbers; each last one is not an entry's."""
MOST, LEAST, JOINED = PLACES - 1, PLACES // 4, 3 * PLACES // 4
"""Entries of a node at most, of one that is no root at least, and of two at most that are made one."""
ADDRESSES, NUMBERS, COUNT, BEHIND, WORDS = PLACES, 2 * PLACES, 2 * PLACES - 1, 3 * PLACES - 1, 3 * PLACES
"""Where they begin; where a node has the number of its entries, and the leaf behind it (`INNER` = it is no leaf)."""
ENDLESS = (1 << 63) - 1
"""The size of what is no entry: no search stops before it."""
SPARE, FRESH, HEAD = 0, 1, 8
"""Where the array has a node to be used again (it leads to the next), the first that was never used, and the roots."""


def words_needed(trees: int, entries: int) -> int:
    """Return the length of the array for so many trees with so many entries in all.

    A tree of one leaf is one node. Of any other each node holds at least `LEAST` things, the root two: at most a third
    as many nodes as entries, and one.
    """
    return first_node(trees) + (entries // (LEAST - 1) + min(trees, entries) + 1) * WORDS


def first_node(trees: int) -> int:
    """Return the start of the nodes, behind the roots, at the beginning of a cache line."""
    return HEAD + -(-trees // 8) * 8


def empty(array: np.ndarray, trees: int) -> np.ndarray:
    """Make an array of zeros one of so many trees without an entry."""
    array[HEAD : first_node(trees)] = NONE
    array[SPARE], array[FRESH] = NONE, first_node(trees)
    return array


@kernel
def _first_from(trees: np.ndarray, node: int, size: int, address: int) -> int:
    """Return the place in a node of the first entry that a size and address do not follow, `count` = there is none."""
    place = node
    while trees[place] < size or (trees[place] == size and trees[place + ADDRESSES] < address):
        place += 1
    return place - node


@kernel
def _new_node(trees: np.ndarray, behind: int) -> int:
    node = trees[SPARE]
    if node == NONE:
        node = trees[FRESH]
        trees[FRESH] += WORDS
    else:
        trees[SPARE] = trees[node + BEHIND]
    _set_count(trees, node, 0)
    trees[node + BEHIND] = behind
    return int(node)


@kernel
def _give_node_back(trees: np.ndarray, node: int) -> None:
    trees[node + BEHIND] = trees[SPARE]
    trees[SPARE] = node


@kernel
def _set_count(trees: np.ndarray, node: int, count: int) -> None:
    """Say how many entries a node has, and let searches end behind them."""
    trees[node + COUNT] = count
    trees[node + count] = ENDLESS


@kernel
def _copy(trees: np.ndarray, source: int, target: int) -> None:
    """Copy one entry."""
    trees[target] = trees[source]
    trees[target + ADDRESSES] = trees[source + ADDRESSES]
    trees[target + NUMBERS] = trees[source + NUMBERS]


@kernel
def _put(trees: np.ndarray, node: int, place: int, size: int, address: int, number: int) -> None:
    """Write an entry at a place of a node that is not full, what is there and behind moves up."""
    for here in range(node + trees[node + COUNT], node + place, -1):
        _copy(trees, here - 1, here)
    here = node + place
    trees[here], trees[here + ADDRESSES], trees[here + NUMBERS] = size, address, number
    _set_count(trees, node, trees[node + COUNT] + 1)


@kernel
def _drop(trees: np.ndarray, node: int, place: int, many: int) -> None:
    """Take entries out of a node from a place on, what is behind moves down."""
    left = trees[node + COUNT] - many
    for here in range(node + place, node + left):
        _copy(trees, here + many, here)
    _set_count(trees, node, left)


@noinline
def _split(trees: np.ndarray, above: int, place: int) -> None:
    """Part the full node at a place of the node above, which is not full, in two."""
    node, half = trees[above + NUMBERS + place], MOST // 2
    behind = trees[node + BEHIND]
    new = _new_node(trees, behind)
    for k in range(half, MOST):
        _copy(trees, node + k, new + k - half)
    _set_count(trees, new, MOST - half)
    _set_count(trees, node, half)
    if behind != INNER:
        trees[node + BEHIND] = new
    _put(trees, above, place + 1, trees[new], trees[new + ADDRESSES], new)


@noinline
def _fill_up(trees: np.ndarray, above: int, place: int) -> None:
    """Let the node at a place share with its neighbor below the same node: evenly, or one takes all."""
    # The last node has a neighbor only on its left.
    place = min(place, trees[above + COUNT] - 2)
    low, high = trees[above + NUMBERS + place], trees[above + NUMBERS + place + 1]
    has, other = trees[low + COUNT], trees[high + COUNT]
    if has + other <= JOINED:
        for k in range(other):
            _copy(trees, high + k, low + has + k)
        _set_count(trees, low, has + other)
        trees[low + BEHIND] = trees[high + BEHIND]
        _drop(trees, above, place + 1, 1)
        _give_node_back(trees, high)
        return
    half = (has + other) // 2
    if has < half:
        for k in range(half - has):
            _copy(trees, high + k, low + has + k)
        _set_count(trees, low, half)
        _drop(trees, high, 0, half - has)
    else:
        for k in range(other - 1, -1, -1):
            _copy(trees, high + k, high + k + has - half)
        for k in range(has - half):
            _copy(trees, low + half + k, high + k)
        _set_count(trees, high, other + has - half)
        _set_count(trees, low, half)
    trees[above + place + 1], trees[above + ADDRESSES + place + 1] = trees[high], trees[high + ADDRESSES]


@kernel
def put(trees: np.ndarray, root: int, size: int, address: int, number: int) -> None:
    """Enter what the tree does not hold; `root` is where the array has its root."""
    node = trees[root]
    if node == NONE:
        trees[root] = node = _new_node(trees, NONE)
    elif trees[node + COUNT] == MOST:
        trees[root] = above = _new_node(trees, INNER)
        _put(trees, above, 0, trees[node], trees[node + ADDRESSES], node)
        _split(trees, above, 0)
        node = above
    while trees[node + BEHIND] == INNER:
        behind = _first_from(trees, node, size, address + 1)
        # The new entry precedes all below the node: the first entry, a lower bound, is lowered to it.
        if behind == 0:
            trees[node], trees[node + ADDRESSES], behind = size, address, 1
        if trees[trees[node + NUMBERS + behind - 1] + COUNT] == MOST:
            _split(trees, node, behind - 1)
            behind = _first_from(trees, node, size, address + 1)
        node = trees[node + NUMBERS + behind - 1]
    _put(trees, node, _first_from(trees, node, size, address), size, address, number)


@kernel
def take_out(trees: np.ndarray, root: int, size: int, address: int) -> bool:
    """Take out what the tree holds; whether that was the last."""
    node = trees[root]
    while trees[node + BEHIND] == INNER:
        # `address + 1`: of the entries above, the last one that does not follow the sought one leads to it.
        place = _first_from(trees, node, size, address + 1) - 1
        if trees[trees[node + NUMBERS + place] + COUNT] <= LEAST:
            _fill_up(trees, node, place)
            place = _first_from(trees, node, size, address + 1) - 1
        below = trees[node + NUMBERS + place]
        # Only a root is left with one entry, when its two nodes were joined: the tree loses a level.
        if trees[node + COUNT] == 1:
            trees[root] = below
            _give_node_back(trees, node)
        node = below
    _drop(trees, node, _first_from(trees, node, size, address), 1)
    if trees[node + COUNT] > 0:
        return False
    trees[root] = NONE
    _give_node_back(trees, node)
    return True


@kernel
def first_at_least(trees: np.ndarray, root: int, size: int) -> int:
    """Return the number of the first entry of at least a size, -1 = there is none."""
    return first_from(trees, root, size, NONE)


@kernel
def first_from(trees: np.ndarray, root: int, size: int, address: int) -> int:
    """Return the number of the first entry from a size and address on, -1 = there is none."""
    node = trees[root]
    if node == NONE:
        return NONE
    while trees[node + BEHIND] == INNER:
        node = trees[node + NUMBERS + max(_first_from(trees, node, size, address) - 1, 0)]
    place = _first_from(trees, node, size, address)
    # The entries above are lower bounds: the sought one may be the first of the next leaf.
    if trees[node + place] == ENDLESS:
        node, place = trees[node + BEHIND], 0
    return NONE if node == NONE else int(trees[node + NUMBERS + place])


@kernel
def largest_size(trees: np.ndarray, root: int) -> int:
    """Return the size of the last entry of a tree that holds one."""
    node = trees[root]
    while trees[node + BEHIND] == INNER:
        node = trees[node + NUMBERS + trees[node + COUNT] - 1]
    return int(trees[node + trees[node + COUNT] - 1])


@kernel
def levels(trees: np.ndarray, root: int) -> int:
    """Return the number of nodes that a search passes, 0 = there is no tree: one more for each fourfold of its entries
    at most."""
    node, passed = trees[root], 0
    while node > NONE:
        passed += 1
        node = trees[node + NUMBERS] if trees[node + BEHIND] == INNER else NONE
    return passed
