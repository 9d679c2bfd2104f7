"""The servers of these tests leave nothing behind, and a browser that is missing is not passed over."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.server import end, free_port, running
from tests.waiting import wait_until


def is_gone(pid: int) -> bool:
    """Whether a process has ended, or is about to."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
    return stat.rsplit(")", 1)[1].split()[0] == "Z"  # ended; nobody has asked how yet


DEAF = """
import signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.signal(15, 1); signal.pause()"])
print(child.pid, flush=True)
signal.pause()
"""


def test_a_server_that_ignores_the_request_to_end_is_killed_with_its_children():
    process = subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    child_pid = int(process.stdout.readline())
    end(process, patience=1)
    assert process.poll() is not None
    wait_until(lambda: is_gone(child_pid), what="the end of the child")


def test_a_server_that_does_not_start_fails_with_its_log(tmp_path):
    server = running(["no_such_module"], free_port(), "/", tmp_path, {})
    with pytest.raises(pytest.fail.Exception, match="No module named no_such_module"), server:
        pass
