"""A PostgreSQL server of one's own in a temporary folder, to be stopped in any manner."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, the newest that is installed; None = there is none."""
    result = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    places = [Path(result).resolve().parent] if result else [path.parent for path in debian[-1:]]
    return next((place for place in places if (place / "pg_ctl").exists()), None)


class Server:
    """A server that listens on a free port of this machine; anyone here may enter without a password."""

    def __init__(self, folder: Path, place: Path) -> None:
        self._folder, self._place = folder, place
        self._user = _unprivileged()
        self._port = _free_port()
        if self._user is not None:
            shutil.chown(folder, self._user)
        self._do("initdb", "-D", "data", "-U", "ada", "-A", "trust", "--no-sync")
        self.start()

    @property
    def url(self) -> str:
        """Where it is; the password is asked of nobody."""
        return f"postgresql://ada:secret@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        listen = f"-c listen_addresses=127.0.0.1 -c port={self._port} -c unix_socket_directories="
        self._do("pg_ctl", "start", "-w", "-D", "data", "-l", "log", "-o", listen)

    def stop(self, mode: str = "immediate") -> None:
        """End it; `immediate` is a crash, from which the next start recovers."""
        self._do("pg_ctl", "stop", "-w", "-m", mode, "-D", "data")

    def restart(self, away_seconds: float) -> threading.Timer:
        """Crash it now, and start it again after a while."""
        self.stop()
        again = threading.Timer(away_seconds, self.start)
        again.start()
        return again

    def _do(self, program: str, *arguments: str) -> None:
        """A program of PostgreSQL, which does not run as root."""
        command = [str(self._place / program), *arguments]
        with open(self._folder / "said", "a") as message:
            subprocess.run(
                command,
                cwd=self._folder,
                user=self._user,
                stdout=message,
                stderr=message,
                check=True,
                env=_environment(),
            )


@contextmanager
def server() -> Iterator[Server | None]:
    """A server for as long as the block lasts, or None where PostgreSQL is not installed."""
    place = programs()
    if place is None:
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="workbench-postgresql-"))
    try:
        running = Server(folder, place)
        try:
            yield running
        finally:
            running.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> str | None:
    """Somebody who is not root; None = whoever this is."""
    if os.geteuid() != 0:
        return None
    known = {one.pw_name for one in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}


def _free_port() -> int:
    with socket.socket() as requested:
        requested.bind(("127.0.0.1", 0))
        return int(requested.getsockname()[1])
