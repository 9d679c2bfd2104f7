"""A dashboard as a page of its own: Voila, on this host alone, over a notebook of one cell."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench.dashboards import check_name
from workbench.dashboards.leash import call_on_leash
from workbench.dashboards.page import ALONE
from workbench.errors import InputError, missing_extra

HOST = "127.0.0.1"
TEMPLATE = "offline"
"""Voila's page without the style sheets that it would fetch from a public host (`share/`)."""

_SHARED = Path(__file__).parent / "share" / "jupyter"


def serve(name: str = "shared_memory", port: int = 8866, open_browser: bool = True) -> int:
    """Serve a dashboard at http://127.0.0.1:PORT until it is stopped; return Voila's exit status.

    However this process ends, the server and its kernel end with it.

    Parameters
    ----------
    name : str
        Which dashboard, as for `wb.dashboard`.
    port : int
        Where it listens; 0 takes any free one.
    open_browser : bool
        Whether the user's browser is sent there.

    Raises
    ------
    InputError
        There is no such dashboard, or the port is taken.
    WorkbenchError
        The optional part `dashboards` of the installation is missing.
    """
    if importlib.util.find_spec("voila") is None:
        raise missing_extra("workbench dashboard", "dashboards")
    check_name(name)
    with _notebook(name) as notebook:
        command = voila_command(notebook, free_port(port), open_browser)
        return call_on_leash(command, environment())


def voila_command(notebook: Path, port: int, open_browser: bool) -> list[str]:
    """Return the command that runs Voila for one notebook, by the Python that runs this."""
    options = [f"--Voila.ip={HOST}", f"--port={port}", f"--template={TEMPLATE}"]
    return [sys.executable, "-m", "voila", str(notebook), *options, *([] if open_browser else ["--no-browser"])]


def environment() -> dict[str, str]:
    """Return this process's environment, with the folder of our template, which an installation from a source tree does
    not copy."""
    known = os.environ.get("JUPYTER_PATH")
    return {**os.environ, "JUPYTER_PATH": os.pathsep.join([str(_SHARED), *([known] if known else [])])}


def free_port(port: int) -> int:
    """Return the port as it is if nobody listens there; for 0 any free one.

    Raises
    ------
    InputError
        Something listens there already, or it is no port.
    """
    with socket.socket() as result:
        try:
            result.bind((HOST, port))
        except (OSError, OverflowError):
            raise InputError(f"port {port} of {HOST} cannot be used; choose another with --port.") from None
        return int(result.getsockname()[1])


def notebook_of(name: str, folder: Path) -> dict[str, Any]:
    """Return a notebook of one cell that shows a dashboard; paths that a user types there start from a folder."""
    begin = f"import os\nos.chdir({str(folder)!r})\nos.environ[{ALONE!r}] = '1'"
    source = f"{begin}\nimport workbench as wb\nwb.dashboard({name!r})"
    cell = {"cell_type": "code", "id": "dashboard", "source": source, "metadata": {}, "outputs": []}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, "title": f"{name} dashboard"}
    return {"cells": [{**cell, "execution_count": None}], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


@contextmanager
def _notebook(name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        path = Path(folder, f"{Path(name.rpartition(':')[2]).stem or 'dashboard'}.ipynb")
        path.write_text(json.dumps(notebook_of(name, Path.cwd())))
        yield path
