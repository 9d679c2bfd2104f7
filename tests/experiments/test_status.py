"""What can be said of a sweep while it runs and after it stopped."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress

import pytest

import workbench as wb
from tests.experiments.test_store import row
from tests.waiting import wait_until
from workbench.cli.main import main
from workbench.errors import StoreError
from workbench.experiments.progress import LogLines, NotebookLine, Pace, usual_watcher
from workbench.experiments.results_folder import held
from workbench.experiments.store import Store

SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
    "seeds": 5,
    "measures": ["drain_cycles"],
}


def test_of_a_sweep_that_is_done(tmp_path, monkeypatch):
    wb.run(SWEEP, tmp_path)
    result = wb.status(tmp_path)
    assert (result.runs, result.done, result.failed, result.left, result.alive, result.rate) == (
        10,
        10,
        0,
        0,
        False,
        0.0,
    )
    assert (result.host, result.pid) == (socket.gethostname(), os.getpid())
    store = Store(tmp_path, read_only=True)
    last = max(row.at for row in store.kept())
    store.close()
    with monkeypatch.context() as later:
        later.setattr("workbench.experiments.progress.time.time", lambda: last + 90)
        assert wb.status(tmp_path).last_row_seconds == 90
    wb.run({**SWEEP, "seeds": 3}, tmp_path)
    assert wb.status(tmp_path).done == 6


DRIVER = """
import sys, workbench as wb
wb.run(sys.argv[1], sys.argv[2], workers=1)
"""


@pytest.mark.slow
def test_of_a_driver_that_runs_and_is_then_killed(tmp_path, capsys):
    (tmp_path / "long.yaml").write_text(
        "engine: shared_memory\nworkload: {regime: large_uniform, count: 20000}\nseeds: 2000\n"
    )
    folder = tmp_path / "r"
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path / "long.yaml"), str(folder)])
    try:
        wait_for_a_row(folder)
        running = wb.status(folder)
        with pytest.raises(StoreError, match=f"is in use by process {driver.pid} on {socket.gethostname()}"):
            wb.run(str(tmp_path / "long.yaml"), folder)
    finally:
        driver.kill()
        driver.wait()
    assert (running.runs, running.failed, running.alive, running.pid) == (2000, 0, True, driver.pid)
    assert running.done + running.left == 2000
    assert running.rate > 0
    assert main(["status", str(folder), "--json"]) == 0
    stopped = json.loads(capsys.readouterr().out)
    assert (stopped["alive"], stopped["rate"]) == (False, 0.0)
    assert stopped["done"] >= running.done
    assert main(["status", str(folder)]) == 0
    output = capsys.readouterr().out
    assert output.startswith(f"long: {stopped['done']} of 2000 runs done, 0 failed, {stopped['left']} left, last row ")
    assert output.endswith(f"its driver (process {driver.pid} on {socket.gethostname()}) is not running\n")


def wait_for_a_row(folder) -> None:
    def is_there() -> bool:
        with suppress(StoreError):
            return bool(wb.status(folder).done)
        return False

    wait_until(is_there, what="a row")


def test_of_a_driver_on_another_machine(tmp_path):
    store = Store(tmp_path, "far")
    store.driven(5, 1)
    store.add_all([row(1), row(2, "failed")])
    facts = json.loads(store.meta()["driver"])
    store._rows.add(meta={"driver": json.dumps({**facts, "host": "elsewhere"})})
    store.close()
    result = wb.status(tmp_path)
    assert (result.done, result.failed, result.left, result.alive, result.host) == (2, 1, 2, None, "elsewhere")
    assert "runs elsewhere and cannot be asked" in result.sentence


def test_looking_does_not_disturb_a_driver_that_begins(tmp_path):
    wb.run(SWEEP, tmp_path)
    with held(tmp_path):
        assert wb.status(tmp_path).alive is True
    with held(tmp_path):
        pass


def test_of_a_folder_without_rows(tmp_path):
    with pytest.raises(StoreError, match="is not a results folder: it holds no rows"):
        wb.status(tmp_path)


def test_a_log_gets_a_line_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr("workbench.experiments.progress.LOG_SECONDS", 0.0)
    lines = LogLines()
    lines.begin(3, 1)
    lines.advance(row(1))
    lines.advance(row(2, "failed"))
    lines.end()
    output = capsys.readouterr().err.splitlines()
    assert len(output) == 3
    assert output[1].startswith("3 of 3 runs")
    assert output[1].endswith(", 1 failed")
    assert output[2].endswith(", 1 failed, in 0 s")


def test_a_sweep_that_ends_soon_says_nothing_in_a_log(capsys):
    lines = LogLines()
    lines.begin(3, 1)
    lines.advance(row(1))
    lines.end()
    assert capsys.readouterr().err == ""


def test_a_notebook_shows_one_line_that_changes(monkeypatch):
    displayed = []

    class Handle:
        def update(self, text, raw):
            displayed.append(("update", text["text/plain"]))

    def display(text, raw, display_id):
        displayed.append(("display", text["text/plain"]))
        return Handle()

    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr("workbench.experiments.progress.PATIENCE_SECONDS", 0.0)
    line = NotebookLine()
    line.begin(2, 0)
    line.advance(row(1))
    line.advance(row(2))
    line.end()
    assert [how for how, _ in displayed] == ["display", "update"]
    assert displayed[0][1].startswith("1 of 2 runs")
    assert displayed[1][1].startswith("2 of 2 runs")


def test_who_watches_outside_a_notebook():
    assert type(usual_watcher()).__name__ == "Silent"


def test_who_watches_in_a_notebook(monkeypatch):
    class Shell:
        kernel = None

    monkeypatch.setattr("IPython.get_ipython", lambda: Shell())
    assert isinstance(usual_watcher(), NotebookLine)


def test_the_pace_is_that_of_late():
    now = [0.0]
    pace = Pace(1000, 0, clock=lambda: now[0])
    for second in range(1, 101):
        now[0] = float(second)
        for _ in range(1 if second <= 50 else 4):
            pace.count(failed=False)
    assert 3.9 < pace.rate() < 4.2
    assert pace.line().startswith("250 of 1000 runs, 4.")
    assert " 3 min " in pace.line()
