"""Is a file that a driver writes to still the one at its path? A removed file takes writes without a word."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_NAME_ONLY = getattr(os, "O_PATH", None)
"""Opens a file for nothing but to know where it is: closing that takes away no lock, as closing any other would."""


class Anchor:
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
        """Return where the file is now; None where it was removed, or where nobody can tell."""
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
