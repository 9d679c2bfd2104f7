"""The first use of an engine says that it is compiled, and about how long, before any rate, in every command."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
from contextlib import redirect_stderr
from pathlib import Path

import pytest
import yaml

import workbench as wb
from tests.recorded_snapshots import Recorder
from tests.slow import compiled_only, thinned
from tests.waiting import wait_until
from workbench import cli
from workbench.cli.commands import Command
from workbench.compiled import kernel
from workbench.experiments.compile_ahead import compile_later
from workbench.experiments.progress import LogLines, Pace, Silent
from workbench.mechanisms import compilation
from workbench.process import COMPILING, working_clock

SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": {"vary": ["first_fit", "best_fit"]}},
    "seeds": 2,
    "measures": ["drain_cycles"],
}
STUDY = {
    **SWEEP,
    "policy": {"placement": {"tune": ["first_fit", "best_fit", "worst_fit", "last_fit"]}},
    "baseline": {"placement": "first_fit"},
    "objectives": ["drain_cycles"],
    "sampler": {"random": {"seed": 1}},
    "trials": 4,
    "holdout_seeds": 2,
}
del STUDY["measures"]
DESIGN = {
    **SWEEP,
    "workload": {"regime": "large_uniform", "count": {"vary": {"from": 10, "to": 30}}},
    "policy": {"placement": "first_fit"},
    "design": {"morris": {"trajectories": 2, "seed": 1}},
}
SENTENCE = "compiling the engine shared_memory, once, about 10 s"


@pytest.fixture
def cold(monkeypatch, tmp_path):
    """A process on a machine on which no engine has been run."""
    monkeypatch.setattr(compilation, "_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(compilation, "_warm", set())
    monkeypatch.setattr(compilation, "_said", set())
    monkeypatch.setattr(compilation, "INTERPRETED", False)
    monkeypatch.setattr(compilation, "_share", lambda: 1.0)
    monkeypatch.setattr(compilation, "_memory", lambda: tmp_path / "compile_seconds.json")
    return tmp_path


class Lines(Silent):
    """What is said, in order, with the beginning of the runs between."""

    def __init__(self):
        self.lines = []

    def say(self, line):
        self.lines.append(line)

    def begin(self, total, kept):
        self.lines.append("begin")


@pytest.mark.parametrize("options", [{"workers": 1}, {}, {"workers": 2, "executor": "threads"}], ids=str)
def test_it_is_said_once_and_before_the_first_run(cold, options):
    watch = Lines()
    wb.run(SWEEP, progress=watch, **options)
    wb.run(SWEEP, progress=watch, **options)
    assert watch.lines == [SENTENCE, "begin", "begin"]


def test_an_engine_that_is_compiled_is_not_announced(cold):
    (cold / "cache").mkdir()
    compilation._marker("shared_memory").touch()
    watch = Lines()
    wb.run(SWEEP, workers=1, progress=watch)
    assert watch.lines == ["begin"]


def test_where_a_measure_was_edited_it_is_not_said_that_the_engine_is_compiled(cold):
    (cold / "cache").mkdir()
    compilation._engine_marker("dispatch").touch()
    messages = []
    compilation.say_compiling("dispatch", messages.append)
    assert messages == ["compiling the measures of the engine dispatch, once"]


def test_interpreted_nothing_is_compiled_and_nothing_is_said(cold, monkeypatch):
    monkeypatch.setattr(compilation, "INTERPRETED", True)
    watch = Lines()
    wb.run(SWEEP, workers=1, progress=watch)
    assert watch.lines == ["begin"]


def test_the_seconds_are_those_of_the_last_time_here(cold):
    compilation._remember("shared_memory", 73.24)
    compilation._remember("dispatch", 0.2)  # somebody else had compiled it: nothing is learned
    assert json.loads((cold / "compile_seconds.json").read_text()) == {"shared_memory": 73.2}
    messages = []
    compilation.say_compiling("shared_memory", messages.append)
    compilation.say_compiling("dispatch", messages.append)
    compilation.say_compiling("toy", messages.append)
    assert messages == [
        "compiling the engine shared_memory, once, about 73 s",
        "compiling the engine dispatch, once, about 25 s",
        "compiling the engine toy, once",
    ]
    (cold / "compile_seconds.json").write_text("[not json")
    assert compilation._seconds_here() == {}


def test_the_seconds_grow_with_the_processes_that_want_a_core(cold, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(compilation.os, "getloadavg", lambda: (7.0, 0.0, 0.0))
    monkeypatch.setattr(compilation.os, "cpu_count", lambda: 2)
    assert compilation._share() == 4.0
    monkeypatch.setattr(compilation, "_share", lambda: 4.0)
    monkeypatch.setattr(compilation, "_folder", lambda: cold / "cache")
    monkeypatch.setattr(compilation, "_memory", lambda: cold / "compile_seconds.json")
    compilation._remember("dispatch", 25.0)
    assert compilation._sentence("dispatch") == "compiling the engine dispatch, once, about 100 s"


HOLDER = (
    "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, 2); print('held', flush=True); "
    "time.sleep(600)"  # stands for a process that compiles for long
)


@pytest.fixture
def holder(cold):
    """Another process that holds the lock of the engine dispatch, as one that compiles it does."""
    (cold / "cache").mkdir()
    command = [sys.executable, "-c", HOLDER, str(compilation._lock("dispatch"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_run_waits_for_another_process_that_compiles_its_engine_and_the_wait_counts_as_compiling(holder):
    messages, ran = [], []
    compilation.say_compiling("dispatch", messages.append)
    assert messages == ["waiting for another process that compiles the engine dispatch, once, about 25 s in all"]

    def run():
        with compilation.first_run("dispatch"):
            ran.append("dispatch")

    waits = threading.Thread(target=run)
    waits.start()
    wait_until(lambda: COMPILING._busy, what="the wait for the lock")
    assert ran == []
    holder.kill()  # as in a crash: the lock of a dead process is free
    waits.join()
    assert ran == ["dispatch"]
    assert compilation.is_compiled("dispatch")


def test_engines_of_later_sweeps_are_compiled_ahead_and_what_fails_or_has_code_is_left_out(cold):
    (cold / "mine.yaml").write_text("engine: dispatch\nworkload: {'mine.py:Mine': {}}\n")
    (cold / "mine.py").write_text(f"open({str(cold / 'executed')!r}, 'w')")
    (cold / "wrong.yaml").write_text("engine: none\n")
    sweeps = ["sweeps/placement/drain.yaml", "sweeps/placement/six_open_gpus.yaml", "sweeps/dispatch/head_of_line.yaml"]
    compile_later([str(cold / "none.yaml"), *sweeps[:2], str(cold / "mine.yaml"), str(cold / "wrong.yaml"), sweeps[2]])
    assert [name for name in compilation.USUAL_SECONDS if compilation.is_compiled(name)] == ["dispatch"]
    assert not (cold / "executed").exists()


def test_every_engine_of_the_package_has_its_seconds():
    from workbench.mechanisms.mechanism import mechanisms

    assert set(compilation.USUAL_SECONDS) <= set(mechanisms())
    assert {name for name in mechanisms() if name.startswith(tuple(compilation.USUAL_SECONDS))} == set(
        compilation.USUAL_SECONDS
    )


def snapshot(folder):
    """A little recorded memory."""
    made = Recorder()
    for size in (100_000, 200_000):
        made.alloc(0, size)
    (folder / "own.pickle").write_bytes(pickle.dumps(made.snapshot()))


COMMANDS = {
    "run": ["sweep.yaml", "--out", "out"],
    "tune": ["study.yaml", "--out", "out"],
    "claims": ["H1.1", "--seeds", "2"],
    "explain sensitivity": ["design.yaml", "--out", "out"],
    "trace replay": ["own.pickle", "--cache", "no_cache", "--machine", "dgx_1v"],
}


@pytest.mark.parametrize("name", thinned([*COMMANDS], 4))
def test_a_command_that_runs_says_it_first_of_all(cold, capsys, monkeypatch, name):
    monkeypatch.chdir(cold)
    for file, message in (("sweep", SWEEP), ("study", STUDY), ("design", DESIGN)):
        Path(f"{file}.yaml").write_text(yaml.safe_dump(message))
    snapshot(cold)
    assert cli.main([*name.split(), *COMMANDS[name], "--workers", "1"]) in (0, 1)
    first = capsys.readouterr().err.splitlines()[0].removeprefix("compiling the engine ")
    engines = {"pool": 35, "torch_allocator": 20}  # a replay runs both; which is first, who ran before it decides
    expected = engines if name == "trace replay" else {"shared_memory": 10}
    assert first in [f"{engine}, once, about {seconds} s" for engine, seconds in expected.items()]


@pytest.mark.parametrize(
    ("compiled", "marked", "said"),
    [
        ("workbench.engines.dispatch.loop", [], ["compiling the engine dispatch, once, about 25 s"]),
        ("workbench.engines.shared_memory_loop", [], [SENTENCE]),
        ("workbench.engines.dispatch.loop", ["dispatch"], ["compiling more of the engine dispatch, once"]),
        ("workbench.metrics.pool", [], []),
        ("workbench.structures.bitmaps", [], []),
    ],
)
def test_whatever_a_command_compiles_beyond_plans_is_said_too(cold, capsys, monkeypatch, compiled, marked, said):
    (cold / "cache").mkdir()
    for engine in marked:
        compilation._marker(engine).touch()

    def run(given):
        for _ in range(2):
            COMPILING.compiles(compiled)
        return 0

    command = Command("bench", "Stands in for a command that compiles.", lambda parser: None, run)
    monkeypatch.setattr(sys.modules["workbench.cli.commands"], "find", lambda name: command)
    assert cli.main(["bench"]) == 0
    assert capsys.readouterr().err.splitlines() == said
    COMPILING.compiles(compiled)  # after the command nobody is told
    assert capsys.readouterr().err == ""


@compiled_only
def test_what_numba_compiles_is_reported_and_stops_the_clock():
    modules, clocks = [], []

    def tell(module):
        modules.append(module)
        clocks.append(working_clock())

    def twice(number):
        return 2 * number

    before = COMPILING.seconds()
    with COMPILING.told(tell):
        fresh = kernel(twice)
        assert fresh(4) == 8
        fresh(5)
    assert modules == [__name__]
    assert COMPILING.seconds() > before


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def test_no_time_left_is_said_from_the_first_run():
    clock = Clock()
    pace = Pace(400, 0, clock)
    clock.now += 47  # the engine is compiled
    pace.count(failed=False)
    assert pace.line() == "1 of 400 runs"
    clock.now += 0.01  # of the same bundle
    pace.count(failed=False)
    assert pace.line() == "2 of 400 runs"
    for _ in range(4):
        clock.now += 0.5
        pace.count(failed=False)
    assert pace.line() == "6 of 400 runs, 2.0/s, 3 min 18 s left"


def test_the_clock_of_a_pace_stands_still_while_this_process_compiles():
    pace = Pace(10, 0)
    assert pace._clock is working_clock
    before = working_clock()
    COMPILING.begins()
    try:
        first, second = working_clock(), working_clock()
        assert first == pytest.approx(second, abs=1e-3)
    finally:
        COMPILING.ends()
    assert working_clock() >= before


@pytest.mark.slow
def test_a_finished_tune_does_not_end_on_what_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.experiments.progress.LOG_SECONDS", 0.0)
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(STUDY))
    with open(tmp_path / "log", "w") as log, redirect_stderr(log):
        assert cli.main(["tune", str(tmp_path / "study.yaml"), "--out", str(tmp_path / "out"), "--workers", "1"]) == 0
    lines = (tmp_path / "log").read_text().splitlines()
    (last,) = [line for line in lines if "were not needed" in line]
    assert last.startswith("6 runs, 2 of 8 were not needed")
    assert "left" not in last


def test_a_sweep_that_is_stopped_half_way_says_how_far_it_came(capsys):
    watch = LogLines()
    watch._next = 0.0
    watch.begin(10, 0)
    results = wb.run(SWEEP, workers=1)
    for row in results.rows.values():
        watch.advance(row)
    watch.end()
    assert capsys.readouterr().err.splitlines()[-1].startswith("4 of 10 runs")
