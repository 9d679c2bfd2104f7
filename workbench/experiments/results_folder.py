"""A results folder: its holder, and the small files next to its store, each written whole or not at all.

A `FileGuard` knows whether a file that a driver writes to is still the one at its path: a removed file takes writes
without a word.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import socket
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from workbench.errors import StoreError

ROWS, SUFFIX = "rows", ".rows"
"""The folder of row files in a results folder, and how their names end."""
FORMER = "store.sqlite"
"""The file that held the rows of a results folder until version 0.4."""
LOCK, SWEEP, PROVENANCE, TABLE = "driver.lock", "sweep.yaml", "provenance.json", "results.parquet"
TABLE_AS_CSV = "results.csv"
FILES = (SWEEP, PROVENANCE, TABLE, TABLE_AS_CSV)
"""The files that every run leaves next to its store."""
STUDY = "study.yaml"
"""What a tuning study keeps of itself, by which its folder is known."""
OWN = ".own.json"
"""The file that marks which files runs have written: their digests, by name."""
FIGURES = "figures"
MANIFEST = "manifest.json"
"""Stands in an exported bundle, and in no results folder."""


@contextmanager
def held(folder: Path, files: Iterable[str] = FILES) -> Iterator[Path]:
    """Make a folder and hold it while a driver writes to it; the lock goes with the process, however that ends.

    Parameters
    ----------
    files : iterable of str
        Names of what will be written there by `write_own`.

    Raises
    ------
    StoreError
        Version 0.4 wrote it; another driver holds it (the message says which), its lock is a link to another file, or
        it cannot be made. It is an exported bundle, or has a file of such a name that no run wrote there: the run would
        replace it.
    """
    refuse_former(folder)
    if (folder / MANIFEST).is_file() and not has_store(folder):
        raise StoreError(f"{folder} is an exported bundle, and runs would replace its files; name another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        refuse_link(folder / LOCK)
        # Do not truncate: until the lock is ours, the file names its holder.
        lock = open(folder / LOCK, "a+")  # noqa: SIM115 - held beyond this block
    except OSError as problem:
        raise StoreError(f"{folder}: cannot be used as a results folder: {problem.strerror}.") from None
    with lock:
        if not _locked(lock):
            lock.seek(0)
            holder = lock.read().strip() or "another process"
            raise StoreError(f"{folder} is in use by {holder}; wait for it or choose another folder.")
        try:
            refuse_foreign(folder, tuple(files))
        except StoreError:
            if os.fstat(lock.fileno()).st_size == 0:  # no driver has signed it: it was made here
                (folder / LOCK).unlink(missing_ok=True)
            raise
        _sign(lock, folder)
        yield folder


def has_store(folder: Path) -> bool:
    """Return True if a folder holds row files."""
    return any((folder / ROWS).glob(f"*{SUFFIX}"))


def default_folder(sweep: str) -> Path:
    """Return the folder of results unless --out says otherwise: sweeps/placement/drain.yaml -> results/placement/drain.

    Those of a sweep that lies in a results folder, such as `best.yaml` of a study, go next to it.
    """
    path = Path(sweep).with_suffix("")
    if any((folder / STUDY).is_file() and has_store(folder) for folder in list(path.parents)[:2]):
        return path
    parts = path.parts[path.parts.index("sweeps") + 1 :] if "sweeps" in path.parts else path.parts[-1:]
    return Path("results", *parts)


def refuse_former(folder: Path) -> None:
    """Refuse a folder whose rows are in the file of version 0.4 alone.

    Raises
    ------
    StoreError
        The sentence says how version 0.5 converts it.
    """
    if (folder / FORMER).is_file() and not has_store(folder):
        raise StoreError(
            f"{folder} was written by version 0.4: it holds {FORMER} and no row files. "
            f"Convert it once with version 0.5: workbench run {folder / SWEEP} --out {folder}"
        )


def write_own(path: Path, content: str | bytes) -> None:
    """Write a file of a results folder, whole or not at all, where there is none or one that runs have left there.

    It is marked before it is written, with its former state, so that a run that is killed between the two leaves no
    foreign file.

    Raises
    ------
    StoreError
        There is one of the user's, or it was edited since.
    """
    whole = content.encode() if isinstance(content, str) else content
    marks = _marks(path.parent) or {}
    _refuse_foreign([path], marks)
    before, now = marks.get(path.name, []), _digest(whole)
    if before != [now]:
        write_json(path.parent / OWN, {**marks, path.name: [*before[-1:], now]})
    write_whole(path, whole)


def refuse_foreign(folder: Path, files: tuple[str, ...]) -> None:
    """Refuse a folder with files of the user's in the places of a run's; one of before it was marked is marked.

    Raises
    ------
    StoreError
        A file of such a name is not as `write_own` has left it.
    """
    marks = _marks(folder)
    if marks is None:
        of_before = has_store(folder)
        marks = {name: [_digest(_content(folder / name))] for name in files if of_before and (folder / name).is_file()}
        if not of_before and {*FILES} & {*files} and any((folder / FIGURES).glob("*")):
            raise _foreign([folder / FIGURES])
    _refuse_foreign([folder / name for name in files], marks)
    if files and marks != _marks(folder):
        write_json(folder / OWN, marks)


def is_unedited(path: Path) -> bool:
    """Return True if a file is as `write_own` has left it."""
    return _digest(_content(path)) in (_marks(path.parent) or {}).get(path.name, [])


def own_files(folder: Path) -> list[str]:
    """Return the names of the files in a folder that `write_own` has written."""
    return [name for name in _marks(folder) or {} if (folder / name).is_file()]


def _refuse_foreign(paths: list[Path], marks: dict[str, list[str]]) -> None:
    foreign = [path for path in paths if path.exists() and _digest(_content(path)) not in marks.get(path.name, [])]
    if foreign:
        raise _foreign(foreign)


def _foreign(paths: list[Path]) -> StoreError:
    named = ", ".join([str(paths[0]), *(path.name for path in paths[1:])])
    are, them = ("is", "it") if len(paths) == 1 else ("are", "them")
    return StoreError(
        f"{named} {are} not as a run has left {them}, and runs would write over {them}; move {them} away, or choose "
        "another folder."
    )


def _marks(folder: Path) -> dict[str, list[str]] | None:
    """Return the digests of what runs have written, the last one and the one before; None where nothing is marked."""
    try:
        marks = json.loads((folder / OWN).read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        marks = None
    if not isinstance(marks, dict) or not all(isinstance(one, list) for one in marks.values()):
        raise StoreError(
            f"{folder / OWN}, which says what runs have written in this folder, is damaged; move it away if none of "
            f"{', '.join(FILES)} there is yours or was edited, or choose another folder."
        )
    return marks


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as problem:
        raise StoreError(f"{path} cannot be read: {problem.strerror}.") from None


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def refuse_link(path: Path) -> None:
    """Refuse to write in place what may be a file of the user's elsewhere: a folder of a stranger may lead there.

    Raises
    ------
    StoreError
        It is a link, a file of several names, or none.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        raise StoreError(
            f"{path} leads to another file, which would be written over; put a copy in its place, or choose another "
            "folder."
        )


def is_held(folder: Path) -> bool:
    """Return whether a driver that is alive holds a folder, asked without disturbing it."""
    try:
        with open(folder / LOCK) as lock:
            # A shared lock, so that two processes that only look do not refuse each other.
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _locked(lock: TextIO) -> bool:
    """Take a lock; somebody may hold it for a moment only to see whether it is free.

    On a file system without locks there is nothing to take; drivers there write to files of their own.
    """
    for wait_seconds in (0.05, 0.1, 0.15, 0.0):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(wait_seconds)
        except OSError:
            return True
    return False


def _sign(lock: TextIO, folder: Path) -> None:
    try:
        lock.truncate(0)
        lock.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        lock.flush()
    except OSError as problem:
        raise StoreError(f"{folder}: cannot be used as a results folder: {problem.strerror}.") from None


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader sees the old one or the new one, never a part."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.unlink(missing_ok=True)
        with open(beside, "xb") as file:  # never one that was there before, such as a link
            file.write(content.encode() if isinstance(content, str) else content)
        os.replace(beside, path)
    except OSError as problem:
        with suppress(OSError):  # there is nothing to take away where nothing can be written
            beside.unlink(missing_ok=True)
        raise StoreError(f"{path} cannot be written: {problem.strerror}.") from None


def write_json(path: Path, value: Any) -> None:
    """Write plain types as readable JSON, whole or not at all."""
    write_whole(path, as_json(value))


def as_json(value: Any) -> str:
    """Return plain types as readable JSON."""
    return json.dumps(value, indent=2, sort_keys=True) + "\n"


_NAME_ONLY = getattr(os, "O_PATH", None)
"""Opens a file for nothing but to know where it is: closing that takes away no lock, as closing any other would."""


class FileGuard:
    """Holds on to a file that is at a path now.

    Raises
    ------
    OSError
        There is none, or it cannot be looked at.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._inode = _inode(path)
        self._file = None if _NAME_ONLY is None else os.open(path, _NAME_ONLY)

    def holds(self) -> bool:
        """Return False if another file is at the path, or none; what cannot be looked at is there."""
        try:
            return _inode(self.path) == self._inode
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True

    def now_at(self) -> Path | None:
        """Return the present path of the file; None where it was removed, or where it cannot be known."""
        with suppress(OSError):
            now = Path(os.readlink(f"/proc/self/fd/{self._file}"))
            if _inode(now) == self._inode:
                return now
        return None

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _inode(path: Path) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino
