"""The service's socket: who may connect (spec 5, R5)."""

from __future__ import annotations

import os
import resource
import socket
from contextlib import suppress
from pathlib import Path

from workbench.errors import InputError
from workbench.pool_service.connection import Connection
from workbench.pool_service.processes import peer_of
from workbench.pool_service.protocol import BUSY, REPLY

_OTHER_FILES = 64
"""Files that the service has open apart from its clients' ends."""


class Listener:
    """A socket at a path, for the processes of one user.

    Raises
    ------
    InputError
        It cannot be made.
    """

    def __init__(self, path: Path, owner: int) -> None:
        self._owner = owner
        self.most = max(resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _OTHER_FILES, 1)
        """Clients that can be served at a time."""
        with suppress(FileNotFoundError):
            path.unlink()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.setblocking(False)
        before = os.umask(0o177)
        try:
            self.socket.bind(str(path))
        except OSError as problem:
            self.socket.close()
            raise InputError(f"{path}: no socket can be made there ({problem.strerror}).") from None
        finally:
            os.umask(before)
        self.socket.listen(128)

    def accept(self, served: int) -> Connection | None:
        """Accept the next client, when there are so many already; None = it may not be served, or it is gone."""
        try:
            opened, _ = self.socket.accept()
        except OSError:
            return None
        peer = peer_of(opened)
        if peer.user == self._owner and served < self.most:
            return Connection(opened, peer)
        if peer.user == self._owner:
            with suppress(OSError):
                opened.send(REPLY.pack(BUSY, 0, self.most, 0))
        opened.close()
        return None
