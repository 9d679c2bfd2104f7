"""Free maps as people write them, and what is refused (issue: bad input)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.policies.placement import FirstFit, NearestBoundary
from workbench.policies.placement.free_map import as_bits, as_text, as_words


@given(st.lists(st.booleans(), min_size=2, max_size=300))
def test_text_array_and_list_are_the_same(bits):
    text = "".join("01"[bit] for bit in bits)
    for given_bits in (text, np.array(bits), bits, [int(bit) for bit in bits]):
        words, segments = as_words(given_bits, "free1", 1)
        assert as_text(words, segments) == text
        assert FirstFit().start_map(given_bits, 1) == text
    inverted, _ = as_words(text, "free0", 1)
    assert as_text(inverted, len(bits)) == "".join("10"[bit] for bit in bits)


def test_passes_over_underscores_and_blanks():
    assert as_bits("01_1 0").tolist() == [False, True, True, False]


@pytest.mark.parametrize("wrong", ["012", "free", "01\n", "1,0", [0, 2], [0.5, 1.0], [[1, 0], [0, 1]], [None, True], 7])
def test_refuses_what_is_no_free_map(wrong):
    with pytest.raises(InputError, match="a free map must be a string of 0 and 1"):
        FirstFit().place(wrong, 1)


@pytest.mark.parametrize("wrong", ["", "1", "1" * 4097, [True], np.ones(5000, bool)])
def test_refuses_what_has_too_few_or_too_many_segments(wrong):
    with pytest.raises(InputError, match="a free map must have 2 to 4096 segments"):
        NearestBoundary().place(wrong, 1)


@pytest.mark.parametrize(
    ("wrong", "cure"),
    [(0, " Nearest: 1."), (-3, " Nearest: 1."), (5, " Nearest: 4."), (1.5, ""), ("2", ""), (True, "")],
)
def test_refuses_lengths_that_nothing_serves(wrong, cure):
    for ask in (FirstFit().place, NearestBoundary().start_map):
        with pytest.raises(InputError) as refused:
            ask("1111", wrong)
        assert str(refused.value) == f"length must be a whole number from 1 to 4. Got {wrong!r}.{cure}"
