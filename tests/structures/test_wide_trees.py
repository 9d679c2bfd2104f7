"""Search trees with wide nodes against a sorted list: entries, shape, room."""

import itertools
import random

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tests.slow import examples
from workbench.structures.wide_trees import (
    ADDRESSES,
    BEHIND,
    COUNT,
    ENDLESS,
    FRESH,
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
    levels,
    put,
    take_out,
    words_needed,
)

TREES = 2
SIZES = 6
PHASES = st.lists(
    st.tuples(st.integers(0, TREES - 1), st.integers(-120, 120), st.sampled_from(["up", "down", "any", "spread"])),
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
    """The leaves of a tree from left to right: where, on which level, what; and how many nodes it has, each checked."""
    trees, passed, leaves = trees.tolist(), 0, []
    nodes = [(trees[root], 1, (0, -1), (ENDLESS, 0))] if trees[root] >= 0 else []
    while passed < len(nodes):
        node, level, low, high = nodes[passed]
        places = range(node, node + trees[node + COUNT])
        keys = [(trees[place], trees[place + ADDRESSES]) for place in places]
        numbers = [trees[place + NUMBERS] for place in places]
        inner = trees[node + BEHIND] == INNER
        assert (1 + inner if level == 1 else LEAST) <= len(keys) <= MOST
        assert keys == sorted(set(keys))
        assert low <= keys[0] <= keys[-1] < high
        if inner:
            nodes += zip(numbers, [level + 1] * len(keys), keys, [*keys[1:], high], strict=True)
        else:
            leaves.append((node, level, [(*key, number) for key, number in zip(keys, numbers, strict=True)]))
        passed += 1
    return leaves, len(nodes)


def spare_nodes(trees):
    """How many nodes wait to be used again."""
    node, spare = trees[SPARE], 0
    while node >= 0:
        node, spare = trees[node + BEHIND], spare + 1
    return spare


@example([(0, 200, "any"), (1, 120, "any"), (0, -195, "down"), (1, -118, "spread")], random.Random(1))
@example([(0, 420, "up"), (0, -140, "spread"), (1, 140, "up")], random.Random(1))
@examples(8, 125)
@given(PHASES, st.randoms(use_true_random=False))
def test_holds_what_a_sorted_list_holds(phases, chance):
    trees = empty(np.zeros(words_needed(TREES, most_at_a_time(phases)), np.int64), TREES)
    held, addresses = [set(), set()], itertools.count()
    for tree, many, how in phases:
        coming = [(chance.randint(1, SIZES), next(addresses), chance.randint(0, 9)) for _ in range(many)]
        for size, address, number in in_order(coming, how, chance):
            put(trees, HEAD + tree, size, address, number)
            held[tree].add((size, address, number))
        for size, address, number in in_order(held[tree], how, chance)[: max(-many, 0)]:
            held[tree].remove((size, address, number))
            assert take_out(trees, HEAD + tree, size, address) == (not held[tree])
        agree(trees, held)


def most_at_a_time(phases):
    """The most entries that all trees hold together."""
    held, most = [0] * TREES, 0
    for tree, many, _ in phases:
        held[tree] = max(held[tree] + many, 0)
        most = max(most, sum(held))
    return most


def agree(trees, held):
    """Every tree holds the entries of its set in few nodes, searches find them, and no node is lost."""
    used = spare_nodes(trees)
    for root, entries in enumerate(held, HEAD):
        leaves, nodes = told(trees, root)
        used += nodes
        assert [it for _, _, its in leaves for it in its] == sorted(entries)
        assert [trees[leaf + BEHIND] for leaf, _, _ in leaves] == [*(leaf for leaf, _, _ in leaves[1:]), -1][
            : len(leaves)
        ]
        passed = levels(trees, root)
        assert {depth for _, depth, _ in leaves} == ({passed} if entries else set())
        assert passed <= 1 or len(entries) >= 2 * LEAST ** (passed - 1)
        for size in range(1, SIZES + 2):
            least = min((it for it in entries if it[0] >= size), default=(0, 0, -1))
            assert first_at_least(trees, root, size) == least[2]
        assert not entries or largest_size(trees, root) == max(entries)[0]
    assert first_node(TREES) + used * WORDS == trees[FRESH] <= trees.size
