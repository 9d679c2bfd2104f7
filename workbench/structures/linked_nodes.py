"""Nodes in doubly linked lists, and nodes by key, inside one array of whole numbers: each step takes constant time.

A node is a row of five numbers. Lists are circles through a head, which is a node too: behind it comes the oldest node
of its list, before it the newest. A node with a key hangs in a chain from the key's place in a hash table, which has
at least two places a key. All indices count from the row of node 0, so equal lists lie anywhere in equal words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import kernel
from workbench.structures.key_index import home

OLDER, NEWER, LIST, KEY, CHAIN = range(5)
"""Of a node: its neighbors, the head of its list, its key, the next node of its key's place. -1 = none."""
LENGTH = KEY
"""Of a head: how many nodes its list has."""
NODE = 5
"""Numbers of a node."""
ABSENT: Any = np.int64(-1)


class Nodes(NamedTuple):
    """Nodes and their hash table, somewhere in an array."""

    memory: np.ndarray
    """int64."""
    first: int
    """Index of the row of node 0."""
    places: int
    """Index of the first place of the hash table."""
    mask: int
    """The places, a power of two, less one."""


def places_for(keys: int) -> int:
    """Return the number of places of the hash table of so many keys.

    >>> places_for(0), places_for(1), places_for(3), places_for(4)
    (1, 2, 8, 8)
    """
    return 1 << (2 * keys - 1).bit_length() if keys else 1


def new_nodes(loose: int, listed: int, heads: int) -> np.ndarray:
    """Return the rows of nodes in no list, of nodes in the list of the last head, and of heads: int64[nodes * NODE]."""
    rows = np.full((loose + listed + heads, NODE), ABSENT)
    at, last = np.arange(loose + listed, len(rows)), len(rows) - 1
    rows[at, OLDER], rows[at, NEWER], rows[at, LIST], rows[at, LENGTH] = at, at, at, 0
    if listed:
        circle = np.r_[np.arange(loose, loose + listed), last]
        rows[circle, NEWER], rows[circle, OLDER] = np.roll(circle, -1), np.roll(circle, 1)
        rows[circle, LIST], rows[last, LENGTH] = last, listed
    return rows.reshape(-1)


@kernel
def row_of(nodes: Nodes, node: int) -> int:
    """Return the index at which the row of a node begins."""
    return nodes.first + node * NODE


@kernel
def oldest(nodes: Nodes, head: int) -> int:
    """Return the oldest node of a list, its head where the list is empty."""
    return int(nodes.memory[nodes.first + head * NODE + NEWER])


@kernel
def newer(nodes: Nodes, node: int) -> int:
    """Return the next newer node of a list, its head behind the newest."""
    return int(nodes.memory[nodes.first + node * NODE + NEWER])


@kernel
def length(nodes: Nodes, head: int) -> int:
    """Return the number of nodes of a list."""
    return int(nodes.memory[nodes.first + head * NODE + LENGTH])


@kernel
def list_of(nodes: Nodes, node: int) -> int:
    """Return the head of the list that a node is in, -1 where it is in none."""
    return int(nodes.memory[nodes.first + node * NODE + LIST])


@kernel
def link(nodes: Nodes, node: int, behind: int) -> None:
    """Put a node that is in no circle behind another."""
    memory, row, before = nodes.memory, row_of(nodes, node), row_of(nodes, behind)
    after = memory[before + NEWER]
    memory[row + OLDER], memory[row + NEWER] = behind, after
    memory[before + NEWER] = node
    memory[nodes.first + after * NODE + OLDER] = node


@kernel
def unlink(nodes: Nodes, node: int) -> None:
    """Take a node out of its circle."""
    memory, row = nodes.memory, row_of(nodes, node)
    before, after = memory[row + OLDER], memory[row + NEWER]
    memory[nodes.first + before * NODE + NEWER] = after
    memory[nodes.first + after * NODE + OLDER] = before


@kernel
def append(nodes: Nodes, head: int, node: int) -> None:
    """Put a node that is in no list behind the newest of a list."""
    memory, row = nodes.memory, row_of(nodes, head)
    link(nodes, node, memory[row + OLDER])
    memory[row_of(nodes, node) + LIST] = head
    memory[row + LENGTH] += 1


@kernel
def move(nodes: Nodes, head: int, node: int) -> None:
    """Make a node of any list the newest of a list."""
    if list_of(nodes, node) != head:
        take_out(nodes, node)
        append(nodes, head, node)
    elif newer(nodes, node) != head:
        unlink(nodes, node)
        link(nodes, node, nodes.memory[row_of(nodes, head) + OLDER])


@kernel
def take_out(nodes: Nodes, node: int) -> None:
    """Take a node out of its list."""
    memory, row = nodes.memory, row_of(nodes, node)
    unlink(nodes, node)
    memory[nodes.first + memory[row + LIST] * NODE + LENGTH] -= 1
    memory[row + LIST] = ABSENT


@kernel
def find_key(nodes: Nodes, key: int) -> int:
    """Return the node with a key, or -1."""
    node = nodes.memory[nodes.places + home(key, nodes.mask)]
    while node != ABSENT and nodes.memory[row_of(nodes, node) + KEY] != key:
        node = nodes.memory[row_of(nodes, node) + CHAIN]
    return int(node)


@kernel
def give_key(nodes: Nodes, node: int, key: int) -> None:
    """Give a node without a key one that no node has."""
    memory, row, place = nodes.memory, row_of(nodes, node), nodes.places + home(key, nodes.mask)
    memory[row + KEY], memory[row + CHAIN] = key, memory[place]
    memory[place] = node


@kernel
def take_key(nodes: Nodes, node: int) -> None:
    """Take the key of a node away."""
    memory, row = nodes.memory, row_of(nodes, node)
    at = nodes.places + home(memory[row + KEY], nodes.mask)
    while memory[at] != node:
        at = row_of(nodes, memory[at]) + CHAIN
    memory[at] = memory[row + CHAIN]
