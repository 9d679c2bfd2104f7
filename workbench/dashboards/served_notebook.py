"""The notebook of one cell that Voila renders as a page, and what its kernel must do first."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SERVED = "WORKBENCH_DASHBOARD_PAGE"
"""The variable that the cell of a page of its own sets."""


@contextmanager
def notebook_file(name: str) -> Iterator[Path]:
    """Yield the file of that notebook, in a folder that is deleted in the end."""
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        path = Path(folder, f"{Path(name.rpartition(':')[2]).stem or 'dashboard'}.ipynb")
        path.write_text(json.dumps(notebook_of(name, Path.cwd())))
        yield path


def notebook_of(name: str, folder: Path) -> dict[str, Any]:
    """Return a notebook of one cell that shows a dashboard; paths that a user types there start from a folder."""
    begin = f"import os\nos.chdir({str(folder)!r})\nos.environ[{SERVED!r}] = '1'"
    queue = (
        "from workbench.dashboards.served_notebook import queue_all_messages\nqueue_all_messages(get_ipython().kernel)"
    )
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
