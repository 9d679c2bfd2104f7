"""A results folder: who holds it, and the small files beside its store, each written whole or not at all."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from workbench.errors import StoreError

STORE, LOCK, SWEEP, PROVENANCE, TABLE = (
    "store.sqlite",
    "driver.lock",
    "sweep.yaml",
    "provenance.json",
    "results.parquet",
)
MANIFEST = "manifest.json"
"""Stands in an exported bundle, and in no results folder."""


@contextmanager
def held(folder: Path) -> Iterator[Path]:
    """Make a folder and hold it while a driver writes to it; the lock goes with the process, however that ends.

    Raises
    ------
    StoreError
        Another driver holds it (the message says which), its lock is a link to another file, or it cannot be made; or
        it is an exported bundle, whose files runs would replace.
    """
    if (folder / MANIFEST).is_file() and not (folder / STORE).exists():
        raise StoreError(f"{folder} is an exported bundle, and runs would replace its files; name another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        refuse_link(folder / LOCK)
        lock = open(folder / LOCK, "a+")  # noqa: SIM115 - held beyond this block
    except OSError as problem:
        raise StoreError(f"{folder}: cannot be used as a results folder: {problem.strerror}.") from None
    with lock:
        if not _locked(lock):
            lock.seek(0)
            holder = lock.read().strip() or "another process"
            raise StoreError(f"{folder} is in use by {holder}; wait for it or choose another folder.")
        _sign(lock, folder)
        yield folder


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
    write_whole(path, json.dumps(value, indent=2, sort_keys=True) + "\n")
