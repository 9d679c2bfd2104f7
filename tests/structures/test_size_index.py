"""The index of blocks by size against a sorted list."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.structures.size_index import (
    ABOVE,
    ADDRESS,
    CLASSES,
    FIELDS,
    OUTSIDE,
    SIZE,
    class_of,
    insert,
    largest,
    new_size_index,
    remove,
    smallest_at_least,
)

SIZES = st.one_of(st.integers(1, 40), st.sampled_from([512, 513, 1 << 20, (1 << 20) + 1, 1 << 31, 1 << 50]))
STEPS = st.lists(st.tuples(st.integers(0, 1), SIZES, st.booleans()), min_size=1, max_size=60)


def first(held, size):
    """The block that a plain list in order gives."""
    return next((block for its, _, block in sorted(held) if its >= size), -1)


@settings(max_examples=60)
@given(STEPS, st.randoms(use_true_random=False))
def test_answers_as_a_sorted_list(steps, chance):
    index = new_size_index(2, len(steps))
    held, addresses = [[], []], chance.sample(range(10 * len(steps)), len(steps))
    for block, (pool, size, leaves) in enumerate(steps):
        index.nodes[block * FIELDS : block * FIELDS + 2] = size, addresses[block]
        insert(index, pool, block)
        held[pool].append((size, addresses[block], block))
        if leaves:
            gone = held[pool].pop(chance.randrange(len(held[pool])))
            remove(index, pool, gone[2])
        for k in (0, 1):
            for asked in {1, size, size + 1, max(size - 1, 1)}:
                found = smallest_at_least(index.roots, index.filled, index.nodes, k, asked)
                assert found == first(held[k], asked)
            most = max((its for its, _, _ in held[k]), default=1)
            assert largest(index.roots, index.filled, index.nodes, k) == first(held[k], most)


def test_classes_are_in_the_order_of_sizes():
    sizes = np.unique(np.concatenate([np.arange(1, 200), (2.0 ** np.arange(1, 53, 0.005)).astype(np.int64)]))
    classes = [class_of(int(size)) for size in sizes]
    assert classes == sorted(classes)
    assert classes[-1] < CLASSES
    assert max(np.diff(classes)) == 1


def test_what_is_empty_has_no_block():
    index = new_size_index(1, 1)
    assert largest(index.roots, index.filled, index.nodes, 0) == -1
    assert smallest_at_least(index.roots, index.filled, index.nodes, 0, 1) == -1


@pytest.mark.parametrize("apart", [512, 1 << 21])
def test_trees_are_no_deeper_than_a_logarithm_even_if_all_blocks_are_alike(apart):
    for count in (100, 3000):
        index = new_size_index(1, count)
        nodes = index.nodes.reshape(count, FIELDS)
        nodes[:, SIZE], nodes[:, ADDRESS] = 512, np.arange(count) * apart
        for block in range(count):
            insert(index, 0, block)
        depth, above = np.zeros(count, int), nodes[:, ABOVE].copy()
        while (above >= 0).any():
            depth += above >= 0
            above = np.where(above >= 0, nodes[above, ABOVE], above)
        assert depth.mean() < 2 * np.log2(count)
        assert depth.max() < 5 * np.log2(count)


def test_the_shape_of_a_tree_does_not_depend_on_what_was_removed():
    through, fresh = new_size_index(1, 200), new_size_index(1, 200)
    for index in (through, fresh):
        nodes = index.nodes.reshape(200, FIELDS)
        nodes[:, SIZE], nodes[:, ADDRESS], nodes[:, ABOVE] = 512, np.arange(200) * 512, OUTSIDE
    for block in range(200):
        insert(through, 0, block)
    for block in range(0, 200, 2):
        remove(through, 0, block)
    for block in range(199, 0, -2):
        insert(fresh, 0, block)
    assert through.roots.tolist() == fresh.roots.tolist()
    kept = np.arange(200) % 2 == 1
    assert (through.nodes.reshape(200, FIELDS)[kept] == fresh.nodes.reshape(200, FIELDS)[kept]).all()
