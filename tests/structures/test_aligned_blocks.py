"""Buddy blocks read from the free map against a list of all aligned blocks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import free_map as slow
from tests.structures.states import free_lists
from workbench.structures.bitmaps import order_of, packed, smallest_block


@given(free_lists, st.integers(0, 12))
def test_smallest_block(free, order):
    enough = [block for block in slow.buddy_blocks(free) if block[0] >= 2**order]
    assert smallest_block(packed(np.array(free)), order) == (min(enough)[1] if enough else -1)


@given(st.integers(1, 4096))
def test_order(length):
    assert 2 ** order_of(length) >= length > 2 ** order_of(length) / 2
