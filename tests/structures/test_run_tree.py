"""The tree over a free map against lists of bools, before and after changes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import free_map as slow
from tests.slow import examples
from tests.structures.states import free_lists, lengths
from workbench.structures.bitmaps import mark_free, mark_taken, packed
from workbench.structures.run_tree import (
    highest_start,
    longest_in,
    lowest_start,
    lowest_start_from,
    new_run_tree,
    renew,
)


def check(tree, words, free, length, at):
    starts = slow.starts(free, length)
    assert lowest_start(tree, words, length) == (starts[0] if starts else -1)
    assert highest_start(tree, words, length) == (starts[-1] if starts else -1)
    assert lowest_start_from(tree, words, length, at) == next((s for s in starts if s >= at), -1)


@examples(20, 300)
@given(free_lists, lengths, st.data())
def test_searches_before_and_after_changes(free, length, data):
    words = packed(np.array(free))
    tree = new_run_tree(words)
    check(tree, words, free, length, data.draw(st.integers(0, len(free))))
    for _ in range(3):
        first = data.draw(st.integers(0, len(free) - 1))
        last = data.draw(st.integers(first, len(free) - 1))
        becomes = data.draw(st.booleans())
        (mark_free if becomes else mark_taken)(words, first, last - first + 1)
        free = [*free[:first], *[becomes] * (last - first + 1), *free[last + 1 :]]
        renew(tree, words, first, last - first + 1)
        assert np.array_equal(tree, new_run_tree(words))
        check(tree, words, free, length, data.draw(st.integers(0, len(free))))


@given(st.integers(0, 2**64 - 1))
def test_the_longest_run_of_a_word(word):
    assert longest_in(np.uint64(word)) == max(map(len, f"{word:b}".split("0")))
