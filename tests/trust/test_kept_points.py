"""Results are read without the code that made them: it moved, it is gone, or it does not run any more."""

from __future__ import annotations

import json
import shutil

import pytest
import yaml

import workbench as wb
from tests.trust.strangers import KINDS, SWEEP, forgotten, written
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.experiments.results_folder import write_own

BOTH = {**SWEEP, **KINDS["policy"], **KINDS["measure"], "baseline": {"placement": "first_fit"}}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Return the results of a run of this user, as they were, and the folder of its code."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STRANGERS_MARK", str(tmp_path / "mark"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    written(tmp_path / "mine")
    (tmp_path / "mine" / "s.yaml").write_text(yaml.safe_dump(BOTH))
    results = wb.run("mine/s.yaml", "out", workers=0)
    forgotten()
    yield results, tmp_path / "mine" / "evil.py"
    forgotten()


BREAKS = {
    "moved": lambda file: file.rename(file.with_name("moved.py")),
    "deleted": lambda file: file.unlink(),
    "without the class": lambda file: file.write_text("x = 1\n"),
    "a syntax error": lambda file: file.write_text("class ("),
    "raises": lambda file: file.write_text("1 / 0\n"),
    "ends the process": lambda file: file.write_text("raise SystemExit(3)\n"),
}
REASONS = {
    "moved": "does not exist",
    "deleted": "does not exist",
    "without the class": "evil.py has no twice any more",
    "a syntax error": "does not run: SyntaxError",
    "raises": "does not run: ZeroDivisionError",
    "ends the process": "does not run: SystemExit",
}


@pytest.mark.parametrize("how", BREAKS)
@pytest.mark.parametrize("signed", [False, True])
def test_the_kept_rows_are_shown_with_the_reason(how, signed, kept, capsys):
    results, file = kept
    BREAKS[how](file)
    if signed and file.exists():
        assert main(["trust", "out", "--yes"]) == 0
    opened = wb.open_results("out")
    assert opened.table.to_dict("list") == results.table.to_dict("list")
    assert opened.summary().to_csv() == results.summary().to_csv()
    assert opened.sentences() == results.sentences()
    expected = "it was edited since you signed it" if file.exists() and not signed else REASONS[how]
    assert expected in opened.code_notes[0] and "shown as kept" in opened.code_notes[0]
    capsys.readouterr()
    assert main(["results", "out"]) == 0
    printed = capsys.readouterr().out
    assert expected in printed and "twice" in printed
    assert f"6 rows of that code were made by workbench {wb.__version__} under Python" in printed


def test_json_has_the_rows_and_the_reason(kept, capsys):
    kept[1].unlink()
    assert main(["results", "out", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["runs"] == 12 and len(facts["table"]) == 12 and "does not exist" in facts["notes"][0]


def test_what_needs_the_code_is_refused_in_one_sentence(kept, capsys):
    kept[1].unlink()
    opened = wb.open_results("out").only("evil")
    assert opened.code_notes
    with pytest.raises(InputError, match="does not exist"):
        opened.events(opened.table["run_id"].iloc[-1])
    with pytest.raises(InputError, match="does not exist"):
        opened.records(opened.points[-1])
    assert main(["export", "out", "--to", "paper"]) == 2
    assert main(["figure", "layout_over_time", "out"]) in (0, 2)
    assert main(["open", "dashboard", "out", "--no-browser"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_provenance_has_no_path_of_this_machine(kept, tmp_path):
    text = (tmp_path / "out" / "provenance.json").read_text()
    assert str(tmp_path) not in text
    facts = json.loads(text)
    assert [one["coordinates"] for one in facts["coordinates"]] == [
        {"policy.placement": "first_fit"},
        {"policy.placement": "evil"},
    ]
    assert facts["own_measures"]["twice"]["unit"] == "segments"


def without(*keys):
    def edit(out):
        facts = json.loads((out / "provenance.json").read_text())
        write_own(out / "provenance.json", json.dumps({key: one for key, one in facts.items() if key not in keys}))

    return edit


OLDER = {
    "of 0.5": without("coordinates", "own_measures"),
    "stopped before its end": lambda out: (out / "provenance.json").unlink(),
    "of a stranger who wrote nonsense": lambda out: (out / "provenance.json").write_text(
        '{"coordinates": [3, {"id": 4}, {"coordinates": 5}], "own_measures": {"twice": {"unit": 3, "better": []}}}'
    ),
}


@pytest.mark.parametrize("which", [name for name in OLDER if "stranger" not in name])
def test_an_older_folder_shows_its_points_by_what_they_are(which, kept, tmp_path):
    results, file = kept
    OLDER[which](tmp_path / "out")
    file.unlink()
    opened = wb.open_results("out")
    order = ["policy.placement", "seed"]
    columns = ["policy.placement", "seed", "drain_cycles", "twice"]
    expected, table = (one.table[columns].sort_values(order).to_dict("list") for one in (results, opened))
    assert table == expected
    evil = next(point for point in opened.points if opened.label(point) == "evil")
    assert opened.label(opened.baseline_of(evil)) == "first_fit"
    assert len(opened.summary()) == len(results.summary())


def test_a_stranger_s_provenance_breaks_nothing(kept, tmp_path):
    OLDER["of a stranger who wrote nonsense"](tmp_path / "out")
    kept[1].unlink()
    assert main(["results", "out"]) in (0, 2)


def test_seeds_until_a_measure_of_a_file_is_decided(kept, tmp_path):
    until = {"measure": "evil.py:twice", "half_width": 0.5, "at_most": 12, "batch": 6}
    sweep = {**BOTH, "seeds": {"until": until}}
    (tmp_path / "mine" / "u.yaml").write_text(yaml.safe_dump(sweep))
    results = wb.run("mine/u.yaml", "until", workers=0)
    forgotten()
    shutil.rmtree(tmp_path / "mine")
    opened = wb.open_results("until")
    assert opened.seeds == results.seeds
    assert opened.table.to_dict("list") == results.table.to_dict("list")


def test_two_classes_of_one_name_are_told_apart(kept, tmp_path):
    (tmp_path / "mine" / "other.py").write_text(
        (tmp_path / "mine" / "evil.py").read_text().replace("length, 0", "length, 1")
    )
    sweep = {**BOTH, "policy": {"placement": {"vary": ["evil.py:Evil", "other.py:Evil"]}}, "measures": ["drain_cycles"]}
    (tmp_path / "mine" / "two.yaml").write_text(yaml.safe_dump(sweep))
    wb.run("mine/two.yaml", "two", workers=0)
    without("coordinates")(tmp_path / "two")
    forgotten()
    shutil.rmtree(tmp_path / "mine")
    opened = wb.open_results("two")
    assert len({opened.label(point) for point in opened.points}) == len(opened.points) == 3
