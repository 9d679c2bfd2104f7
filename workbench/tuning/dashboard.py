"""A study in the browser: optuna-dashboard on its journal or its database, also while another process tunes it.

It answers on this host alone, and whoever is on this host only with the token of its address, as
`workbench open dashboard` does: optuna-dashboard itself asks for none, and lets everybody delete studies.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from workbench.errors import StoreError, WorkbenchError, missing_extra
from workbench.tuning.samplers import quiet
from workbench.tuning.storages import JOURNAL, journal_storage
from workbench.tuning.study import Study, hidden

if TYPE_CHECKING:
    from optuna.storages import BaseStorage


HOST = "127.0.0.1"
CLOSED = (
    "This study opens with its token only: use the address with ?token=... that `workbench tune ... --dashboard` has "
    "printed in its terminal.\n"
)
OPEN = "it asks for no token: anyone on this machine can read the study, and delete it"
"""What is to be known of optuna-dashboard's own command."""
LOOK_SECONDS = 0.5
"""How often the thread that waits looks up: a signal that comes just before one call that waits is not heard."""


def dashboard_command(study: Study, folder: Path) -> str:
    """Return the command that opens a study in the browser."""
    return f"optuna-dashboard {folder / JOURNAL if study.storage is None else hidden(study.storage.driven)}"


def address(port: int, token: str) -> str:
    """Return the address that opens a study.

    >>> address(8080, "a/b")
    'http://127.0.0.1:8080/dashboard?token=a%2Fb'
    """
    return f"http://{HOST}:{port}/dashboard?token={quote(token, safe='')}"


def serve(study: Study, folder: Path, port: int, token: str) -> None:
    """Show a study at its `address` until interrupted.

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
    application = Kept(wsgi(_storage(study, folder)), token, port)
    try:
        server = make_server(HOST, port, application, _Server, _QuietHandler)
    except OSError as problem:
        raise WorkbenchError(f"port {port} cannot be used: {problem.strerror}; choose another with --port.") from None
    with server:
        _serve_until_interrupted(server)


class Kept:
    """A WSGI application that answers whoever brings the token in the address, or the cookie that is given for it."""

    def __init__(self, application: Callable[..., Iterable[bytes]], token: str, port: int) -> None:
        self._application, self._token = application, token
        self._cookie, self._given = f"workbench-study-{port}", secrets.token_urlsafe(32)
        """A browser sends the cookies of a host to all of its ports: so it is not the token, and names the port."""

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer as the application does, or with the sentence that says what opens it."""
        given = parse_qs(environ.get("QUERY_STRING", "")).get("token", [""])[0]
        cookies = dict(one.strip().partition("=")[::2] for one in environ.get("HTTP_COOKIE", "").split(";"))
        if _same(given, self._token):
            return self._application(environ, self._giving_cookie(start))
        if _same(cookies.get(self._cookie, ""), self._given):
            return self._application(environ, start)
        start("403 Forbidden", [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")])
        return [CLOSED.encode()]

    def _giving_cookie(self, start: Callable[..., Any]) -> Callable[..., Any]:
        cookie = f"{self._cookie}={self._given}; Path=/; HttpOnly; SameSite=Strict"
        ours = [("Set-Cookie", cookie), ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store")]

        def starting(status: str, headers: list[tuple[str, str]], *problem: Any) -> Any:
            theirs = [header for header in headers if header[0].lower() != "cache-control"]
            return start(status, [*theirs, *ours], *problem)

        return starting


def _same(given: str, wanted: str) -> bool:
    """Return whether two texts are equal, in a time that does not depend on where they differ."""
    return hmac.compare_digest(given.encode(errors="replace"), wanted.encode())


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
        from workbench.tuning.storages import open_database

        return open_database(study.storage)
    with quiet():
        return journal_storage(folder / JOURNAL)
