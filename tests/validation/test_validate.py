"""The table, the figure and the command that compare laws with measurements, on a planted data set."""

from __future__ import annotations

import csv
import json

import pytest

from tests.validation.planted import FACTS, SET
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.figures._measured_and_predicted import curves_of, draw_measured_and_predicted
from workbench.validation import validate as module
from workbench.validation.table import blocks, rows


@pytest.fixture
def _planted(monkeypatch):
    monkeypatch.setattr(module, "data_sets", lambda engine="": [SET])
    monkeypatch.setattr(module, "facts_of", lambda data_set: FACTS)
    monkeypatch.setattr(module, "levers_of", lambda data_set: SET.fit(FACTS))


@pytest.mark.usefixtures("_planted")
def test_refuted_laws_come_first_alternatives_last_and_a_person_sees_three_digits():
    compared = module.validate()
    table = rows(compared)
    assert [(row["law"], row["verdict"]) for row in table] == [("constant", "refuted"), ("linear", "confirmed")]
    [(heading, (_, short), lines)] = blocks(table)
    assert heading == "no card: time of groups"
    assert lines == ["fitted (constant): ms 2", "fitted (linear): ms_each 2"]
    assert (short["points"], short["error"], short["verdict"]) == ("3", "0.412 %", "confirmed")
    assert short["simplest rival"] == "63.8 %, the mean"
    results = [result._replace(alternative=result.law == "constant") for result in compared[0].results]
    assert [row["law"] for row in rows([compared[0]._replace(results=results)])] == ["linear", "constant"]


@pytest.mark.usefixtures("_planted")
def test_the_figure_holds_every_law_and_tells_fitted_points_from_judged_ones(tmp_path):
    data = curves_of(module.validate()[0])
    columns = data.columns()
    assert set(columns["law"]) == {"linear", "constant"}
    assert columns["judged"].tolist() == [False, True, True, True] * 2
    labels = [text.get_text() for text in draw_measured_and_predicted(data).legends[0].get_texts()]
    assert labels == ["linear", "constant", "rival", "measured, judged", "measured, fitted"]


@pytest.mark.usefixtures("_planted")
def test_the_command_prints_one_table_writes_csv_and_draws_one_figure_a_set(tmp_path, capsys):
    assert main(["validate", "--csv", str(tmp_path / "all.csv"), "--figures", str(tmp_path / "figures")]) == 0
    printed = capsys.readouterr().out
    assert "refuted" in printed
    assert "1 refuted, 1 confirmed" in printed
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "planted.csv",
        "planted.pdf",
        "planted.png",
    ]
    assert [row["law"] for row in csv.DictReader((tmp_path / "all.csv").open())] == ["constant", "linear"]
    assert main(["validate", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["rows"][1]["source"] == "nobody/nothing @ 0123456, times.csv (MIT)"


@pytest.mark.usefixtures("_planted")
def test_files_of_another_card_are_fitted_and_judged(tmp_path, capsys):
    (tmp_path / "deep").mkdir()
    FACTS.assign(ms=FACTS["ms"] * 3).to_csv(tmp_path / "deep" / "planted_other.csv", index=False)
    assert main(["validate", "--from-files", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][1]["fitted"] == "ms_each 6"


@pytest.mark.usefixtures("_planted")
@pytest.mark.parametrize(
    ("prepare", "sentence"),
    [
        (lambda folder: folder / "absent", "must be a folder"),
        (lambda folder: folder, "holds no file of measurements. Expected one of: planted_*.csv."),
    ],
)
def test_a_folder_without_measurements_is_refused(tmp_path, capsys, prepare, sentence):
    assert main(["validate", "--from-files", str(prepare(tmp_path))]) == 2
    assert sentence in capsys.readouterr().err


def test_an_engine_without_measurements_is_refused():
    with pytest.raises(InputError, match="unknown engine with measurements 'nonsense'"):
        module.validate("nonsense")
