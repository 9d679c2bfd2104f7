"""Bit operations: what compiled code does, what plain Python does, and what whole numbers say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.compiled import ALL_BITS, NO_BITS, ONE_BIT, kernel, leading_zeros, left, ones, right, trailing_zeros

words = st.integers(0, 2**64 - 1) | st.integers(0, 63).map(lambda k: 1 << k) | st.sampled_from([0, 2**64 - 1])
amounts = st.integers(0, 63)


@kernel
def compiled_counts(word):
    return trailing_zeros(word), leading_zeros(word), ones(word)


@kernel
def compiled_shifts(word, amount):
    return left(word, amount), right(word, amount)


@given(words)
def test_counts(value):
    word = np.uint64(value)
    digits = f"{value:064b}"
    expected = (64 - len(digits.rstrip("0")), 64 - len(digits.lstrip("0")), digits.count("1"))
    assert (trailing_zeros(word), leading_zeros(word), ones(word)) == expected
    assert compiled_counts(word) == expected


@given(words, amounts)
def test_shifts(value, amount):
    word = np.uint64(value)
    expected = ((value << amount) % 2**64, value >> amount)
    assert (int(left(word, amount)), int(right(word, amount))) == expected
    assert tuple(map(int, compiled_shifts(word, amount))) == expected


def test_constants():
    assert (int(NO_BITS), int(ONE_BIT), int(ALL_BITS)) == (0, 1, 2**64 - 1)
    assert {bits.dtype for bits in (NO_BITS, ONE_BIT, ALL_BITS)} == {np.dtype(np.uint64)}


@pytest.mark.parametrize("function", [left, right])
def test_results_are_words(function):
    assert function(ALL_BITS, 3).dtype == np.uint64
    assert function(ALL_BITS, np.int64(3)).dtype == np.uint64
