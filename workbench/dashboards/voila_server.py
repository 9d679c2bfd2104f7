"""A dashboard as a page of its own: Voila, on this host alone, over a notebook of one cell, behind a token."""

from __future__ import annotations

import importlib.util
import json
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench.dashboards import check_name
from workbench.dashboards.child_process import call_on_leash
from workbench.errors import InputError, missing_extra, wrong_value

HOST = "127.0.0.1"
TEMPLATE = "offline"
"""Voila's page without the style sheets that it would fetch from a public host (`share/`)."""

TOKEN, TOKEN_FILE = "JUPYTER_TOKEN", "JUPYTER_TOKEN_FILE"
"""The variables in which Jupyter's servers find their token, and so does this one."""
ALONE = "WORKBENCH_DASHBOARD_PAGE"
"""The variable that the cell of a page of its own sets."""
MOST_PAGES = 8
"""How many pages may be open at once: each has a process of some 300 MB."""
PATIENCE_SECONDS = 600
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
    given = token_of(token)
    with _notebook(name) as notebook:
        command = voila_command(notebook, free_port(port), open_browser, pages)
        return call_on_leash(command, environment(given))


def voila_command(notebook: Path, port: int, open_browser: bool, pages: int = MOST_PAGES) -> list[str]:
    """Return the command that runs Voila for one notebook, by the Python that runs this."""
    options = [f"--Voila.ip={HOST}", f"--port={port}", "--Voila.port_retries=0", f"--template={TEMPLATE}"]
    options += [f"--PageKernels.most_pages={pages}", f"--VoilaExecutor.iopub_timeout={PATIENCE_SECONDS}"]
    options += [] if open_browser else ["--no-browser"]
    return [sys.executable, "-m", "workbench.dashboards.admission", str(notebook), *options]


def environment(token: str) -> dict[str, str]:
    """Return this process's environment with the token, which a command's arguments would show to other users, and with
    the folder of our template, which an installation from a source tree does not copy."""
    known = os.environ.get("JUPYTER_PATH")
    path = os.pathsep.join([str(_SHARED), *([known] if known else [])])
    return {**os.environ, "JUPYTER_PATH": path, TOKEN: token}


def token_of(given: str | None) -> str:
    """Return the token that is given, or that Jupyter's variables name; else a new one.

    Raises
    ------
    InputError
        The one that is given is empty, or the file of it cannot be read.

    Examples
    --------
    >>> token_of("mine"), len(token_of(None)) > 30
    ('mine', True)
    >>> token_of("")
    Traceback (most recent call last):
    workbench.errors.InputError: --token is empty, and no dashboard is served without one: leave it out for a new one.
    """
    if given is not None:
        if not given.strip():
            raise InputError("--token is empty, and no dashboard is served without one: leave it out for a new one.")
        return given.strip()
    named = os.environ.get(TOKEN, "").strip()
    file = os.environ.get(TOKEN_FILE)
    if not named and file:
        try:
            named = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as problem:
            raise InputError(f"{TOKEN_FILE} names {file}, which cannot be read: {problem}.") from None
    return named or secrets.token_urlsafe(32)


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
    queue = "from workbench.dashboards.voila_server import queue_all_messages\nqueue_all_messages(get_ipython().kernel)"
    source = f"{begin}\n{queue}\nimport workbench as wb\nwb.dashboard({name!r})"
    cell = {"cell_type": "code", "id": "dashboard", "source": source, "metadata": {}, "outputs": []}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, "title": f"{name} dashboard"}
    return {"cells": [{**cell, "execution_count": None}], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def queue_all_messages(kernel: Any) -> None:
    """Let a kernel queue what it sends until it is read, for a page of some thousand widgets is as many messages.

    By default ZeroMQ drops what comes after a thousand: on a busy machine the page, or that its cell has ended.
    """
    import zmq

    thread = kernel.iopub_thread
    thread.schedule(lambda: thread.socket.setsockopt(zmq.SNDHWM, 0))


@contextmanager
def _notebook(name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        path = Path(folder, f"{Path(name.rpartition(':')[2]).stem or 'dashboard'}.ipynb")
        path.write_text(json.dumps(notebook_of(name, Path.cwd())))
        yield path
