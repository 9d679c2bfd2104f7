"""What a landing proves follows from the ledger, covers dear and long tests in turn, and tells old faults from new."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from tests import rotation, turns
from tests.depth import long, seeds
from tests.rotation import JOBS, PARTS, ROOT, SHARDS, Ledger, breaks, keep_part, ledger_of, part_of, passes, record
from workbench.mechanisms.mechanism import mechanism, mechanisms


def ledger(*landings):
    return Ledger([{"commit": f"{k:040}", "date": "", "parts": parts} for k, parts in enumerate(landings)], [])


def test_the_parts_proven_longest_ago_are_due_the_first_of_several():
    assert ledger().due() == [SHARDS[0], "site"]
    assert ledger([SHARDS[0], "site"], [SHARDS[1], "tex"]).due() == [SHARDS[2], "notebooks"]
    everything = ledger(PARTS, [SHARDS[0], SHARDS[2], "site", "notebooks", "wheel"])
    assert everything.due() == [SHARDS[1], "kills"]


def test_all_parts_are_due_within_as_many_landings_as_there_are_shards():
    rows = []
    for _ in SHARDS:
        rows.append(ledger(*rows).due())
    assert {part for row in rows for part in row} == set(PARTS)
    assert ledger(*rows).due()[0] == SHARDS[0]
    assert rotation.report(ledger(*rows))[-3] == "Nothing is older than 12 landings."
    assert rotation.report(ledger(PARTS))[-2] == "All is fresh for a release."
    assert rotation.report(ledger(*rows, *[rows[1]] * 2))[-3] == f"Old: {SHARDS[0]}."


def test_every_test_belongs_to_one_part_and_shards_are_of_like_size():
    names = [f"tests/engines/test_pool.py::test_one[{seed}]" for seed in range(12000)]
    counts = Counter(map(part_of, names))
    assert set(counts) <= set(PARTS)
    assert all(900 < counts[shard] < 1100 for shard in SHARDS)
    assert part_of("tests/papers/test_paper.py::test_one") == "tex"
    assert part_of("tests/docs/test_site.py::test_one") == "site"
    assert part_of("tests/documents.py::test_one") in SHARDS


@pytest.mark.parametrize("job", [job for job in JOBS if JOBS[job]])
def test_the_files_of_a_job_are_there_and_it_collects_them(job):
    for place in JOBS[job]:
        assert (ROOT / "tests" / place).exists()
    (one,) = passes(job)
    assert all((ROOT / name).is_dir() for name in one.selection if name.startswith("tests/"))
    assert {f"tests/{place.partition('/')[0]}" for place in JOBS[job]} == {
        name for name in one.selection if name.startswith("tests/")
    }


def test_the_job_of_bounds_runs_a_twin_of_each_engine_that_is_there():
    (one,) = passes("bounds")
    files = " ".join(one.selection)
    assert [engine for engine in mechanisms() if f"/{engine}/" not in files and f"/test_{engine}" not in files] == []
    for name in one.selection:
        file, _, test = name.partition("[")[0].partition("::")
        assert (ROOT / file).is_file() and f"def {test}" in (ROOT / file).read_text(), name


LEAVES_NOTHING_OUT = {"torch_allocator"}
"""Requests have no time, and are served one by one."""
IN_THE_TWIN = {"pool"}
"""What the engine leaves out are tries of who waits, which its twin makes."""


def test_an_engine_that_skips_is_compared_with_itself_where_it_skips_nothing():
    own = {name for name in mechanisms() if type(mechanism(name).engine).__module__.startswith("workbench.")}

    def having(line, room):
        files = [path for path in room.rglob("*.py") if line in path.read_text()]
        firsts = [file.relative_to(room).parts[0].removeprefix("test_") for file in files]
        return {engine for engine in own if any(first.startswith(engine) for first in firsts)}

    skipping = own - LEAVES_NOTHING_OUT
    assert having("\nSKIPS = 1\n", ROOT / "workbench/engines") == skipping - IN_THE_TWIN
    assert having("\ndef test_skipping_changes_nothing(", ROOT / "tests/engines") == skipping


@long
def test_pytest_finds_what_the_job_of_bounds_names():
    (one,) = passes("bounds")
    command = [sys.executable, "-m", "pytest", "--collect-only", *one.arguments, *one.selection]
    run = subprocess.run(command, cwd=ROOT, env={**os.environ, **one.environment}, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
    assert all(name in run.stdout for name in one.selection)


@pytest.mark.parametrize(
    ("checked", "ends"), [(True, "IndexError: index is out of bounds"), pytest.param(False, "done", marks=long)]
)
def test_a_read_behind_an_array_ends_the_job_of_bounds_alone(checked, ends):
    """The program reads ten words, in a kernel that a routine calls, of eight that lie in an array of sixteen."""
    (one,) = passes("bounds")
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", **(one.environment if checked else {})}
    run = subprocess.run(
        [sys.executable, "-c", READS_BEHIND], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert (run.stdout + run.stderr).strip().splitlines()[-1] == ends


READS_BEHIND = """
import numpy as np
from workbench.compiled import kernel, routine

def read(words, at):
    return words[at]

read = kernel(read)

def add_up(words, count):
    total = 0
    for at in range(count):
        total += read(words, at)
    return total

routine(add_up)(np.zeros(16, np.int64)[:8], 10)
print("done")
"""


class Config:
    """What a run is told, and what it is told of the tests that a part leaves out."""

    def __init__(self, **options):
        self.hook, self.left_out, self.options = self, [], options

    def getoption(self, name, default):
        return self.options.get(name.removeprefix("--"), default)

    def pytest_deselected(self, items):
        self.left_out = [item.nodeid for item in items]


def test_a_part_keeps_its_tests_alone_and_all_keeps_all():
    names = [f"tests/test_units.py::test_one[{seed}]" for seed in range(50)]
    items = [type("Item", (), {"nodeid": name})() for name in names]
    keep_part(Config(), items)
    assert len(items) == 50
    config = Config(part=SHARDS[2])
    keep_part(config, items)
    assert [item.nodeid for item in items] == [name for name in names if part_of(name) == SHARDS[2]]
    assert len(config.left_out) + len(items) == 50


def test_a_dear_test_has_its_turn_at_one_landing_in_three_and_a_cheap_one_at_each(monkeypatch):
    dear = [f"tests/test_units.py::test_one[{seed}]" for seed in range(90)]
    names = [
        *dear,
        "tests/browser/test_voila.py::test_a",
        "tests/browser/test_voila.py::test_b",
        "tests/test_b.py::test_c",
    ]
    table = {name: turns.Dear(k % 3, 1.0) for k, name in enumerate([*dear, "tests/browser/test_voila.py"])}
    monkeypatch.setattr(turns, "dear", lambda text: table)
    ran = Counter()
    for landing in range(3):
        monkeypatch.setattr(turns, "ledger_of", lambda landing=landing: ledger(*[["site"]] * (7 + landing)))
        config = Config(turn="due")
        items = [SimpleNamespace(nodeid=name) for name in names]
        turns.keep_turn(config, items)
        ran.update(item.nodeid for item in items)
        assert len(config.left_out) + len(items) == len(names)
        assert turns.waiting(config).startswith(f"{len(config.left_out)} dear tests")
        assert sum(item.nodeid in dear for item in items) == 30
        assert sum("voila" in item.nodeid for item in items) in (0, 2)
    assert ran == Counter(names) + Counter({names[-1]: 2})
    items = [SimpleNamespace(nodeid=name) for name in names]
    turns.keep_turn(config := Config(), items)
    assert len(items) == len(names) and not turns.waiting(config)


def test_a_file_whose_fixtures_are_dear_waits_as_a_whole():
    measured = [
        {"a.py::one": [2.0, 0.1], "a.py::two": [0.0, 0.3], "b.py::one": [0.2, 0.5], "b.py::two": [0.1, 0.4]},
        {"b.py::one": [0.3, 0.7], "c.py::one": [0.0, 0.1], f"{turns.ALWAYS[0]}::one": [2.0, 9.0]},
    ]
    assert turns.table(measured, {}) == "0 2.4 a.py\n1 0.7 b.py::one\n"
    assert turns.table(measured, {"b.py::one": turns.Dear(0, 9.0)}) == "1 2.4 a.py\n0 0.7 b.py::one\n"


def test_what_has_turns_is_there():
    for name in turns.dear((ROOT / turns.TABLE).read_text()):
        file, *within = name.partition("[")[0].split("::")
        assert (ROOT / file).is_file(), name
        assert not within or re.search(rf"(def|class) {within[0]}\b", (ROOT / file).read_text()), name


def test_each_rotation_has_other_seeds_behind_the_gate_s(monkeypatch):
    def values():
        return [one if isinstance(one, int) else one.values[0] for one in seeds(4, 10, known=[77])]

    blocks = []
    for number in (0, 1, 2):
        monkeypatch.setattr("tests.depth.ROTATION", number)
        assert values()[:5] == [0, 1, 2, 3, 77]
        blocks.append(values()[5:])
    assert [*blocks[0], *blocks[1], *blocks[2]] == [*range(4, 34)]


def test_what_fails_at_the_last_landing_too_is_known_and_what_the_change_breaks_is_not():
    names = [f"tests/test_units.py::test_one[{seed}]" for seed in range(4)]
    before = {names[1], names[2]}.__contains__
    assert breaks(names, [names[0]], before) == ([names[3]], [names[1], names[2]])
    assert breaks([], [], before) == ([], [])
    job = "tests/papers/test_paper.py::test_one"
    assert breaks([job], [], lambda name: True) == ([job], [])
    many = [f"tests/test_units.py::test_one[{seed}]" for seed in range(30)]
    assert breaks(many, [], lambda name: True) == (many, [])


def test_names_of_failures_are_written_where_the_run_asks_for_them(tmp_path):
    stats = {
        "failed": [SimpleNamespace(nodeid="b")],
        "error": [SimpleNamespace(nodeid="a"), SimpleNamespace(nodeid="b")],
    }
    rotation.write_failures(Config(), stats)
    rotation.write_failures(Config(failures=str(tmp_path / "failures")), stats)
    assert (tmp_path / "failures").read_text() == "b\na\n"


@pytest.fixture
def history(monkeypatch, tmp_path):
    """A repository of its own with three commits: the ledger's, and two landings."""

    def git(*words):
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()

    (tmp_path / "tests").mkdir()
    (tmp_path / rotation.LEDGER).write_text(json.dumps(ledger(PARTS)._asdict()))
    git("init", "-q")
    commits = []
    for number in range(3):
        (tmp_path / "code").write_text(str(number))
        git("add", ".")
        git("commit", "-q", "-m", "step")
        commits.append(git("rev-parse", "HEAD"))
    monkeypatch.setattr(rotation, "ROOT", tmp_path)
    return commits


def test_a_landing_is_entered_once_with_what_its_parent_made_due(history):
    record(history[1], 1200.0)
    record(history[1])
    made = ledger_of()
    assert len(made.landings) == 2
    assert made.landings[1] | {"date": ""} == {
        "commit": history[1],
        "date": "",
        "seconds": 1200.0,
        "parts": [SHARDS[0], "site"],
    }
    assert made.due() == [SHARDS[1], "notebooks"]
    record(history[2], 4000.0, PARTS)
    assert rotation.report(ledger_of())[-2] == "All is fresh for a release."


def test_a_run_can_be_repeated_and_an_amended_message_changes_nothing(history, tmp_path):
    due = rotation.parent_ledger().due()
    record(history[2])  # of this landing itself, not committed yet
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--amend", "-m", "other words"],
                   cwd=tmp_path, check=True)  # fmt: skip
    assert rotation.parent_ledger().due() == due


def test_what_the_history_lacks_is_compared_with_the_parent(history):
    assert rotation.last_landing(ledger_of()) == "HEAD^"
    record(history[1])
    assert rotation.last_landing(ledger_of()) == history[1]


def test_the_ledger_of_this_tree_is_sound():
    here = ledger_of()
    for row in here.landings:
        assert {"commit", "date", "seconds", "parts"} == set(row)
        assert len(row["commit"]) == 40
        assert set(row["parts"]) - {f"shard {number}" for number in range(1, 9)} <= set(PARTS)  # eight at first
    assert all({"test", "rotation"} <= set(row) for row in here.known)


def test_an_unknown_word_shows_how_it_is_used(capsys):
    assert rotation.main(["shards"]) == 0
    assert "python -m tests.rotation ci" in capsys.readouterr().out
