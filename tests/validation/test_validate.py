"""The table, the figure and the command that compare laws with measurements, on a planted data set."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from tests.validation.planted import FACTS, SET
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.figures._measured_and_predicted import curves_of, draw_measured_and_predicted
from workbench.validation import validate as module
from workbench.validation.data_set import Curve, Result
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
    assert heading == "no card: time of groups (dispatch)"
    assert lines == [
        "fitted (constant): ms 2",
        "fitted (linear): ms_each 2",
        "bar: at most 5 %",
        "source: nobody/nothing @ 0123456, times.csv (MIT)",
    ]
    assert (short["points"], short["error"], short["verdict"]) == ("3", "0.412 %", "confirmed: few")
    assert short["simplest rival"] == "63.8 %, the mean"
    results = [result._replace(alternative=result.law == "constant") for result in compared[0].results]
    assert [row["law"] for row in rows([compared[0]._replace(results=results)])] == ["linear", "constant"]


def compared_with(*predictions, points=8, joined=True, names=("a", "b"), verdict="confirmed", **figures):
    """Return a data set that was compared with laws, of which each predicts given values."""
    measured = np.arange(1.0, points + 1)
    results = []
    for name, predicted in zip(names, predictions, strict=False):
        values = np.broadcast_to(np.asarray(predicted, float), points)
        curve = Curve("all", "groups", "ms", measured, measured, values, measured, np.ones(points, bool), joined)
        result = Result(name, {}, points, 1.0, "%", 0.5, "a rival", 2.0, verdict, "a bar", [curve], f"note of {name}")
        results.append(result._replace(**figures))
    return module.Compared(SET, results, points, False)


@pytest.mark.parametrize(
    ("compared", "verdict"),
    [
        (compared_with(0.0), "confirmed"),
        (compared_with(0.0, points=4), "confirmed: few"),
        (compared_with(7.0, joined=False), "confirmed: few"),
        (compared_with(np.arange(8), joined=False), "confirmed"),
        (compared_with(0.0, verdict="refuted"), "refuted: bar"),
        (compared_with(0.0, verdict="refuted", rival_error=1.0), "refuted: rival"),
        (compared_with(0.0, bar="no bar is set; less than the rival"), "confirmed: no bar"),
        (compared_with(0.0, verdict="not tested"), "not tested"),
    ],
)
def test_a_verdict_names_what_decided_it_and_how_little_it_rests_on(compared, verdict):
    [(_, [short], _)] = blocks(rows([compared]))
    assert short["verdict"] == verdict


def test_lines_name_the_laws_they_are_about_and_laws_that_points_cannot_tell_apart():
    names = ("one: start", "two: start", "one: end")
    compared = compared_with(3.0, 3.0, 4.0, names=names)
    notes = ("of start", "of start", "of one end")
    results = [result._replace(note=note) for result, note in zip(compared.results, notes, strict=True)]
    [(_, _, lines)] = blocks(rows([compared._replace(results=results)]))
    assert "these points cannot tell apart: one: start; two: start" in lines
    assert [line for line in lines if "note" in line] == ["note (start): of start", "note (one: end): of one end"]


def test_laws_that_predict_the_same_are_one_line_and_points_of_neither_part_have_a_look_of_their_own():
    compared = compared_with(3.0, 3.0, 4.0, names=("a", "b", "c"), joined=False)
    [curve] = compared.results[0].curves
    apart = np.arange(8) == 2
    first = compared.results[0]._replace(curves=[curve._replace(judged=~apart, neither=apart, names=[*"abcdefgh"])])
    data = curves_of(compared._replace(results=[first, *compared.results[1:]]))
    figure = draw_measured_and_predicted(data)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["a; b", "c", "rival: a rival", "measured, judged", "measured, neither fitted nor judged"]
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == [*"abcdefgh"]
    assert data.columns()["neither"].sum() == 1


def test_a_figure_names_the_number_of_laws_for_which_it_has_no_line_left():
    compared = compared_with(*map(float, range(8)), names="abcdefgh")
    data = curves_of(compared)
    assert {line.law for line in data.lines} == {*"abcdef"}
    assert "2 further lines of laws are not drawn" in draw_measured_and_predicted(data).note


@pytest.mark.usefixtures("_planted")
def test_the_figure_holds_every_law_and_tells_fitted_points_from_judged_ones(tmp_path):
    data = curves_of(module.validate()[0])
    columns = data.columns()
    assert set(columns["law"]) == {"linear", "constant"}
    assert columns["judged"].tolist() == [False, True, True, True] * 2
    labels = [text.get_text() for text in draw_measured_and_predicted(data).legends[0].get_texts()]
    assert labels == ["linear", "constant", "rival: the mean", "measured, judged", "measured, fitted"]


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
    assert main(["validate", "--json", "--csv", str(tmp_path / "again.csv")]) == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "all.csv").read_bytes()
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
