"""A dashboard as a page of its own: Voila, on this host alone, over a notebook of one cell, behind a token."""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
from pathlib import Path

from workbench.dashboards import check_name
from workbench.dashboards.page_access import MOST_PAGES, TOKEN, token_of
from workbench.dashboards.process_supervisor import run_supervised
from workbench.dashboards.served_notebook import notebook_file
from workbench.errors import InputError, missing_extra, wrong_value

HOST = "127.0.0.1"
TEMPLATE = "offline"
"""Voila's page without the style sheets that it would fetch from a public host (`share/`)."""
CELL_SECONDS = 600
"""How long Voila waits for what a cell has sent: after its own four seconds a page of thousands of widgets stays empty
where the machine is busy."""
_SHARED = Path(__file__).parent / "share" / "jupyter"


def serve(
    name: str = "shared_memory",
    port: int = 8866,
    open_browser: bool = True,
    token: str | None = None,
    pages: int = MOST_PAGES,
) -> int:
    """Serve a dashboard at http://127.0.0.1:PORT until it is stopped; return Voila's exit status.

    The address that is printed holds a token, without which nothing is answered. However this process ends, the server
    and its kernels end with it.

    Parameters
    ----------
    name : str
        Which dashboard, as for `wb.dashboard`.
    port : int
        Where it listens; 0 takes any free one.
    open_browser : bool
        Whether the user's browser is sent there.
    token : str, optional
        What the address must hold; by default that of the variable JUPYTER_TOKEN or of the file that JUPYTER_TOKEN_FILE
        names, else a new one.
    pages : int
        How many may be open at once, each with a kernel of its own.

    Raises
    ------
    InputError
        There is no such dashboard, the port is taken, the token is empty, or no page may be open.
    WorkbenchError
        The optional part `dashboards` of the installation is missing.
    """
    if importlib.util.find_spec("voila") is None:
        raise missing_extra("workbench open dashboard", "dashboards")
    check_name(name)
    if pages < 1:
        raise wrong_value("--pages", "the pages that may be open at once", "must be 1 or more", pages)
    secret = token_of(token)
    with notebook_file(name) as notebook:
        command = voila_command(notebook, free_port(port), open_browser, pages)
        return run_supervised(command, environment(secret))


def voila_command(notebook: Path, port: int, open_browser: bool, pages: int = MOST_PAGES) -> list[str]:
    """Return the command that runs Voila for one notebook, by the Python that runs this."""
    options = [f"--Voila.ip={HOST}", f"--port={port}", "--Voila.port_retries=0", f"--template={TEMPLATE}"]
    options += [f"--PageKernels.most_pages={pages}", f"--VoilaExecutor.iopub_timeout={CELL_SECONDS}"]
    options += [] if open_browser else ["--no-browser"]
    return [sys.executable, "-m", "workbench.dashboards.admission", str(notebook), *options]


def environment(token: str) -> dict[str, str]:
    """Return this process's environment with the token, which a command's arguments would show to other users, and with
    the folder of our template, which an installation from a source tree does not copy."""
    known = os.environ.get("JUPYTER_PATH")
    path = os.pathsep.join([str(_SHARED), *([known] if known else [])])
    return {**os.environ, "JUPYTER_PATH": path, TOKEN: token}


def free_port(port: int) -> int:
    """Return the port as it is if it is free; for 0 any free one.

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
