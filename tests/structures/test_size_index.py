"""The index of blocks by size against a sorted list."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.slow import examples
from workbench.structures.size_index import (
    CACHE_LINE,
    CLASSES,
    FIELDS,
    class_of,
    insert,
    largest,
    new_size_index,
    remove,
    smallest_at_least,
    with_room,
)
from workbench.structures.wide_trees import PLACES, first_node

SIZES = st.one_of(st.integers(1, 40), st.sampled_from([512, 513, 1 << 20, (1 << 20) + 1, 1 << 31, 1 << 50]))
STEPS = st.lists(st.tuples(st.integers(0, 1), SIZES, st.booleans()), min_size=1, max_size=60)


def first(held, size):
    """The block that a plain list in order gives."""
    return next((block for its, _, block in sorted(held) if its >= size), -1)


@examples(20, 300)
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
            for requested in {1, size, size + 1, max(size - 1, 1)}:
                result = smallest_at_least(index.roots, index.filled, index.nodes, k, requested)
                assert result == first(held[k], requested)
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


def test_a_larger_index_holds_the_same_blocks():
    small = new_size_index(2, 20)
    for block in range(20):
        small.nodes[block * FIELDS : block * FIELDS + 2] = 512, 100 - block
        insert(small, 1, block)
    index = with_room(small, 2, 400)
    for block in range(20, 400):
        index.nodes[block * FIELDS : block * FIELDS + 2] = 512, 100 + block
        insert(index, 1, block)
    for block in (*range(19, -1, -1), *range(20, 400)):
        assert smallest_at_least(index.roots, index.filled, index.nodes, 1, 512) == block
        remove(index, 1, block)
    assert smallest_at_least(small.roots, small.filled, small.nodes, 1, 512) == 19
    assert largest(index.roots, index.filled, index.nodes, 1) == -1


def test_what_is_read_together_lies_in_one_cache_line():
    for capacity in (1, 3, 1000):
        index = new_size_index(1, capacity)
        assert index.nodes.ctypes.data % CACHE_LINE == index.roots.ctypes.data % CACHE_LINE == 0
        assert first_node(CLASSES) * 8 % CACHE_LINE == PLACES * 8 % CACHE_LINE == FIELDS * 8 % CACHE_LINE == 0
