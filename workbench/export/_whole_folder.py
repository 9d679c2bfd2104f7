"""A folder that is written whole or not at all, in the place of an earlier one only.

It grows under another name, next to a locked file that says whether its writer still lives, and is renamed.
"""

from __future__ import annotations

import fcntl
import glob
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workbench.errors import StoreError

OWNED = ".workbench-export"
"""The file; its lock goes with the process that holds it, however that ends."""


@contextmanager
def written_whole(to: Path, replaceable: Callable[[Path], bool], carry: Callable[[Path, Path], None]) -> Iterator[Path]:
    """Return a temporary folder next to the target that takes its name when everything inside went well.

    The remains of a killed export next to the target are removed first; an export that still runs is left alone.

    Parameters
    ----------
    replaceable : callable
        Whether what is there already may be replaced; an empty folder may be.
    carry : callable
        Takes the old folder and the new one, and brings over what must not be lost.

    Raises
    ------
    StoreError
        What is there may not be replaced, or nothing can be written there.
    """
    _tidy(to, replaceable)
    if to.exists() and not (to.is_dir() and (not any(to.iterdir()) or replaceable(to))):
        raise StoreError(f"{to} holds something that is no bundle; choose another folder.")
    partial = to.with_name(f".{to.name}.{os.getpid()}")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        with owned(partial) as mark:
            yield partial
            if to.exists():
                carry(to, partial)
            _exchange(partial, to)
            (to / mark.name).unlink()
    except OSError as problem:
        raise StoreError(f"{to} cannot be written: {problem.strerror or problem}.") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _exchange(new: Path, to: Path) -> None:
    """Put the new folder in place of the old one, which comes back if that fails."""
    old = to.with_name(f".{to.name}.{os.getpid()}.old")
    if to.exists():
        os.rename(to, old)
    try:
        os.rename(new, to)
    except OSError:
        if old.exists():
            os.rename(old, to)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _tidy(to: Path, replaceable: Callable[[Path], bool]) -> None:
    """Take away what killed exports to a folder left; the old folder comes back where it was only set aside."""
    ours = re.compile(rf"\.{re.escape(to.name)}\.(\d+)(\.old)?")
    for path in sorted(to.parent.glob(f".{glob.escape(to.name)}.*")):
        match = ours.fullmatch(path.name)
        if match is None or not path.is_dir() or not is_orphan(path, int(match[1])):
            continue
        if match[2] and replaceable(path) and not to.exists():
            os.rename(path, to)
        elif (path / OWNED).exists() or (match[2] and replaceable(path)):
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def owned(folder: Path) -> Iterator[Path]:
    """Mark a folder as written by this process, for as long as the block takes; the path of the mark is yielded."""
    mark = folder / OWNED
    with open(mark, "w", encoding="utf-8") as file:
        with suppress(OSError):  # a file system without locks: the number of the process must do
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.write(f"{os.getpid()} {socket.gethostname()}\n")
        file.flush()
        yield mark


def is_orphan(folder: Path, process: int) -> bool:
    """Return whether a process left a folder behind: it is gone, and it was one of this machine.

    A marked folder is asked for its lock, as another process may have the number by now.
    """
    if process == os.getpid():
        return False
    mark = folder / OWNED
    if not mark.exists():
        return not _lives(process)
    try:
        with open(mark, encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            host = file.read().partition(" ")[2].strip()
    except OSError:
        return False
    return host in ("", socket.gethostname())


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
