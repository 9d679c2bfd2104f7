"""Numbers with as many digits as their intervals give meaning to, against decimal arithmetic."""

import math
from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from workbench.export._rounding import UNKNOWN, alone, fixed, p_value, to_place, with_interval
from workbench.export.tables import percent

means = st.floats(-1e8, 1e8, allow_nan=False)
halves = st.floats(1e-4, 1e7)


def plain(text):
    """A printed number without what TeX needs."""
    return Decimal(text.replace("\\,", ""))


@given(means, halves)
def test_both_numbers_end_at_the_second_digit_of_the_half_width(mean, half):
    text = with_interval(mean, half)
    assume("times" not in text)
    middle, beside = (plain(part) for part in text.split(" \\pm "))
    digits = Decimal(f"{half:.1e}")
    assert beside == digits
    step = Decimal(1).scaleb(digits.adjusted() - 1)
    assert abs(middle - Decimal(mean)) <= step / 2 + step * Decimal("1e-9")
    assert middle == middle.quantize(step)
    assert not (middle == 0 and text.startswith("-"))


@given(st.floats(-1e6, 1e6), st.integers(-6, 4))
def test_a_decimal_place_is_that_of_decimal_arithmetic(value, place):
    expected = Decimal(value).quantize(Decimal(1).scaleb(place), ROUND_HALF_EVEN)
    got = plain(fixed(value, place))
    step = Decimal(1).scaleb(place)
    assert got == expected or abs(abs(Decimal(value) - got) - step / 2) < step * Decimal("1e-9")


@given(st.floats(1e-30, 1e-9), st.floats(0.001, 0.5))
def test_very_small_numbers_have_a_power_of_ten(mean, share):
    text = with_interval(mean, share * mean)
    inside, power = text.split(" \\times 10^{")
    middle = inside.strip("()").split(" \\pm ")[0]
    assert float(middle) * 10.0 ** int(power.strip("}")) == pytest.approx(mean, abs=share * mean / 10)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (with_interval(12345.678, 67.89), "12\\,346 \\pm 68"),
        (with_interval(12345.678, 9.96), "12\\,346 \\pm 10"),
        (with_interval(0.5, 0.0996), "0.50 \\pm 0.10"),
        (with_interval(1234567, 45678), "1\\,235\\,000 \\pm 46\\,000"),
        (with_interval(1500, 0), "1\\,500"),
        (with_interval(0.123456, math.nan), "0.1235"),
        (with_interval(math.nan, 1), UNKNOWN),
        (with_interval(-0.0001, 0.2), "0.00 \\pm 0.20"),
        (with_interval(2.5e12, 1e11), "(2.50 \\pm 0.10) \\times 10^{12}"),
        (to_place(-3.14159, 0.02), "-3.142"),
        (alone(0), "0"),
        (alone(-7), "-7"),
        (alone(math.inf), UNKNOWN),
        (p_value(0.0009), "< 0.001"),
        (p_value(0.00101), "0.001"),
        (p_value(0.0499), "0.050"),
        (p_value(math.nan), UNKNOWN),
        (percent(0.0579, 0.0052), "5.79\\,\\%"),
        (percent(-0.3, math.nan), "-30\\,\\%"),
        (percent(math.nan, math.nan), UNKNOWN),
    ],
)
def test_examples(text, expected):
    assert text == expected
