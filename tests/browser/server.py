"""A server for the time of a test: in a process group of its own, surely killed, its log at hand when it fails."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.waiting import wait_until

HOST = "127.0.0.1"
READY_SECONDS = 240
TOKEN = "a test's own & secret"


def free_port() -> int:
    with socket.socket() as result:
        result.bind((HOST, 0))
        return int(result.getsockname()[1])


@contextmanager
def running(module: Sequence[str], port: int, path: str, folder: Path, env: dict[str, str]) -> Iterator[str]:
    """Run `python -m MODULE...` until the body ends; the value is the address that it serves.

    The interpreter is the process that is started, with no shell around it, so its group is the server with all that it
    starts; kernels leave on their own when their server is gone.
    """
    log = folder / "server.log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-m", *module],
            cwd=folder,
            env={**os.environ, **env},
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_until_ready(process, f"http://{HOST}:{port}{path}", log)
        yield f"http://{HOST}:{port}"
    finally:
        end(process)


@contextmanager
def served(name: str, folder: Path, env: dict[str, str] | None = None, options: Sequence[str] = ()) -> Iterator[str]:
    """Run `workbench open dashboard` until the body ends; the value is the address that opens the page."""
    port = free_port()
    query = f"?{urlencode({'token': TOKEN})}"
    command = ["workbench", "open", "dashboard", name, f"--port={port}", "--no-browser", *options]
    ready = f"/voila/static/favicon.ico{query}"
    with running(command, port, ready, folder, {"JUPYTER_TOKEN": TOKEN, **(env or {})}) as address:
        yield f"{address}/{query}"


def end(process: subprocess.Popen[bytes], patience: float = 15) -> None:
    """Ask the group to end; after a while kill what is left of it."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(patience)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(patience)


def _wait_until_ready(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    def answers() -> bool:
        if process.poll() is not None:
            pytest.fail(f"the server ended with {process.returncode}:\n{log.read_text()[-3000:]}")
        try:
            with urllib.request.urlopen(address, timeout=60):
                return True
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    try:
        wait_until(answers, READY_SECONDS, f"an answer of {address}")
    except AssertionError as problem:
        pytest.fail(f"{problem}:\n{log.read_text()[-3000:]}")
