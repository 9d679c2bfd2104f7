"""Who writes a folder that has not its name yet, and does it still live? A locked file inside says so."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

OWNED = ".workbench-export"
"""The file; its lock goes with the process that holds it, however that ends."""


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
