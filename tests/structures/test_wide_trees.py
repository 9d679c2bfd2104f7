"""Search trees with wide nodes against a sorted list: entries, shape, room."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.structures.wide_trees import (
    ADDRESSES,
    BEHIND,
    COUNT,
    HEAD,
    INNER,
    LEAST,
    MOST,
    NUMBERS,
    SPARE,
    WORDS,
    empty,
    first_at_least,
    first_node,
    largest_size,
    put,
    take_out,
    words_needed,
)

TREES = 2
SIZES = 6
PHASES = st.lists(
    st.tuples(st.integers(0, TREES - 1), st.integers(-160, 160), st.sampled_from(["up", "down", "any", "spread"])),
    min_size=1,
    max_size=6,
)
"""Of which tree, how many entries come (or go, if negative), and in which order."""


def in_order(entries, how, chance):
    """Entries from the lowest on, from the highest on, in any order, or every third and then the others."""
    entries = sorted(entries)
    if how == "any":
        chance.shuffle(entries)
    if how == "spread":
        entries = entries[::3] + entries[1::3] + entries[2::3]
    return entries[::-1] if how == "down" else entries


def told(trees, root):
    """The leaves of a tree from left to right, each a list of entries, and how deep each lies; checks every node."""
    nodes, leaves = [(int(trees[root]), 0, (0, -1))] if trees[root] >= 0 else [], []
    seen = 0
    while nodes:
        node, depth, least = nodes.pop(0)
        count, seen = int(trees[node + COUNT]), seen + 1
        its = [tuple(map(int, trees[[k, k + ADDRESSES, k + NUMBERS]])) for k in range(node, node + count)]
        assert 1 <= count <= MOST
        assert count >= LEAST or depth == 0
        assert [it[:2] for it in its] == sorted({it[:2] for it in its})
        assert its[0][:2] >= least
        if trees[node + BEHIND] == INNER:
            assert count >= 2
            nodes += [(below, depth + 1, (size, address)) for size, address, below in its]
        else:
            leaves.append((node, depth, its))
    return leaves, seen


def spare_nodes(trees):
    node, count = int(trees[SPARE]), 0
    while node >= 0:
        node, count = int(trees[node + BEHIND]), count + 1
    return count


@settings(max_examples=40, deadline=None)
@given(PHASES, st.randoms(use_true_random=False))
def test_holds_what_a_sorted_list_holds(phases, chance):
    held, most, serial = [[], []], 0, 0
    coming = []
    for tree, many, how in phases:
        if many >= 0:
            coming.append(
                in_order([(chance.randrange(SIZES) + 1, 7 * serial + k, k) for k in range(many)], how, chance)
            )
            serial += many
            held[tree] += coming[-1]
        else:
            coming.append(in_order(held[tree], how, chance)[:-many])
            held[tree] = [it for it in held[tree] if it not in set(coming[-1])]
        most = max(most, sum(map(len, held)))
    trees = empty(np.zeros(words_needed(TREES, most), np.int64), TREES)
    held = [set(), set()]
    for (tree, many, _), entries in zip(phases, coming):
        for size, address, number in entries:
            if many >= 0:
                held[tree].add((size, address, number))
                put(trees, HEAD + tree, size, address, number)
            else:
                held[tree].remove((size, address, number))
                assert take_out(trees, HEAD + tree, size, address) == (not held[tree])
        agree(trees, held)


def agree(trees, held):
    """Every tree holds the entries of its set, searches find them, and no node is lost."""
    used = spare_nodes(trees)
    for tree, entries in enumerate(held):
        leaves, seen = told(trees, HEAD + tree)
        used += seen
        assert [it for _, _, its in leaves for it in its] == sorted(entries)
        assert len({depth for _, depth, _ in leaves}) <= 1
        assert [int(trees[node + BEHIND]) for node, _, _ in leaves] == [node for node, _, _ in leaves[1:]] + [
            -1
        ] * bool(leaves)
        for size in range(1, SIZES + 2):
            first = min((it for it in entries if it[0] >= size), default=(0, 0, -1))
            assert first_at_least(trees, HEAD + tree, size) == first[2]
        assert not entries or largest_size(trees, HEAD + tree) == max(entries)[0]
    assert first_node(TREES) + used * WORDS == trees[1] <= trees.size
