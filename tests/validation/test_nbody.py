"""n-body: points of a card are told apart, levers are recovered, and a planted world is confirmed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from workbench.errors import InputError
from workbench.validation import nbody
from workbench.validation.validate import facts_of, levers_of

(SET,) = nbody.SETS
FULL = """kernel_name,problem_size,iterations,avg_ms,min_ms,max_ms
vectoradd,1024,51,0.0046,0.0042,0.0117
nbody,512_particles,51,0.3,0.2,0.4
nbody,256_particles,51,0.2,0.1,0.3
"""


def world(slope: float, units: int = 228) -> pd.DataFrame:
    """The times of a card whose groups slow each other down by a slope."""
    points = [(256 * units * n // 2, 1 + slope * ((n + 1) // 2 - 1)) for n in (1, 2, 3, 4, 6)]
    rows = [("mi300a", units, particles, 1e-4 * particles * slower) for particles, slower in points]
    return pd.DataFrame(rows, columns=["card", "units", "particles", "min_ms"])


def test_extract_takes_nbody_from_the_table_of_all_kernels(tmp_path: Path):
    file = tmp_path / "mi300a_120cu.csv"
    file.write_text(FULL)
    (tmp_path / "sim_results_m3.csv").write_text("kernel_name,problem_size,sim_time_ms\nnbody,256_particles,1\n")
    facts = nbody.extract(sorted(tmp_path.iterdir()))
    assert facts.to_numpy().tolist() == [["mi300a_120cu", 120, 256, 0.1], ["mi300a_120cu", 120, 512, 0.2]]


def test_extract_takes_a_table_of_nbody_alone(tmp_path: Path):
    file = tmp_path / "nbody_mi300x.csv"
    file.write_text("# where from\nproblem_size,min_ms\n256_particles,0.1\n")
    assert nbody.extract([file]).to_numpy().tolist() == [["mi300x", 304, 256, 0.1]]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("mi300a.csv", "a,b\n1,2\n", "columns problem_size and min_ms"),
        ("mi300a.csv", "problem_size,min_ms\nmany,0.1\n", "Got 'many'"),
        ("mi300a.csv", "problem_size,min_ms\n256_particles,-1\n", "above 0"),
        ("mi300a.csv", "problem_size,min_ms\n256_particles\n", "Got '256_particles', None"),
        ("mi999.csv", "problem_size,min_ms\n256_particles,1\n", "no machine of the card 'mi999'"),
        ("mi300a.csv", "problem_size,min_ms\n999999999999_particles,1\n", "particles 1 to"),
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, name: str, text: str, message: str):
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        nbody.extract([file])


def test_tables_of_other_kernels_and_of_simulated_times_give_no_point(tmp_path: Path):
    (tmp_path / "mi300a.csv").write_text(FULL.replace("nbody", "other"))
    for name in ("sim_results_m4.csv", "comparison_m4_detailed.csv"):
        (tmp_path / name).write_text("=====\nno table\n")
    assert nbody.extract(sorted(tmp_path.iterdir())).empty


def test_a_planted_slope_is_recovered_and_constant_durations_are_refuted():
    facts = world(0.25)
    levers = nbody.fit(facts)
    assert levers["shared_rate"]["mi300a"] == {"us_a_particle": 0.1, "slope": 0.25}
    constant, shared = nbody.judge(facts, levers)
    assert (constant.verdict, shared.verdict) == ("refuted", "confirmed")
    assert shared.points == constant.points == 2
    assert shared.error < 0.01
    assert constant.error == pytest.approx(20, abs=0.001)


def test_where_groups_do_not_slow_each_other_down_both_laws_are_one():
    constant, shared = nbody.judge(world(0.0), nbody.fit(world(0.0)))
    assert shared.fitted["slope"] == 0
    assert constant.error == shared.error < 0.001


def test_only_the_two_fitted_points_are_read_by_fit():
    facts = world(0.25)
    other = facts.assign(min_ms=facts["min_ms"].where(facts["particles"].isin([58_368, 175_104]), 7.0))
    assert nbody.fit(other) == nbody.fit(facts)


def test_a_card_without_a_second_group_on_any_unit_is_not_tested():
    results = nbody.judge(world(0.25).head(2), nbody.fit(world(0.25).head(2)))
    assert [result.verdict for result in results] == ["not tested"] * 2


def test_shipped_levers_are_those_of_the_shipped_facts():
    assert levers_of(SET) == nbody.fit(facts_of(SET))


def test_what_the_judged_points_of_the_card_say():
    constant, shared = nbody.judge(facts_of(SET), levers_of(SET))
    assert (constant.verdict, shared.verdict) == ("refuted", "confirmed")
    assert (constant.error, shared.error) == (pytest.approx(17.899, abs=0.001), pytest.approx(6.443, abs=0.001))
