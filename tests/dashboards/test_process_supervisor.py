"""A supervised program ends, with all that it started, whatever ends its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.slow import thinned
from tests.waiting import wait_until
from workbench.dashboards.process_supervisor import descendants, run_supervised

ROOT = Path(__file__).parent.parent.parent

SERVER = """
import os, signal, subprocess, sys, time
kernel = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()"
child = subprocess.Popen([sys.executable, "-c", kernel], start_new_session=True)
open(sys.argv[1] + ".new", "w").write(f"{os.getpid()} {child.pid}")
os.rename(sys.argv[1] + ".new", sys.argv[1])
if sys.argv[2] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(0 if sys.argv[2] == "ends" else 1000)  # stands for a server
sys.exit(7)
"""
"""Like a server with a kernel: in a session of its own, and deaf to a polite signal."""

HOLDER = """
import sys
import importlib
room = importlib.import_module("workbench.cli.main")
from workbench.dashboards.process_supervisor import run_supervised
room._run = lambda words: run_supervised([sys.executable, "-c", *words])
sys.exit(room.main(sys.argv[1:]))
"""


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def held(place: Path, manner: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOLDER, SERVER, str(place), manner]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, text=True, stderr=subprocess.PIPE)


@pytest.mark.parametrize("number", thinned([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], 3), ids=str)
def test_a_supervised_program_ends_with_its_parent(tmp_path, number):
    holder = held(tmp_path / "pids", "stays")
    wait_until((tmp_path / "pids").exists)
    server, kernel = map(int, (tmp_path / "pids").read_text().split())
    assert alive(server)
    assert alive(kernel)
    holder.send_signal(number)
    message = holder.communicate(timeout=60)[1]
    wait_until(lambda: not alive(server) and not alive(kernel))
    if number != signal.SIGKILL:
        assert holder.returncode == 128 + number
        assert message == "workbench: stopped; the server has ended, and all that it had started.\n"


@pytest.mark.slow
def test_a_server_that_does_not_listen_is_killed(tmp_path):
    holder = held(tmp_path / "pids", "deaf")
    wait_until((tmp_path / "pids").exists)
    server, kernel = map(int, (tmp_path / "pids").read_text().split())
    holder.kill()
    holder.communicate()
    wait_until(lambda: not alive(server) and not alive(kernel))


def test_a_server_does_not_outlive_its_supervisor(tmp_path):
    holder = held(tmp_path / "pids", "stays")
    wait_until((tmp_path / "pids").exists)
    server, _ = map(int, (tmp_path / "pids").read_text().split())
    supervisor = int(Path(f"/proc/{server}/stat").read_text().rsplit(")", 1)[1].split()[1])
    os.kill(supervisor, signal.SIGKILL)
    wait_until(lambda: not alive(server))
    holder.communicate(timeout=60)


def test_what_a_program_leaves_behind_is_ended_and_its_status_returned(tmp_path):
    assert run_supervised([sys.executable, "-c", SERVER, str(tmp_path / "pids"), "ends"]) == 7
    _, kernel = map(int, (tmp_path / "pids").read_text().split())
    assert not alive(kernel)
    assert kernel not in descendants(os.getpid())
