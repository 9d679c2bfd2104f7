"""Window searches against lists of bools."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import free_map as slow
from tests.structures.states import free_lists, lengths
from workbench.structures.bitmaps import count_starts, first_start, last_start, nth_start, packed, start_map, unpacked


@given(free_lists, lengths, st.integers(0, 500))
def test_searches(free, length, at):
    words, starts = packed(np.array(free)), slow.starts(free, length)
    assert first_start(words, length, 0) == (starts[0] if starts else -1)
    assert first_start(words, length, at) == next((s for s in starts if s >= at), -1)
    assert last_start(words, length) == (starts[-1] if starts else -1)
    assert count_starts(words, length) == len(starts)
    assert [nth_start(words, length, n) for n in range(len(starts))] == starts
    assert np.flatnonzero(unpacked(start_map(words, length), len(free))).tolist() == starts


@pytest.mark.parametrize("segments", [2, 3, 4, 8, 10])
def test_every_state(segments):
    for state in product((False, True), repeat=segments):
        words = packed(np.array(state))
        for length in range(1, segments + 1):
            starts = slow.starts(list(state), length)
            assert first_start(words, length, 0) == (starts[0] if starts else -1)
            assert last_start(words, length) == (starts[-1] if starts else -1)


@pytest.mark.parametrize("length", [1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200])
def test_one_window_at_every_position(length):
    """Where a window lies against the edges of the words must not matter."""
    for start in range(260 - length):
        words = packed(np.array([start <= k < start + length for k in range(260)]))
        assert first_start(words, length, 0) == last_start(words, length) == start
        assert first_start(words, length, start) == start
        assert first_start(words, length, start + 1) == -1
        assert first_start(words, length + 1, 0) == last_start(words, length + 1) == -1
