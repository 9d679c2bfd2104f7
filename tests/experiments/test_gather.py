"""Shards that were run by four drivers, one of them killed and one doubled, are gathered into what one driver makes."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import workbench as wb
from tests.experiments.stores import edited
from tests.waiting import wait_until
from workbench.cli.main import main
from workbench.errors import InputError, StoreError
from workbench.experiments.shard_merge import gather_shards
from workbench.experiments.store import Store

ROOT = Path(wb.__file__).parent.parent
SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": {"vary": [20, 30, 40]}},
    "policy": {"placement": {"vary": ["first_fit", "best_fit"]}},
    "baseline": {"placement": "worst_fit"},
    "measures": ["drain_cycles", "mean_queue"],
    "seeds": 8,
}
SLOW = """
import sys, time
from workbench.experiments.store import Store
add = Store.add
def late(self, row):
    add(self, row)
    time.sleep(0.05)  # stands for a run that takes its time
Store.add = late
"""
"""Keeps a driver at work for long enough to be killed."""
MAIN = "import sys\nfrom workbench.cli.main import main\nsys.exit(main(sys.argv[1:]))"
NOT_A_RESULT = ("driver.lock", ".own.json")


def words(number: int, folder: str) -> list[str]:
    """Return the command of the driver of a shard of four."""
    return ["run", "drain.yaml", "--shard", f"{number}/4", "--out", folder, "--workers", "1"]


def start(place: Path, number: int, folder: str, before: str = "") -> subprocess.Popen[bytes]:
    """Start the driver of a shard of four."""
    return subprocess.Popen(
        [sys.executable, "-c", before + MAIN, *words(number, folder)],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_four_drivers_one_killed_and_one_doubled_make_what_one_driver_makes(tmp_path, monkeypatch):
    """Three are processes of their own, and run at the same time as the fourth."""
    (tmp_path / "drain.yaml").write_text(json.dumps(SWEEP))
    monkeypatch.chdir(tmp_path)
    killed = start(tmp_path, 2, "2", SLOW)
    others = [start(tmp_path, 3, folder) for folder in ("3", "3 again")]
    assert [main(words(number, str(number))) for number in (1, 4)] == [0, 0]
    wait_until(lambda: [*(tmp_path / "2" / "rows").glob("*.rows")] and wb.status(tmp_path / "2").done > 2)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    kept = wb.status(tmp_path / "2").done
    assert [one.wait() for one in others] == [0, 0]
    with pytest.raises(StoreError, match=rf"shard 2 of 4 lacks {18 - kept} of its 18 runs; go on with: workbench run"):
        wb.gather(["1", "2", "3", "3 again", "4"], "all")
    assert not Path("all").exists()
    assert main(words(2, "2")) == 0
    assert len([*Path("2", "rows").iterdir()]) == 2
    folder = wb.gather(["4", "2", "3 again", "1", "3"], "all")
    whole = wb.run("drain.yaml", "whole", workers=0)
    gathered = wb.open_results(folder)
    assert gathered.table.equals(whole.table)
    assert gathered.summary().equals(whole.summary())
    assert gathered.sentences() == whole.sentences()
    for name in ("results.parquet", "sweep.yaml"):
        assert (folder / name).read_bytes() == Path("whole", name).read_bytes()
    facts = [json.loads(Path(one, "provenance.json").read_text()) for one in ("all", "whole")]
    assert {**facts[0], "origins": ""} == {**facts[1], "origins": ""}
    assert same_but_for_time("all") == same_but_for_time("whole")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def same_but_for_time(folder: str):
    """Return the rows of a folder without when they were made, and how long that took."""
    store = Store(Path(folder), read_only=True)
    rows = [row._replace(seconds=0.0, at=None, origin="") for row in store.kept()]
    return rows, store.identities(), store.meta()["sweep"], store.meta()["format"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Three shards that are done, to be copied."""
    place = tmp_path_factory.mktemp("made")
    for number in (1, 2, 3):
        wb.run(SWEEP, place / str(number), shard=f"{number}/3", workers=0)
    return place


@pytest.fixture
def shards(made, tmp_path, monkeypatch):
    """A working folder with three shards that are done."""
    for number in "123":
        shutil.copytree(made / number, tmp_path / number)
    monkeypatch.chdir(tmp_path)
    return tmp_path


ALL = ("1", "2", "3")


def refused(folders=ALL, out="all") -> str:
    """Return the sentence by which gathering is refused, after a look that nothing was written."""
    before = sorted(Path().rglob("*"))
    with pytest.raises((StoreError, InputError)) as problem:
        gather_shards([Path(one) for one in folders], Path(out))
    assert sorted(Path().rglob("*")) == before
    return str(problem.value)


def test_a_gathered_folder_is_an_ordinary_one(shards, capsys):
    assert main(["gather", *ALL, "--out", "new/all"]) == 0
    assert capsys.readouterr().out == (
        "3 shards: all 72 runs of 9 points are in new/all\nlook at them with: workbench results new/all\n"
    )
    before = (shards / "new/all/results.parquet").read_bytes()
    again = wb.run(SWEEP, "new/all", workers=0)
    assert len(again.rows) == 72
    assert len([*Path("new/all/rows").iterdir()]) == 2
    assert Store(Path("new/all"), read_only=True).count() == 72
    assert (shards / "new/all/results.parquet").read_bytes() == before
    assert wb.status("new/all").sentence.startswith("sweep: 72 of 72 runs done, 0 failed")
    assert main(["export", "new/all", "--to", "paper"]) == 0
    assert main(["verify", "paper", "--runs", "2", "--no-figures"]) == 0


def test_points_stand_in_the_order_of_the_whole_sweep(tmp_path):
    workload = {"regime": "large_uniform", "count": {"vary": [20, 30, 40, 50, 60]}}
    sweep = {**SWEEP, "workload": workload, "seeds": 2}
    parts = [wb.run(sweep, tmp_path / str(k), shard=f"{k}/2", workers=0).folder for k in (1, 2)]
    gathered = wb.gather(parts, tmp_path / "all")
    wb.run(sweep, tmp_path / "whole", workers=0)
    for name in ("results.parquet", "sweep.yaml"):
        assert (gathered / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_missing_shards_are_named(shards):
    sentence = "is missing; run: workbench run SWEEP --shard 2/3 --out DIR, and name its folder too."
    assert refused(["1", "3"]) == f"shard 2 of 3 {sentence}"
    assert refused(["1", "1"]).startswith("shards 2, 3 of 3 are missing; run: workbench run SWEEP --shard 2/3 --out")


def test_what_is_no_shard_is_refused(shards):
    wb.run(SWEEP, "whole", workers=0)
    assert refused(["1", "whole"]) == "whole holds no shard: it was run without --shard, so there is nothing to gather."
    assert refused(["1", "nowhere"]) == "nowhere is not the folder of a shard: it holds no rows."
    assert refused([]) == "gather takes the folders of all shards."
    Path("2/sweep.yaml").unlink()
    assert refused() == "2 is not the folder of a shard: it has no sweep.yaml."


def test_a_folder_that_is_there_is_not_written_to(shards):
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine")
    Path("file").write_text("mine")
    Path("link").symlink_to("elsewhere")
    for out in ("mine", "1", "file", "link"):
        assert refused(out=out) == f"{out} is there already, and gather writes a new folder; name another one."
    Path("empty").mkdir()
    assert gather_shards([Path(one) for one in ALL], Path("empty")).runs == 72


@pytest.mark.parametrize(
    ("changed", "shard", "sentence"),
    [
        ({}, "2/4", "other is shard 2 of 4, and 1 is shard 1 of 3: gather shards of one number."),
        ({"set": {"machine.segments": 96}}, "2/3", "other is of another sweep than 1: a key, a file that is named or"),
        ({"seeds": 9}, "2/3", "other is of another sweep than 1: a key, a file that is named or an option of the"),
    ],
)
def test_shards_of_another_sweep_or_number_are_refused(shards, changed, shard, sentence):
    wb.run(SWEEP, "other", shard=shard, workers=0, **changed)
    assert refused(["1", "other", "3"]).startswith(sentence)


def with_facts(folder: str, **changed) -> None:
    """Change what a folder keeps of its shard."""

    def change(line):
        if line[:2] == ["meta", "shard"]:
            line[2] = json.dumps({**json.loads(line[2]), **changed})
        return line

    edited(Path(folder), change)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"version": "0.5.9"}, "workbench 0.5.9, not "),
        ({"revision": "7"}, "the engine's revision 7, not "),
        ({"python": '"3.9"'}, 'Python "3.9", not '),
        ({"measured": "5e"}, "the code of measures differs"),
    ],
)
def test_shards_of_other_code_are_refused(shards, changed, what):
    with_facts("2", **changed)
    sentence = refused()
    assert sentence.startswith(f"2 was run by other code than 1 ({what}")
    assert sentence.endswith("again with the code of the other: workbench run 2/sweep.yaml --shard 2/3 --out 2")


def test_a_policy_that_was_edited_between_two_shards_is_refused(shards):
    for number, code in (("1", "8c"), ("2", "9d"), ("3", "8c")):
        with_facts(number, code={"Mine": [code]})
    assert refused().startswith("2 was run by other code than 1 (Mine was edited); run one of them again")


def test_what_a_folder_keeps_of_its_shard_may_be_damaged(shards):
    with_facts("2", points=3)
    assert refused() == "2: what it keeps of its shard cannot be read."


def test_runs_that_are_missing_are_counted_with_the_command_that_does_them(shards):
    gone = []

    def without_two(line):
        if line[0] == "row" and len(gone) < 2:
            gone.append(line[1])
            return None
        return line

    edited(Path("3"), without_two)
    assert refused() == (
        "shard 3 of 3 lacks 2 of its 24 runs; go on with: workbench run 3/sweep.yaml --shard 3/3 --out 3"
    )
    assert main(["run", "3/sweep.yaml", "--shard", "3/3", "--out", "3", "--workers", "0"]) == 0
    assert gather_shards([Path(one) for one in ALL], Path("all")).runs == 72


def as_other(status: str, error: str = "", measures: str | None = None):
    """Return what makes the first row of a folder another one; it is kept in `changed`."""
    changed: list[str] = []

    def change(line):
        if line[0] == "row" and not changed:
            changed.append(line[1])
            line[2][2], line[2][3] = status, error
            line[2][5] = line[2][5] if measures is None else measures
        return line

    return changed, change


def test_a_shard_that_was_done_twice_counts_once(shards):
    shutil.copytree("2", "twice")
    assert gather_shards([Path(one) for one in (*ALL, "twice", "./2")], Path("all")).runs == 72


@pytest.mark.parametrize("twice", [("2", "twice"), ("twice", "2")])
def test_two_results_of_one_run_are_refused_by_its_name(shards, twice):
    shutil.copytree("2", "twice")
    changed, change = as_other("done", measures='{"drain_cycles": 1.0, "mean_queue": 2.0}')
    edited(Path("twice"), change)
    sentence = refused(["1", *twice, "3"])
    assert sentence.startswith(f"run {changed[0]} (seed ")
    values = {"2": r"\d+\.\d in 2 and 1\.0 in twice: ", "twice": r"1\.0 in twice and \d+\.\d in 2: "}
    assert re.search(rf" has drain_cycles {values[twice[0]]}", sentence)


def test_a_run_that_starved_in_one_folder_alone_is_refused(shards):
    shutil.copytree("2", "twice")
    changed, change = as_other("starved", "it waits for ever", "{}")
    edited(Path("twice"), change)
    assert f"run {changed[0]}" in (sentence := refused([*ALL, "twice"]))
    assert " is done in 2 and starved in twice: " in sentence


def test_a_run_that_failed_in_one_folder_is_taken_from_the_other(shards):
    shutil.copytree("2", "twice")
    _, change = as_other("failed", "it took too long", "{}")
    edited(Path("twice"), change)
    assert gather_shards([Path(one) for one in ("1", "twice", "2", "3")], Path("all")).failed == 0


@pytest.mark.parametrize("status", ["failed", "starved"])
def test_failed_and_starved_runs_are_rows_of_the_gathered_folder(shards, capsys, status):
    changed, change = as_other(status, "it waits for ever", "{}")
    edited(Path("2"), change)
    assert main(["gather", *ALL, "--out", "all"]) == 1
    assert "are in all, 1 of them failed\n" in capsys.readouterr().out
    (row,) = wb.open_results("all").failures
    assert (row.id, row.status, row.error) == (changed[0], status, "it waits for ever")


def test_a_withdrawn_run_is_one_that_lacks(shards):
    _, change = as_other("withdrawn", "its file changed", "{}")
    edited(Path("2"), change)
    assert refused().startswith("shard 2 of 3 lacks 1 of its 24 runs")


@pytest.mark.parametrize("key", ["shard", "sweep", "points", "code"])
def test_a_folder_whose_shard_cannot_be_read_is_refused_in_a_sentence(shards, key):
    with_facts("2", **{key: None})
    sentence = "2: what it keeps of its shard cannot be read."
    assert refused() == sentence
    for read in (wb.open_results, wb.status):
        with pytest.raises(StoreError) as problem:
            read("2")
        assert str(problem.value) == sentence
