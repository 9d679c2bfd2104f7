"""Prefetching changes nothing, wherever it is told to look."""

from __future__ import annotations

import numpy as np

from workbench.compiled import by_reference, kernel, prefetch
from workbench.structures.key_index import KeyIndex, new_key_index


@kernel
def _look_ahead(index: KeyIndex, at: int) -> int:
    prefetch(index.keys, at)
    lent = by_reference(index)
    prefetch(lent.values, at)
    return int(lent.keys[0])


def test_an_element_before_within_and_behind_an_array() -> None:
    index = new_key_index(np.array([3]))
    before = [column.copy() for column in index]
    assert [_look_ahead(index, at) for at in (-(1 << 60), -1, 0, 7, 1 << 60)] == [-1] * 5
    assert all(np.array_equal(one, other) for one, other in zip(index, before, strict=True))
