"""Choices of a module compared with logs of blocks: planted worlds, files of other formats, and broken ones."""

import json

import pytest

from tests.validation.block_worlds import CARD, fewest, first, write
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.validation.block_order import CHOICES, SETS
from workbench.validation.validate import validate, validate_files

(SET,) = SETS


def judged(files):
    facts = SET.extract(files)
    return {result.law: result for result in SET.judge(facts, SET.fit(facts))}


@pytest.mark.parametrize("card", [{}, {"card": CARD}], ids=["format of the tool", "with the card"])
def test_a_card_that_takes_the_fewest_residents_confirms_that_choice_alone(tmp_path, card):
    results = judged(write(tmp_path, fewest, **card))
    assert len(results) == 2 * len(CHOICES)
    verdicts = {law: one.verdict for law, one in results.items() if law.endswith("SM of a block")}
    confirmed = {law.split(":")[0] for law, verdict in verdicts.items() if verdict == "confirmed"}
    assert "first_module" not in confirmed
    assert "least_waves" in confirmed
    least = results["least_waves: SM of a block"]
    assert (least.error, least.points) == (0.0, 130)
    assert least.rival_error > 30
    begin = results["least_waves: begin of a block"]
    assert (begin.error, begin.verdict) == (0.0, "confirmed")
    assert least.note == "in one stream the card began with the SMs 9, 2, 7, 4"


def test_a_card_that_fills_its_first_module_confirms_that(tmp_path):
    results = judged(write(tmp_path, first))
    assert results["first_module: SM of a block"].verdict == "confirmed"
    assert results["least_waves: SM of a block"].verdict == "refuted"


def test_curves_show_the_card_and_the_prediction_under_the_names_of_the_card(tmp_path):
    curves = judged(write(tmp_path, fewest))["least_waves: SM of a block"].curves
    assert [curve.panel for curve in curves] == ["one stream", "two streams"]
    assert set(curves[0].measured) == {9, 2, 7, 4}
    assert curves[0].measured.tolist() == curves[0].predicted.tolist()
    assert curves[0].judged.all()


def test_files_of_one_run_are_one_experiment(tmp_path):
    """The tool writes a file a benchmark; those of one scenario share the card."""
    whole = json.loads(write(tmp_path / "whole", fewest)[1].read_text())
    folder = tmp_path / "parts"
    folder.mkdir()
    for k, kernel in enumerate(whole["times"][2:]):
        without = {name: value for name, value in kernel.items() if name != "stream"}
        (folder / f"part{k}.json").write_text(json.dumps({**whole, "times": [{}, without]}))
    results = judged(sorted(folder.iterdir()))
    assert results["least_waves: SM of a block"].error == 0
    assert results["least_waves: begin of a block"].error == 0
    assert results["least_waves: SM of a block"].points == 70


def test_registers_count_where_the_log_says_what_an_sm_has(tmp_path):
    (path, _) = write(tmp_path, fewest, card={**CARD, "threads_a_unit": 2048, "registers_a_unit": 65_536})
    given = json.loads(path.read_text())
    given["times"][2]["registers"] = 128  # so that an SM holds two blocks
    path.write_text(json.dumps(given))
    assert judged([path])["least_waves: SM of a block"].error == 0
    del given["card"]["registers_a_unit"]
    path.write_text(json.dumps(given))
    assert judged([path])["least_waves: begin of a block"].error > 0


def test_without_public_facts_the_table_has_no_row():
    (compared,) = (one for one in validate("dispatch") if one.data_set.name == "block_order")
    assert (compared.facts, list(compared.results)) == (0, [])


def test_the_command_reads_logs_among_files_of_other_formats(tmp_path, capsys):
    write(tmp_path / "deep", fewest)
    (tmp_path / "other.json").write_text('{"a": 1}')
    assert main(["validate", "dispatch", "--from-files", str(tmp_path), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["data set"] for row in rows} == {"block_order"}
    assert rows[0]["verdict"] == "refuted"


def test_a_folder_with_json_of_other_formats_alone_holds_no_measurements(tmp_path):
    (tmp_path / "other.json").write_text('{"a": 1}')
    with pytest.raises(InputError, match="holds no file of measurements"):
        validate_files(tmp_path)


BROKEN = [
    (lambda given: given["times"][2].pop("block_smids"), "must have block_smids, the SM of each block"),
    (lambda given: given.pop("max_resident_threads"), "must have max_resident_threads"),
    (lambda given: given["times"][2]["block_times"].pop(), "must hold a start and an end for each block"),
]


@pytest.mark.parametrize(("damage", "sentence"), BROKEN)
def test_a_broken_log_is_refused_in_one_sentence(tmp_path, damage, sentence, capsys):
    path, _ = write(tmp_path, fewest)
    given = json.loads(path.read_text())
    damage(given)
    path.write_text(json.dumps(given))
    assert main(["validate", "--from-files", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert sentence in line
