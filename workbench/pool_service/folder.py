"""The folder of a service: its socket, its journal, what it was started with, and a lock, for one user alone.

Also what a killed service left in it (its arenas, where they are all there, whole and this user's alone), and a service
that is started on a folder, in a process of its own, for as long as a block of code runs.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError, WorkbenchError
from workbench.pool_service.arenas import addresses_for, attach_arena, detach_arena, unlink_left

_MOST_PATH = 100
"""A socket's path has 108 bytes on Linux."""
_OWN = ("lock", "socket", "journal", "journal.new", "service.json", "service.new")
"""What a service makes in its folder."""
_MARK = b"the lock of a workbench pool service\n"
"""What its lock holds: a folder without it is unused, or somebody's own."""

_ARENA = re.compile(r"pool_[0-9a-f]{12}_\d{1,6}")
"""What an arena is called: nothing else of this user's shared memory is ever mapped or taken away."""


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
            raise InputError(f"{self.path}: must belong to you, and no other user may write to it.")
        self._check_contents()

    def _belongs(self, status: os.stat_result) -> bool:
        """Return whether a folder is this user's, and a link that leads to it is too."""
        return status.st_uid == os.geteuid() == self.path.lstat().st_uid

    def _check_contents(self) -> None:
        """Refuse a folder that holds anything but what a service made there."""
        there = sorted(entry.name for entry in os.scandir(self.path))
        used = self._is_used(alone=there == ["lock"])
        others = [name for name in there if not used or name not in _OWN or not self._is_made(name)]
        if others:
            raise InputError(
                f"{self.path}: holds {others[0]}, which is none of a service's files; name a new folder, a service "
                "takes away what it finds in its own."
            )

    def _is_used(self, alone: bool) -> bool:
        """Return whether a service has marked the lock; one that was killed before that had made nothing else yet."""
        if not self._lock.is_file():
            return False
        with open(self._lock, "rb") as lock:
            return lock.read(len(_MARK)) in ((_MARK, b"") if alone else (_MARK,))

    def _is_made(self, name: str) -> bool:
        """Return whether a file is what a service makes: its user's, of the right kind, no link, under one name."""
        try:
            status = (self.path / name).lstat()
        except FileNotFoundError:  # a service that runs has just taken it away
            return True
        kind = stat.S_ISSOCK if name == "socket" else stat.S_ISREG
        return kind(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink <= 1

    def check_owner(self) -> None:
        """Refuse the folder of another user, before a client says anything to who serves there.

        Raises
        ------
        InputError
            The folder, or a link that leads to it, belongs to another user, or may not be looked at.
        """
        try:
            belongs = self._belongs(self.path.stat())
        except FileNotFoundError:
            return
        except OSError as problem:
            raise InputError(f"{self.path}: is not to be had as a folder ({problem.strerror}).") from None
        if not belongs:
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
            self._mark(held)
        except BlockingIOError:
            os.close(held)
            raise InputError(f"{self.path}: a service runs in this folder already.") from None
        except BaseException:
            os.close(held)
            raise
        return held

    def _mark(self, held: int) -> None:
        """Mark the lock as a service's; one that was taken away before it was held excludes no other."""
        status = os.fstat(held)
        if not status.st_nlink:
            raise InputError(f"{self.path}: another service has just given this folder up; try again.")
        try:
            if not status.st_size:
                os.write(held, _MARK)
        except OSError as problem:
            raise InputError(f"{self._lock}: cannot be written ({problem.strerror}).") from None

    def describe(self, cards: list[str], sizes: list[int]) -> Description:
        """Write down what there will be, with new names for the arenas."""
        token = secrets.token_hex(6)
        names = [f"pool_{token}_{number}" if size else "" for number, size in enumerate(sizes)]
        description = Description(cards, sizes, names)
        beside = self._description.with_suffix(".new")
        try:
            beside.unlink(missing_ok=True)
            with open(beside, "x", encoding="utf-8", opener=_for_this_user) as file:
                json.dump(description._asdict(), file)
            os.replace(beside, self._description)
        except OSError as problem:
            raise InputError(f"{self._description}: cannot be written ({problem.strerror}).") from None
        return description

    def description(self) -> Description | None:
        """Read what the service of this folder wrote down; None = no service was started here, or it ended properly."""
        try:
            with open(self._description, "rb", opener=_without_links) as file:
                return _described(json.load(file), os.fstat(file.fileno()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, AttributeError, RecursionError, OSError):
            raise InputError(f"{self._description}: is damaged; clear the folder with --clear.") from None

    def clear(self) -> None:
        """Take away all that a service left behind: arenas, journal, socket.

        Of a description that is damaged nothing can be learnt; then the arenas stay until the system starts again.
        """
        try:
            description = self.description()
        except InputError:
            description = None
        for name in filter(None, description.arenas if description else []):
            unlink_left(name)
        beside = (self._description.with_suffix(".new"), self.journal.with_name("journal.new"))
        for path in (self.socket, self.journal, *beside, self._description):
            with suppress(FileNotFoundError):
                path.unlink()


def _for_this_user(path: str, flags: int) -> int:
    """Open a file that no other user may read, whatever files are usually made like."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _without_links(path: str, flags: int) -> int:
    """Open a file under its own name; opening a path that is no file does not wait."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _described(content: Any, status: os.stat_result) -> Description:
    """Return the content of a description.

    Raises
    ------
    TypeError, ValueError, AttributeError
        It is none, or another user may have written it.
    """
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o022:
        raise ValueError
    cards, sizes, arenas = (list(content.pop(key, ())) for key in Description._fields)
    if content or not cards or not len(cards) == len(sizes) == len(arenas):
        raise ValueError
    if not all(isinstance(card, str) for card in cards) or not all(type(size) is int and size >= 0 for size in sizes):
        raise ValueError
    if not all(_ARENA.fullmatch(arena) if size else arena == "" for size, arena in zip(sizes, arenas, strict=True)):
        raise ValueError
    return Description(cards, sizes, arenas)


ArenasLeft = list[SharedMemory | None]
"""One a card; None for a card without memory."""


def whole_arenas(left: Description) -> ArenasLeft | None:
    """Attach the arenas of a description; None = one is gone, is another user's, or has another size."""
    arenas = [attach_arena(name) if name else None for name in left.arenas]
    if [arena.size if arena else 0 for arena in arenas] == [addresses_for(size) for size in left.sizes]:
        return arenas
    detach_all(arenas)
    return None


def detach_all(arenas: ArenasLeft) -> None:
    """Let go of arenas that stay where they are."""
    for arena in filter(None, arenas):
        detach_arena(arena)


SERVING = "serving"
"""How the line begins that a service prints when clients may come."""
_START_SECONDS = 30.0


@contextmanager
def running_service(folder: Path | str, config: Mapping[str, Any] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Start a service, wait until it serves, and stop it properly in the end.

    Parameters
    ----------
    folder : path
        The service's folder.
    config : mapping, optional
        What the service is started with, as `ServiceSettings` reads it.

    Raises
    ------
    WorkbenchError
        It does not start; the sentence is its own.
    """
    process = start_service(folder, config)
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_START_SECONDS)


def start_service(folder: Path | str, config: Mapping[str, Any] | None = None) -> subprocess.Popen[bytes]:
    """Start the same without an end, in a process of its own that serves already."""
    words = [sys.executable, "-m", "workbench.pool_service", str(folder), "--settings", json.dumps(dict(config or {}))]
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen(words, **pipes)
    assert process.stdout is not None
    first = process.stdout.readline().decode(errors="replace").strip()
    if not first.startswith(SERVING):
        process.kill()
        process.communicate()
        raise WorkbenchError(first.removeprefix("workbench: ") or "the service did not start.")
    return process
