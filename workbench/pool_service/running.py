"""A service in a process of its own, for as long as a block of code runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError

SERVING = "serving"
"""How the line begins that a service prints when clients may come."""
_PATIENCE_S = 30.0


@contextmanager
def running_service(folder: Path | str, config: Mapping[str, Any] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Start a service, wait until it serves, and stop it properly in the end.

    Parameters
    ----------
    folder : path
        The service's folder.
    config : mapping, optional
        What the service is started with, as `ServiceSettings` reads it.

    Raises
    ------
    WorkbenchError
        It does not start; the sentence is its own.
    """
    process = start_service(folder, config)
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_PATIENCE_S)


def start_service(folder: Path | str, config: Mapping[str, Any] | None = None) -> subprocess.Popen[bytes]:
    """Start the same without an end, in a process of its own that serves already."""
    words = [sys.executable, "-m", "workbench.pool_service", str(folder), "--settings", json.dumps(dict(config or {}))]
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen(words, **pipes)
    assert process.stdout is not None
    first = process.stdout.readline().decode(errors="replace").strip()
    if not first.startswith(SERVING):
        process.kill()
        process.communicate()
        raise WorkbenchError(first.removeprefix("workbench: ") or "the service did not start.")
    return process
