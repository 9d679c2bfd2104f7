"""Take a service's folder before anything that loads slowly, so that clients of a killed service wait in the backlog.

Policies and their compiler take seconds to import on a busy machine, and a client's patience ends after five. What lets
a client connect, a lock and a socket, needs neither.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple, Self

from workbench.errors import InputError
from workbench.pool_service.folder import ServiceFolder
from workbench.pool_service.left import detach_all, whole_arenas
from workbench.pool_service.listener import Listener


class Opening(NamedTuple):
    """A folder that is taken, in which clients may wait already."""

    folder: ServiceFolder
    lock: int
    """The file that holds the folder until it is closed."""
    owner: int
    """The user who may connect."""
    listener: Listener | None
    """None where a client would find nothing to read yet: nobody was served here, or what was is gone."""

    @classmethod
    def of(cls, path: Path | str, owner: int | None = None) -> Self:
        """Take a folder, and listen at once where a killed service left clients.

        Raises
        ------
        InputError
            A service runs in the folder, it is not this user's alone, or it holds somebody's own files.
        """
        folder = ServiceFolder(path)
        folder.make()
        lock, owner = folder.lock(), os.geteuid() if owner is None else owner
        try:
            return cls(folder, lock, owner, Listener(folder.socket, owner) if _was_left(folder) else None)
        except BaseException:
            folder.unmake()
            os.close(lock)
            raise

    def listening(self) -> Listener:
        """Return the socket at which clients wait, made now if it was not before."""
        return self.listener or Listener(self.folder.socket, self.owner)

    def close(self) -> None:
        """Give the folder up: nothing came of it."""
        if self.listener is not None:
            self.listener.socket.close()
        self.folder.unmake()
        os.close(self.lock)


def _was_left(folder: ServiceFolder) -> bool:
    """Return whether a killed service's description is there with all of its arenas: clients go on with those."""
    try:
        left = folder.description()
    except InputError:
        return False
    arenas = whole_arenas(left) if left else None
    detach_all(arenas or [])
    return arenas is not None
