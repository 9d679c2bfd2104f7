"""The programme and the arithmetic of chances, against all states and whole-number arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import probe_chance as twin
from tests.slow import examples
from workbench.explain.chance import Chance, chance_of_no_run

thirds = st.sampled_from([Fraction(1, 2), Fraction(2, 5), Fraction(1, 100), Fraction(99, 100)])


def log(value: Fraction) -> float:
    """The natural logarithm of a fraction of any size."""
    return math.log(value.numerator) - math.log(value.denominator)


def same(chance: Chance, failure: Fraction) -> None:
    assert chance.log_failure == (pytest.approx(log(failure), rel=1e-11, abs=1e-11) if failure else -math.inf)
    assert chance.log_success == (pytest.approx(log(1 - failure), rel=1e-11, abs=1e-11) if failure < 1 else -math.inf)


@pytest.mark.parametrize("free", [Fraction(1, 2), Fraction(1, 10)])
@pytest.mark.parametrize("cells", range(1, 9))
def test_equals_all_states(cells, free):
    for run in range(cells + 2):
        same(chance_of_no_run(cells, run, log(free)), twin.refused(cells, free, twin.longest, run))


@examples(13, 200)
@given(st.integers(1, 140), st.integers(1, 140), thirds)
def test_equals_whole_numbers_of_any_size(cells, run, free):
    same(chance_of_no_run(cells, run, log(free)), twin.no_run(cells, run, free))


def test_a_long_row_keeps_its_digits():
    assert chance_of_no_run(4096, 1, math.log(0.5)).log_failure == pytest.approx(-4096 * math.log(2), rel=1e-11)
    assert chance_of_no_run(4096, 4096, math.log(0.5)).log_success == pytest.approx(-4096 * math.log(2), rel=1e-11)
    assert chance_of_no_run(1024, 9, math.log(0.5)).failure == pytest.approx(
        float(twin.no_run(1024, 9, Fraction(1, 2))), rel=1e-9
    )


@given(st.fractions(0, 1, max_denominator=10**6), st.integers(1, 8), st.integers(1, 20))
def test_chain_equals_whole_numbers(unit, units, modules):
    module, machine = twin.chain(unit, units, modules)
    result = Chance.of(float(unit)).every(units)
    assert result.failure == pytest.approx(float(module), rel=1e-9)
    assert result.success == pytest.approx(float(1 - module), rel=1e-9, abs=1e-300)
    assert result.any(modules).failure == pytest.approx(float(machine), rel=1e-9, abs=1e-300)


def test_what_no_float_holds():
    tiny = chance_of_no_run(4096, 1, math.log(0.5))  # 2^-4096
    assert (tiny.failure, tiny.success) == (0.0, 1.0)
    four = tiny.every(4)
    assert four.log_failure == pytest.approx(-4094 * math.log(2), rel=1e-11)
    assert four.any(16).log10_failure == pytest.approx(-16 * 4094 * math.log10(2), rel=1e-11)
    rare = chance_of_no_run(4096, 4096, math.log(0.5))
    assert rare.any(16).log_success == pytest.approx(-4092 * math.log(2), rel=1e-11)
    assert rare.opposite().opposite() == rare


def test_certain_and_impossible():
    assert (Chance.of(0.0).every(4).failure, Chance.of(1.0).any(4).failure) == (0.0, 1.0)
    assert (Chance.of(0.0).any(4).success, Chance.of(1.0).every(4).success) == (1.0, 0.0)
