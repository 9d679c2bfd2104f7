"""Ctrl-C and its like: what is finished is kept and said, the exit status tells the signal, nobody sees a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import workbench as wb
from benchmarks.faults.runs import SWEEP
from tests.waiting import wait_until
from workbench.runs import interrupts

ROOT = Path(wb.__file__).parent.parent

POLICY = """
import time
from pathlib import Path
from workbench import lever
from workbench.policies import Placement

class Sleepy(Placement):
    deaf: bool = lever(False, description="whether it swallows interrupts")
    def parameters(self):
        Path("began").open("a").write("x")
        try:
            time.sleep(0.3)  # stands for a run that takes its time
        except KeyboardInterrupt:
            if not self.deaf:
                raise
        return super().parameters()

    def answer(see):
        return -1 if see.length > see.segments else 0
"""
"""Every run of it fails after a while: its answer grants what is taken."""

MAIN = "import sys\nfrom workbench.cli.main import main\nsys.exit(main(sys.argv[1:]))"


def driver(folder: Path, workers: str, deaf: bool = False) -> subprocess.Popen[str]:
    (folder / "sleepy.py").write_text(POLICY)
    policy = {"sleepy.py:Sleepy": {"deaf": deaf}}
    (folder / "s.yaml").write_text(json.dumps({**SWEEP, "policy": {"placement": policy}, "seeds": 200}))
    command = [sys.executable, "-c", MAIN, "run", "s.yaml", "--out", "r", "--workers", workers]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def runs_began(folder: Path, least: int) -> bool:
    path = folder / "began"
    return path.exists() and len(path.read_text()) >= least


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "workers", "deaf"),
    [
        pytest.param(signal.SIGINT, "0", False, marks=pytest.mark.slow),
        (signal.SIGINT, "0", True),
        pytest.param(signal.SIGINT, "1", False, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, "2", False, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, "2", False, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, "1", False, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_signal_stops_a_sweep_that_says_what_is_kept(tmp_path, number, workers, deaf):
    process = driver(tmp_path, workers, deaf)
    wait_until(lambda: runs_began(tmp_path, 4) or process.poll() is not None)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does: to the workers too
    else:
        process.send_signal(number)
    message = process.communicate(timeout=120)[1]
    assert process.returncode == 128 + number
    assert "Traceback" not in message
    (line,) = [line for line in message.splitlines() if line.startswith("workbench: ")]
    kept = len(wb.open_results(tmp_path / "r").rows)
    assert line == f"workbench: stopped; {kept} of 200 runs are kept in r, and the same command goes on from there."
    assert kept >= 1
    assert not any("KeyboardInterrupt" in row.error for row in wb.open_results(tmp_path / "r").rows.values())


STUBBORN = """
import os, signal, sys, time
import importlib
room = importlib.import_module("workbench.cli.main")
def run(words):
    try:
        print("ready", flush=True)
        time.sleep(1000)  # stands for a sweep
    finally:  # takes its time to end
        print("ending", flush=True)
        while True:
            time.sleep(0.05)  # stands for an end that takes its time
            if os.path.exists(sys.argv[1]):
                break
room._run = run
sys.exit(room.main([]))
"""


def stubborn(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", STUBBORN, str(folder / "enough")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, text=True, stdout=pipe, stderr=pipe)


def test_a_second_signal_is_heard_and_shows_no_traceback(tmp_path):
    process = stubborn(tmp_path)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "ending\n"
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline().startswith("workbench: stopping; what is finished is kept")
    (tmp_path / "enough").touch()
    assert process.communicate(timeout=60)[1] == "workbench: stopped; finished runs of a results folder are kept.\n"
    assert process.returncode == 130


def test_a_third_signal_ends_it_at_once(tmp_path):
    process = stubborn(tmp_path)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == 143


def test_an_interrupt_that_is_held_back_comes_afterwards():
    order = []

    def write() -> None:
        with interrupts.held_back():
            signal.raise_signal(signal.SIGINT)
            order.append("written")
        order.append("never")

    with interrupts.noticed(), pytest.raises(KeyboardInterrupt):
        write()
    assert order == ["written"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_that_is_raised_by_hand_is_not_the_drivers():
    with interrupts.noticed():
        assert not interrupts.is_own(KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt) as own:
            signal.raise_signal(signal.SIGINT)
        assert interrupts.is_own(own.value)
        assert not interrupts.is_own(ValueError())
        with pytest.raises(KeyboardInterrupt):
            interrupts.raise_swallowed()
    assert interrupts.is_own(KeyboardInterrupt())
    interrupts.raise_swallowed()
