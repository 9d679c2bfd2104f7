"""The folder of a service: its socket, its journal, what it was started with, and a lock, for one user alone."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError
from workbench.pool_service.arenas import attach_arena, detach_arena, unlink_arena

_MOST_PATH = 100
"""A socket's path has 108 bytes on Linux."""
_OWN = ("lock", "socket", "journal", "journal.new", "service.json", "service.new")
"""What a service makes in its folder."""
_MARK = b"the lock of a workbench pool service\n"
"""What its lock holds: a folder without it is nobody's, or somebody's own."""


class Description(NamedTuple):
    """What a client reads: the cards and their arenas."""

    cards: list[str]
    sizes: list[int]
    arenas: list[str]
    """The name of each card's arena; empty for a card without memory."""


class ServiceFolder:
    """One folder, in which one service may run at a time.

    Raises
    ------
    InputError
        It belongs to somebody else, others may write to it, or its path is too long for a socket.
    """

    def __init__(self, folder: Path | str) -> None:
        self.path, self._new = Path(folder), False
        place = self.path.absolute()  # a process may go elsewhere
        self.socket, self.journal = place / "socket", place / "journal"
        self._description, self._lock = place / "service.json", place / "lock"
        if len(os.fsencode(self.socket)) > _MOST_PATH:
            raise InputError(f"{self.path}: is too long for a socket; take a folder with a shorter path.")

    def make(self) -> None:
        """Make the folder, or check that it is this user's alone."""
        try:
            self._new = not self.path.exists()
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = self.path.stat()
        except OSError as problem:
            raise InputError(f"{self.path}: is not to be had as a folder ({problem.strerror}).") from None
        if not self._belongs(status) or stat.S_IMODE(status.st_mode) & 0o022:
            raise InputError(f"{self.path}: must belong to you, and nobody else may write to it.")
        self._check_contents()

    def _belongs(self, status: os.stat_result) -> bool:
        """Return whether a folder is this user's, and a link that leads to it is too."""
        return status.st_uid == os.geteuid() == self.path.lstat().st_uid

    def _check_contents(self) -> None:
        """Refuse a folder that holds anything but what a service made there."""
        there = sorted(entry.name for entry in os.scandir(self.path))
        used = self._lock.is_file() and self._lock.read_bytes()[: len(_MARK)] in (_MARK, b"")
        others = [name for name in there if name not in _OWN or not used]
        if others:
            raise InputError(
                f"{self.path}: holds {others[0]}, which is none of a service's files; name a new folder, a service "
                "takes away what it finds in its own."
            )

    def check_owner(self) -> None:
        """Refuse the folder of another user, before a client says anything to who serves there.

        Raises
        ------
        InputError
            The folder, or a link that leads to it, belongs to another user.
        """
        with suppress(FileNotFoundError):
            if not self._belongs(self.path.stat()):
                raise InputError(f"{self.path}: belongs to another user.")

    def unmake(self) -> None:
        """Take away the folder that `make` made, with its lock, where nothing came of it; another's stays."""
        if self._new:
            self.clear()
            self._lock.unlink(missing_ok=True)
            with suppress(OSError):  # somebody has put something there
                self.path.rmdir()

    def lock(self) -> int:
        """Take the folder for a service; what is returned holds it until it is closed.

        Raises
        ------
        InputError
            A service runs in it.
        """
        try:
            held = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise InputError(f"{self._lock}: cannot be opened ({problem.strerror}).") from None
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(held)
            raise InputError(f"{self.path}: a service runs in this folder already.") from None
        if not os.fstat(held).st_size:
            os.write(held, _MARK)
        return held

    def describe(self, cards: list[str], sizes: list[int]) -> Description:
        """Write down what there will be, with new names for the arenas."""
        token = secrets.token_hex(6)
        names = [f"pool_{token}_{number}" if size else "" for number, size in enumerate(sizes)]
        description = Description(cards, sizes, names)
        beside = self._description.with_suffix(".new")
        try:
            beside.write_text(json.dumps(description._asdict()), encoding="utf-8")
            os.replace(beside, self._description)
        except OSError as problem:
            raise InputError(f"{self._description}: cannot be written ({problem.strerror}).") from None
        return description

    def description(self) -> Description | None:
        """Read what the service of this folder wrote down; None = no service was started here, or it ended properly."""
        try:
            content: dict[str, Any] = json.loads(self._description.read_text(encoding="utf-8"))
            return Description(**content)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, OSError):
            raise InputError(f"{self._description}: is damaged; clear the folder with --clear.") from None

    def clear(self) -> None:
        """Take away all that a service left behind: arenas, journal, socket.

        Of a description that is damaged nothing can be learnt; then the arenas stay until the system starts anew.
        """
        try:
            description = self.description()
        except InputError:
            description = None
        for name in filter(None, description.arenas if description else []):
            arena = attach_arena(name)
            if arena is not None:
                unlink_arena(arena)
                detach_arena(arena)
        beside = (self._description.with_suffix(".new"), self.journal.with_name("journal.new"))
        for path in (self.socket, self.journal, *beside, self._description):
            with suppress(FileNotFoundError):
                path.unlink()
