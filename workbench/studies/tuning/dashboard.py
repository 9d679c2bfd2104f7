"""A study in the browser: optuna-dashboard on its journal or its database, also while another process tunes it."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from workbench.errors import StoreError, WorkbenchError, missing_extra
from workbench.studies.tuning.journal import JOURNAL, journal_storage
from workbench.studies.tuning.quiet import quiet
from workbench.studies.tuning.storage import hidden
from workbench.studies.tuning.study import Study

if TYPE_CHECKING:
    from optuna.storages import BaseStorage

HOST = "127.0.0.1"
LOOK_SECONDS = 0.5
"""How often the thread that waits looks up: a signal that comes just before one call that waits is not heard."""


def dashboard_command(study: Study, folder: Path) -> str:
    """Return the command that opens a study in the browser."""
    return f"optuna-dashboard {folder / JOURNAL if study.storage is None else hidden(study.storage.driven)}"


def serve(study: Study, folder: Path, port: int) -> None:
    """Show a study under http://127.0.0.1:PORT until interrupted.

    Raises
    ------
    StoreError
        There is no such study yet.
    WorkbenchError
        The optional part `tuning` is not installed, or the port is taken.
    """
    try:
        from optuna_dashboard import wsgi
    except ImportError:
        raise missing_extra("the dashboard of a study", "tuning") from None
    application = wsgi(_storage(study, folder))
    try:
        server = make_server(HOST, port, application, _Server, _QuietHandler)
    except OSError as problem:
        raise WorkbenchError(f"port {port} cannot be used: {problem.strerror}; choose another with --port.") from None
    with server:
        _serve_until_interrupted(server)


def _serve_until_interrupted(server: WSGIServer) -> None:
    """Answer in other threads: one that answers a request may swallow an interrupt, this one only waits for it."""
    answering = threading.Thread(target=server.serve_forever, daemon=True)
    answering.start()
    with contextlib.suppress(KeyboardInterrupt):
        while answering.is_alive():
            answering.join(LOOK_SECONDS)
    server.shutdown()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of a request."""


def _storage(study: Study, folder: Path) -> BaseStorage:
    file = folder / JOURNAL if study.storage is None else study.storage.file
    if file is not None and not file.is_file():
        raise StoreError(f"{file} holds no study yet; tune it first.")
    if study.storage is not None:
        from workbench.studies.tuning.database import open_database

        return open_database(study.storage)
    with quiet():
        return journal_storage(folder / JOURNAL)
