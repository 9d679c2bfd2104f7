"""A service in a process of its own, for as long as a block of code runs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError
from workbench.pool_service.client import PoolClient, Refused

_PATIENCE_S = 30.0


@contextmanager
def running_service(folder: Path | str, said: Mapping[str, Any] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Start a service, wait until it serves, and stop it properly in the end.

    Parameters
    ----------
    folder : path
        The service's folder.
    said : mapping, optional
        What the service is started with, as `ServiceSettings` reads it.

    Raises
    ------
    WorkbenchError
        It does not start; the sentence is its own.
    """
    process = start_service(folder, said)
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE_S)


def start_service(folder: Path | str, said: Mapping[str, Any] | None = None) -> subprocess.Popen[bytes]:
    """The same without an end: a process that serves already."""
    words = [sys.executable, "-m", "workbench.pool_service", str(folder), "--settings", json.dumps(dict(said or {}))]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    until = time.monotonic() + _PATIENCE_S
    while process.poll() is None and time.monotonic() < until:
        with suppress(Refused):
            PoolClient(folder, patience_s=0.05).close()
            return process
    process.kill()
    assert process.stderr is not None
    raise WorkbenchError(process.stderr.read().decode(errors="replace").strip() or "the service did not start.")
