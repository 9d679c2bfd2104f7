"""Pairing by seed: nothing is dropped without being named, rounding is no difference."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.statistics import pair

values = st.dictionaries(st.integers(0, 30), st.one_of(st.none(), st.integers(-9, 9)), max_size=12)


@given(values, values)
def test_every_seed_is_paired_or_missing(left, right):
    known_left = {s for s, v in left.items() if v is not None}
    known_right = {s for s, v in right.items() if v is not None}
    common = sorted(known_left & known_right)
    if known_left and known_right and not left.keys() & right.keys():
        with pytest.raises(InputError, match="no seed in common"):
            pair(left, right)
        return
    got = pair(left, right)
    assert list(got.seeds) == common
    assert list(got.missing) == sorted((left.keys() | right.keys()) - set(common))
    assert got.baseline.tolist() == [left[s] for s in common]
    assert got.other.tolist() == [right[s] for s in common]


def test_the_order_of_rows_does_not_matter():
    forth, back = pair({2: 1, 10: 2, 1: 3}, {1: 4, 2: 5, 10: 6}), pair({1: 3, 10: 2, 2: 1}, {10: 6, 1: 4, 2: 5})
    assert forth.seeds == back.seeds == (1, 2, 10)
    assert forth.differences().tolist() == back.differences().tolist() == [-1, -4, -4]


def test_series_and_rows():
    series = pair(pd.Series([1.0, 2.0], index=[7, 8]), pd.Series([3.0, np.nan], index=[8, 7]))
    assert (series.seeds, series.missing, series.differences().tolist()) == ((8,), (7,), [-1.0])
    rows = pair([1, None, 3], np.array([1, 2, 5]))
    assert (rows.seeds, rows.missing, rows.differences().tolist()) == ((0, 2), (1,), [0.0, -2.0])


def test_rounding_is_no_difference_and_breaks_no_tie():
    assert pair([0.1 + 0.2, 0.5], [0.3, 0.25]).differences().tolist() == [0.0, 0.25]
    third = pair([0.4, 0.9, 1.0], [0.3, 0.8, 1.0]).differences()
    assert 0.4 - 0.3 != 0.9 - 0.8
    assert third[0] == third[1] == pytest.approx(0.1, abs=1e-12)
    assert math.copysign(1, pair([0.3, 0.5], [0.1 + 0.2, 0.25]).differences()[0]) == 1.0


def test_whole_numbers_are_exact_however_large():
    assert pair([2**53, 5], [2**53 - 1, 5]).differences().tolist() == [1.0, 0.0]


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=6))
def test_rounding_stays_within_a_part_in_a_million_million(row):
    shifted = [x / 2 for x in row]
    got = pair(row, shifted).differences()
    assert np.abs(got - np.array(row) / 2).max() <= max(map(abs, row)) * 1e-12 + 5e-324


@pytest.mark.parametrize(
    ("baseline", "other", "says"),
    [
        ([1, 2], [1], "rows must have one value a seed each. Got 2 and 1 values."),
        ({1: 2}, [1], "must both map seeds to values, or both be rows. Got one of each."),
        ({1: 2}, {2: 2}, "have no seed in common. Got no pair. Run both with the same seeds."),
        ({1: 2}, {1: "fast"}, "other must be numbers. Got ['fast']."),
        (3, {1: 2}, "baseline must map seeds to values, or be a row of numbers. Got 3."),
        (pd.Series([1, 2], index=[5, 5]), {5: 1}, "baseline must have one value a seed. Got seed 5 twice."),
    ],
)
def test_mistakes_are_one_sentence(baseline, other, says):
    with pytest.raises(InputError) as wrong:
        pair(baseline, other)
    assert says in str(wrong.value)


def test_an_infinite_value_is_the_worst_and_no_missing_one():
    got = pair({1: math.inf, 2: 5, 3: math.inf, 4: 1}, {1: math.inf, 2: math.inf, 3: 4, 4: None})
    assert (got.seeds, got.missing) == ((1, 2, 3), (4,))
    assert got.differences().tolist() == [0.0, -math.inf, math.inf]
