"""Whether this process reads files by itself, past Python: bytes read that no file opened by Python accounts for.

Linux counts the bytes that a process reads (`rchar` in `/proc/self/io`). Python tells which files it opens. What was
read beyond their sizes was read by native code, such as Arrow's or HDF5's. Elsewhere than on Linux nothing is counted.
What maps files into memory is not counted either: packages that do so are known by name.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import Any

MAPPING = frozenset({"dbm", "duckdb", "h5py", "lmdb", "netCDF4", "polars", "pyarrow", "rasterio", "shelve", "tables"})
"""Packages that read files past Python, by calls or by mapping them."""

OPENING_OF_C = frozenset(
    {"creat", "fopen", "fopen64", "freopen", "mmap", "mmap64", "open", "open64", "openat", "popen"}
)
"""Functions of the C library by which files are opened past Python."""

TOLERATED = 32
"""Bytes that may be read past Python: the C library asks the system how many processors there are."""

OFTEN = 4
"""How often all of an opened file may be read: who seeks in it reads parts again."""


class NativeReads:
    """Counts the bytes that this process reads, which must do nothing else meanwhile."""

    def __init__(self) -> None:
        self._before: int | None = None
        self._explained = 0
        self._unknown = False

    def begin(self) -> None:
        """Begin to count."""
        self._before, self._explained = _read_bytes()
        self._unknown = False

    def opened(self, path: Any) -> None:
        """Note that Python opens a file; how much is read of a device or a pipe cannot be known."""
        try:
            state = os.stat(path)
        except (OSError, TypeError, ValueError):
            return
        if stat.S_ISREG(state.st_mode):
            self._explained += OFTEN * state.st_size
        else:
            self._unknown = True

    def loaded(self) -> None:
        """Note that machine code is loaded: the system reads it past Python, and it may read what it needs to begin."""
        self._unknown = True

    def found(self) -> bool:
        """Return whether more was read since `begin` than Python accounts for."""
        now, _ = _read_bytes()
        if now is None or self._before is None or self._unknown:
            return False
        return now - self._before > TOLERATED + self._explained


def _read_bytes() -> tuple[int | None, int]:
    """Return the bytes that this process has read, None where the system counts none, and the bytes that counting
    takes."""
    with suppress(OSError, ValueError, IndexError):
        file = os.open("/proc/self/io", os.O_RDONLY)
        try:
            text = os.read(file, 256)
            return int(text.split(None, 2)[1]), len(text)
        finally:
            os.close(file)
    return None, 0
