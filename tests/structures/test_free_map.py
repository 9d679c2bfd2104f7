"""The free map's kernels against lists of bools."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import free_map as slow
from tests.structures.states import free_lists
from workbench.structures.bitmaps import (
    all_free,
    count_free,
    count_runs,
    is_free,
    longest_run,
    mark_free,
    mark_taken,
    next_free,
    next_taken,
    packed,
    unpacked,
)


@given(st.integers(1, 4096))
def test_all_free_has_no_bit_beyond_the_end(segments):
    words = all_free(segments)
    assert len(words) == -(-segments // 64)
    assert sum(int(word) << (64 * k) for k, word in enumerate(words)) == 2**segments - 1


@given(free_lists)
def test_packed_and_back(free):
    words = packed(np.array(free))
    assert words.dtype == np.uint64
    assert sum(int(word) << (64 * k) for k, word in enumerate(words)) == sum(2**k for k, bit in enumerate(free) if bit)
    assert unpacked(words, len(free)).tolist() == free


@given(free_lists, st.data(), st.booleans())
def test_marks(free, data, taken):
    start = data.draw(st.integers(0, len(free) - 1))
    length = data.draw(st.integers(1, len(free) - start))
    words = packed(np.array(free))
    (mark_taken if taken else mark_free)(words, start, length)
    free[start : start + length] = [not taken] * length
    assert unpacked(words, len(free)).tolist() == free


@given(free_lists, st.data())
def test_is_free(free, data):
    words = packed(np.array(free))
    start = data.draw(st.integers(-200, len(free) + 200))
    length = data.draw(st.integers(1, len(free) + 200))
    inside = start >= 0 and start + length <= len(free)
    assert is_free(words, start, length) == (inside and False not in free[start : start + length])


@given(free_lists, st.data())
def test_next_free_and_next_taken(free, data):
    words, end = packed(np.array(free)), -(-len(free) // 64) * 64
    at = data.draw(st.integers(0, len(free) + 130))
    assert next_free(words, at) == next((k for k in range(at, len(free)) if free[k]), end)
    assert next_taken(words, at) == next((k for k in range(at, end) if k >= len(free) or not free[k]), end)


@given(free_lists)
def test_counts(free):
    words, runs = packed(np.array(free)), slow.runs(free)
    assert count_free(words) == sum(free)
    assert count_runs(words) == len(runs)
    assert longest_run(words) == max((end - start for start, end in runs), default=0)
