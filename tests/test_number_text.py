"""Numbers with as many digits as their intervals give meaning to, and six at most, against decimal arithmetic."""

import math
from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from workbench.number_text import (
    FIGURE,
    MOST_DIGITS,
    NONE,
    TEX,
    limits,
    number,
    probability,
    to_decimals,
    to_half,
    with_half,
    with_limits,
)

means = st.floats(-1e8, 1e8, allow_nan=False)
halves = st.floats(1e-4, 1e7)


def plain(text):
    """A printed number without what TeX needs."""
    return Decimal(text.replace("\\,", "").replace(",", ""))


def digits_in(text):
    """The significant digits of a printed number that is no exact whole number."""
    return len(plain(text).normalize().as_tuple().digits)


@given(means, halves)
def test_a_half_width_has_3_to_30_units_of_the_last_digit_and_the_mean_six_digits_at_most(mean, half):
    text = with_half(mean, half, TEX)
    assume("times" not in text and "\\pm" in text)
    middle, beside = (plain(part) for part in text.split(" \\pm "))
    place = max(math.floor(math.log10(half / 3)), math.floor(math.log10(max(abs(mean), half))) - MOST_DIGITS + 1)
    step = Decimal(1).scaleb(place)
    assert abs(middle - Decimal(mean)) <= step * Decimal("5.01")
    assert beside >= step and (beside <= 30 * step) and middle == middle.quantize(step)
    assert not (middle == 0 and text.startswith("-"))
    assert max(digits_in(part) for part in text.split(" \\pm ")) <= MOST_DIGITS


@given(means, st.floats(0, NONE))
def test_the_rounding_of_sums_is_no_half_width(mean, share):
    alone = number(mean, style=TEX)
    assert with_half(mean, share * abs(mean), TEX) == to_half(mean, share * abs(mean), TEX) == alone
    assert with_limits(mean, mean, mean).startswith(f"{number(mean)} [")


@given(st.floats(-1e6, 1e6), st.integers(-4, 6))
def test_a_decimal_place_is_that_of_decimal_arithmetic(value, decimals):
    step = Decimal(1).scaleb(-decimals)
    assume(abs(Decimal(value)) < step * 10**MOST_DIGITS / 2)
    expected = Decimal(value).quantize(step, ROUND_HALF_EVEN)
    got = plain(to_decimals(value, decimals))
    assert got == expected or abs(abs(Decimal(value) - got) - step / 2) < step * Decimal("1e-9")


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300))
def test_a_number_alone_has_six_digits_at_most_unless_it_is_whole(value):
    text = number(value)
    assert float(text.replace(",", "")) == pytest.approx(value, rel=1e-3)
    assert digits_in(text) <= MOST_DIGITS or value == int(value)


@given(st.floats(1e-30, 1e-11), st.floats(0.001, 0.5))
def test_very_small_numbers_have_a_power_of_ten(mean, share):
    text = with_half(mean, share * mean, TEX)
    inside, power = text.split(" \\times 10^{")
    middle = inside.strip("()").split(" \\pm ")[0]
    assert float(middle) * 10.0 ** int(power.strip("}")) == pytest.approx(mean, abs=share * mean / 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (with_half(12345.678, 67.89, TEX), "12\\,350 \\pm 70"),
        (with_half(12345.678, 24.9, TEX), "12\\,346 \\pm 25"),
        (with_half(0.5, 0.0996, TEX), "0.50 \\pm 0.10"),
        (with_half(1234567, 45678, TEX), "1\\,230\\,000 \\pm 50\\,000"),
        (with_half(123456789.3, 12), "123,457,000 ± 1,000"),
        (with_half(1500, 0, TEX), "1\\,500"),
        (with_half(0.123456, math.nan, TEX), "0.1235"),
        (with_half(math.nan, 1, TEX), TEX.unknown),
        (with_half(-0.0001, 0.2, TEX), "0.00 \\pm 0.20"),
        (with_half(2.5e12, 1e11, TEX), "(2.50 \\pm 0.10) \\times 10^{12}"),
        (with_half(99.99999999999999, 1e-14, TEX), "100"),
        (to_half(370.80000000000007, 6e-14), "370.8"),
        (to_half(-3.14159, 0.02, TEX), "-3.142"),
        (number(0), "0"),
        (number(-7, style=FIGURE), "−7"),
        (number(math.inf, style=TEX), TEX.unknown),
        (number(3661627392.0), "3,661,627,392"),
        (number(-math.inf), "-inf"),
        (limits(-20.0, 72.0), "[-20, 70]"),
        (with_limits(35, 3, 72), "35 [3, 72]"),
        (with_limits(10.53, -math.inf, 11), "10.53 [-inf, 11]"),
        (probability(0.0009, TEX), "< 0.001"),
        (probability(0.00101), "0.001"),
        (probability(0.0499), "0.0499"),
        (probability(0.04999999), "0.0499999"),
        (probability(0.0501), "0.05"),
        (probability(math.nan), "-"),
    ],
)
def test_examples(text, expected):
    assert text == expected
