"""Walks over free runs against lists of bools."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import free_map as slow
from tests.structures.states import free_lists, lengths
from workbench.structures.bitmaps import largest_run, packed, run_start, smallest_run


@given(free_lists)
def test_run_start(free):
    words = packed(np.array(free))
    for start, end in slow.runs(free):
        assert {run_start(words, at) for at in range(start, end)} == {start}


@given(free_lists, lengths, st.booleans())
def test_smallest_and_largest_run(free, length, latest):
    words = packed(np.array(free))
    enough = [(end - start, start) for start, end in slow.runs(free) if end - start >= length]
    smallest = [start for size, start in enough if size == min(enough)[0]]
    largest = [start for size, start in enough if size == max(enough)[0]]
    which = -1 if latest else 0
    assert smallest_run(words, length, latest) == (smallest[which] if enough else -1)
    assert largest_run(words, length, latest) == (largest[which] if enough else -1)
