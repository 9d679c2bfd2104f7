"""Shards of a sweep that names code: gathered without executing it, and signed if the user has signed every one."""

from __future__ import annotations

import json

import pytest
import yaml

import workbench as wb
from tests.trust.strangers import KINDS, SWEEP, forgotten, written
from workbench.cli.main import main
from workbench.errors import StoreError

SIGNED = "it is signed, as you have signed every shard."


@pytest.fixture
def mark(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STRANGERS_MARK", str(tmp_path / "mark"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    yield tmp_path / "mark"
    forgotten()


@pytest.fixture
def shards(mark, tmp_path):
    """Run the shards of a sweep with code of some kind, and forget the code."""

    def made(kind, count=2, **options):
        written(tmp_path / "own")
        (tmp_path / "own" / "s.yaml").write_text(yaml.safe_dump({**SWEEP, **KINDS[kind]}))
        for number in range(1, count + 1):
            wb.run("own/s.yaml", f"shards/{number}", shard=f"{number}/{count}", **options)
        forgotten()
        mark.unlink()

    return made


@pytest.mark.parametrize("kind", KINDS)
def test_gathering_executes_no_code_and_its_result_opens_as_that_of_one_driver(kind, shards, mark, capsys):
    shards(kind, workers=0)
    assert main(["gather", "shards/1", "shards/2", "--out", "all"]) == 0
    assert not mark.exists()
    assert SIGNED in capsys.readouterr().out
    gathered = wb.open_results("all")
    assert mark.exists() and not gathered.code_notes
    whole = wb.run("own/s.yaml", "whole", workers=0)
    assert gathered.table.equals(whole.table)
    facts = [json.loads((mark.parent / one / "provenance.json").read_text()) for one in ("all", "whole")]
    assert {**facts[0], "origins": ""} == {**facts[1], "origins": ""}
    assert wb.run("own/s.yaml", "all", workers=0).checked.rows == whole.checked.rows
    assert not [*mark.parent.joinpath("all", "rows").glob("*.rows")][2:]


@pytest.mark.parametrize("lost", ["1", "2"])
def test_without_the_signature_of_every_shard_there_is_none_and_it_is_said(lost, shards, mark, capsys):
    shards("policy", workers=0)
    (mark.parent / "shards" / lost / ".trusted").unlink()
    assert main(["gather", "shards/1", "shards/2", "--out", "all", "--json"]) == 0
    reply = json.loads(capsys.readouterr().out)
    assert reply["signature"] == (
        f"it is not signed, as you have not signed shards/{lost}; `workbench trust all` lists and signs it."
    )
    assert wb.open_results("all").code_notes
    assert not mark.exists()
    assert main(["trust", "all", "--yes"]) == 0
    assert not wb.open_results("all").code_notes


def test_the_signature_of_another_user_does_not_count(shards, mark, monkeypatch, capsys):
    shards("policy", workers=0)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(mark.parent / "another"))
    assert main(["gather", "shards/1", "shards/2", "--out", "all"]) == 0
    assert "it is not signed, as you have not signed shards/1; " in capsys.readouterr().out
    assert not (mark.parent / "all" / ".trusted").exists()


def test_code_that_two_shards_signed_unlike_is_signed_by_none(shards, mark, capsys):
    shards("policy", workers=0)
    (mark.parent / "own" / "beside.py").write_text("REACH = 4  # of no effect\n")
    assert main(["trust", "shards/2", "--yes"]) == 0
    capsys.readouterr()
    assert main(["gather", "shards/1", "shards/2", "--out", "all"]) == 0
    assert "it is not signed: beside.py was edited between two shards; `workbench trust all`" in capsys.readouterr().out


def test_an_edited_policy_makes_another_sweep(shards, mark):
    shards("policy", workers=0)
    code = mark.parent / "own" / "evil.py"
    code.write_text(code.read_text().replace("see.length, 0)", "see.length, 1)"))
    with pytest.raises(StoreError, match=r"shards/2 holds shard 2 of 2 of another sweep: a key, a file that is named"):
        wb.run("own/s.yaml", "shards/2", shard="2/2", workers=0)


def test_rows_that_were_repeated_are_checked_in_the_gathered_folder(shards, mark):
    shards("policy", count=3, workers=1, repeat=True)  # each has other seeds, and repeats one of its own
    assert main(["gather", "shards/1", "shards/2", "shards/3", "--out", "all"]) == 0
    checked = wb.open_results("all").checked
    assert checked.checked == checked.rows == 6 and checked.repeated >= 3
