"""Mean waves resident: READMEs are read, and planted counts are confirmed or refuted."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from workbench.errors import InputError
from workbench.validation import waves_resident
from workbench.validation.validate import facts_of, levers_of

(SET,) = waves_resident.SETS
ROW = "│ 2.1.15      │ Wavefront Occupancy │ {waves} │ Wavefronts │ {slots} │          3.10 │\n"
README = (
    "on MI200 hardware\n## Results on MI210\n"
    + ROW.format(waves=100, slots=3328)
    + "cd solution-no-lds\n"
    + ROW.format(waves=450, slots=3328)
    + "cd ../solution\n"
    + ROW.format(waves=490.5, slots=3328)
    + "## Results on MI300A\n"
    + ROW.format(waves=170, slots=7296)
)


def facts(waves: float, card: str = "MI210", variant: str = "problem") -> pd.DataFrame:
    return pd.DataFrame(
        [(card, variant, "newer", waves, 3328.0)], columns=["card", "variant", "readme", "waves", "slots"]
    )


def test_extract_reads_the_card_and_the_variant_of_each_row(tmp_path: Path):
    file = tmp_path / "README.md"
    file.write_text(README)
    assert waves_resident.extract([file]).to_numpy().tolist() == [
        ["MI210", "problem", "newer", 100.0, 3328.0],
        ["MI210", "solution", "newer", 490.5, 3328.0],
        ["MI210", "solution-no-lds", "newer", 450.0, 3328.0],
        ["MI300A", "problem", "newer", 170.0, 7296.0],
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "holds no row 'Wavefront Occupancy'"),
        (ROW.format(waves=1, slots=1), "Got no card, problem"),
        (README.replace("no-lds", "half-lds"), "Got MI210, solution-half-lds"),
    ],
)
def test_a_broken_readme_is_refused(tmp_path: Path, text: str, message: str):
    file = tmp_path / "README.md"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        waves_resident.extract([file])


def test_the_engine_gives_the_waves_of_a_small_card_by_hand():
    # 512 groups with rows, one a unit of 104: five rounds, the last of 96 groups, whose free units serve the others
    assert waves_resident.mean_waves("MI210", "problem") == pytest.approx(512 / 5, rel=0.02)


def test_a_planted_count_is_confirmed_and_another_refuted():
    predicted = waves_resident.mean_waves("MI210", "problem")
    (confirmed,) = waves_resident.judge(facts(predicted * 0.98), {})
    (refuted,) = waves_resident.judge(facts(predicted * 1.1), {})
    assert (confirmed.verdict, refuted.verdict) == ("confirmed", "refuted")
    assert confirmed.error == pytest.approx(100 / 0.98 - 100)
    (full,) = waves_resident.judge(facts(104.0), {})  # within 5 %, but all units full is nearer
    assert (full.verdict, full.rival_error) == ("refuted", 0.0)


def test_a_variant_that_the_lds_does_not_limit_is_not_judged():
    (result,) = waves_resident.judge(facts(450.0, variant="solution"), {})
    assert (result.verdict, result.points) == ("not tested", 0)
    assert "solution 512 for 450" in result.note


def test_shipped_levers_are_those_of_the_shipped_facts():
    assert levers_of(SET) == waves_resident.fit(facts_of(SET))


def test_what_the_judged_rows_of_both_cards_say():
    results = waves_resident.judge(facts_of(SET), levers_of(SET))
    assert [result.verdict for result in results] == ["confirmed", "confirmed"]
    assert [result.error for result in results] == pytest.approx([0.724, 2.924], abs=0.001)
