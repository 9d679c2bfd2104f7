"""Figures that need no runs: their list, their choices, and what is saved."""

from __future__ import annotations

import json

import pytest

import workbench as wb
from tests.figures.test_registry import held
from tests.printed import texts_of, too_long
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.figures import calculated, calculations
from workbench.figures.registry import CALCULATIONS, Calculation


def test_every_calculation_is_listed_and_every_one_is_whole():
    assert held(Calculation) == {one.name for one in calculations()} == set(CALCULATIONS.names())
    for one in calculations():
        assert one.description.endswith(".") and callable(one.data) and callable(one.draw)


def test_unknown_names_and_choices_are_refused_with_the_nearest():
    with pytest.raises(InputError) as refused:
        calculated("probe_sucess")
    assert str(refused.value).endswith("Did you mean probe_success?")
    with pytest.raises(InputError, match=r"^unknown choice of probe_success 'fre'; there are .* Did you mean free\?$"):
        calculated("probe_success").choose(fre=0.5)


@pytest.mark.slow
def test_saved_as_others_are(tmp_path):
    saved = calculated("probe_success").save(tmp_path / "new", demands=[4, 5], free=[0.5], machines=0)
    assert [path.name for path in saved] == [f"probe_success.{kind}" for kind in ("pdf", "png", "csv")]
    rows = saved[2].read_text().splitlines()
    assert rows[0] == "free,probe,demand_blocks,log10_machine_refusal,drawn_share,drawn_low,drawn_high"
    assert rows[1].startswith("0.5,exact_run,4,-22.67") and rows[1].endswith(",,,")
    assert len(rows) == 1 + 3 * 2


def test_the_public_word_draws_one_and_says_where_figures_of_runs_are():
    drawn = wb.figure("probe_success", demands=[4, 5], free=[0.5], machines=0)
    assert len(drawn.axes[0].lines) >= 3
    assert too_long(texts_of(drawn)) == []
    with pytest.raises(
        InputError,
        match=r"^figure pareto is drawn of runs: workbench figure pareto DIR, run\(SWEEP\)\.figure\('pareto'\)\.$",
    ):
        wb.figure("pareto")


@pytest.mark.slow
def test_the_command_lists_draws_and_refuses_in_one_sentence_with_nothing_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["figure"]) == 0
    output = capsys.readouterr().out
    assert all(one.name in output and one.description in " ".join(output.split()) for one in calculations())
    refused = {"probe_sucess": "Did you mean probe_success?", "pareto": "is drawn of runs: "}
    for name, cure in {**refused, "malloc_on_card": "of which none is shipped: "}.items():
        assert main(["figure", name, "--to", "new"]) == 2
        problem = capsys.readouterr().err
        assert cure in problem and problem.count("\n") == 1
    assert not list(tmp_path.iterdir())
    chosen = [word for choice in ("demands=[4]", "free=[0.5]", "machines=0") for word in ("--choose", choice)]
    assert main(["figure", "probe_success", *chosen, "--to", "new", "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert sorted(files) == sorted(f"new/{path.name}" for path in (tmp_path / "new").iterdir())
    assert len(files) == 3
