"""Every row of the document's chain and of the corrected table around it (spec 3, section 4), as printed there."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.oracles import probe_chance as twin
from workbench.explain.chance import chance_of_no_run
from workbench.explain.probe_success import Setting, failure, table
from workbench.policies.probes import ExactRun, GroupedRun, SampledRun

GROUPED, EXACT, SAMPLED = GroupedRun(groups=32), ExactRun(), SampledRun()
FULLER = Setting(free=0.4)


def printed(value: float, text: str) -> bool:
    """Whether a value, rounded as far as the specification prints it, is what it prints."""
    return f"{value:.{_digits(text)}e}" == f"{float(text):.{_digits(text)}e}"


def _digits(text: str) -> int:
    """Digits after the first one."""
    return len(text.split("e")[0].replace(".", "").lstrip("0")) - 1


def test_the_documents_chain():
    assert chance_of_no_run(1, 1, 4 * math.log(0.5)).failure == pytest.approx(15 / 16, rel=1e-15)
    result = failure(GROUPED, 4)
    assert result.unit.failure == pytest.approx((15 / 16) ** 32, rel=1e-13)
    assert printed(result.unit.failure, "0.126789")
    assert printed(result.module.failure, "0.418597")
    assert printed(result.machine.failure, "8.887e-7")
    assert printed(1 - (1 - 0.127) ** 4, "0.4192")  # what rounding first would give


@pytest.mark.parametrize(
    ("demand", "unit", "module", "machine"),
    [
        *((demand, "0.1268", "0.4186", "8.9e-7") for demand in (1, 2, 3, 4)),
        *((demand, "0.8916", "0.99986", "0.998") for demand in (5, 6, 8)),
    ],
)
def test_grouped(demand, unit, module, machine):
    result = failure(GROUPED, demand)
    assert printed(result.unit.failure, unit)
    assert printed(result.module.failure, module)
    assert printed(result.machine.failure, machine)


@pytest.mark.parametrize(
    ("demand", "unit", "module", "machine"),
    [
        (4, "0.00971", "0.0383", "2.1e-23"),
        (5, "0.1174", "0.3932", "3.3e-7"),
        (6, "0.3604", "0.8326", "0.053"),
        (8, "0.7849", "0.9979", "0.966"),
    ],
)
def test_exact(demand, unit, module, machine):
    result = failure(EXACT, demand)
    assert printed(result.unit.failure, unit)
    assert printed(result.module.failure, module)
    assert printed(result.machine.failure, machine)


def test_exact_below_four():
    for demand in (1, 2, 3):
        result = failure(EXACT, demand)
        assert result.unit.failure < 2.6e-5
        assert result.module.failure < 1.1e-4
        assert result.machine.log10_failure < -63
    assert failure(EXACT, 3).machine.failure == pytest.approx(
        1.04774e-64, rel=1e-5
    )  # right to the digit, not just tiny


@pytest.mark.parametrize(("demand", "machine"), [(4, "2.1e-23"), (5, "0.053"), (6, "0.053"), (8, "0.966")])
def test_sampled(demand, machine):
    assert printed(failure(SAMPLED, demand).machine.failure, machine)


def test_sampled_is_exact_at_its_lengths():
    for demand in (1, 2, 3, 4, 6, 8):
        assert failure(SAMPLED, demand) == failure(EXACT, demand)
    assert failure(SAMPLED, 5) == failure(EXACT, 6)


def test_at_sixty_per_cent_occupancy():
    grouped, exact = failure(GROUPED, 4, FULLER), failure(EXACT, 4, FULLER)
    assert [printed(c.failure, t) for c, t in zip(grouped, ("0.436", "0.899", "0.182"))] == [True] * 3
    assert [printed(c.failure, t) for c, t in zip(exact, ("0.125", "0.415", "7.7e-7"))] == [True] * 3


@pytest.mark.parametrize("demand", [1, 3, 4, 5, 8])
def test_all_of_it_in_whole_numbers(demand):
    for free in (Fraction(1, 2), Fraction(2, 5)):
        setting = Setting(free=float(free))
        for probe, cells, run, of_cell in ((EXACT, 128, demand, free), (GROUPED, 32, -(-demand // 4), free**4)):
            unit = twin.no_run(cells, run, of_cell)
            expected = (unit, *twin.chain(unit, 4, 16))
            for level, exactly in zip(failure(probe, demand, setting), expected):
                assert level.log_failure == pytest.approx(
                    math.log(exactly.numerator) - math.log(exactly.denominator), rel=1e-11, abs=1e-12
                )


def test_the_table_holds_the_same():
    result = table([GROUPED, EXACT], [4, 5])
    assert result.probe.tolist() == ["grouped_run"] * 2 + ["exact_run"] * 2
    assert result.demand.tolist() == [4, 5, 4, 5]
    assert result.machine_failure.tolist() == [failure(p, d).machine.failure for p in (GROUPED, EXACT) for d in (4, 5)]
    assert result.log10_machine_failure[2] == failure(EXACT, 4).machine.log10_failure
    drawn = table([GROUPED], [4, 5], machines=5, seed=3)
    assert set(result.columns) < set(drawn.columns)
    assert ((drawn.unit_low < drawn.unit_drawn) & (drawn.unit_drawn < drawn.unit_high)).all()


def test_rounding_as_printed_notices_a_wrong_digit():
    assert printed(8.8867e-7, "8.887e-7")
    assert not printed(8.8862e-7, "8.887e-7")
    assert printed(0.99986171, "0.99986")
    assert not printed(0.99987, "0.99986")
