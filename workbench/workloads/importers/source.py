"""A trace file as bytes, read in pieces, decompressed on the way; what cannot be read is said in one sentence."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import IO

from workbench.errors import InputError
from workbench.units import bytes_said, parse_bytes

HEAD_BYTES = 1 << 20
PIECE_BYTES = 1 << 21
MOST_BYTES = 16 << 30
MOST_VARIABLE = "WORKBENCH_MOST_BYTES"
_OPENERS = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}


def most_bytes() -> int:
    """Return how many bytes of one file are read into memory at most: 16 GiB or a quarter of it, the smaller.

    The variable WORKBENCH_MOST_BYTES says another number, such as 64GiB.
    """
    named = os.environ.get(MOST_VARIABLE)
    if named:
        return parse_bytes(named, MOST_VARIABLE)
    return min(MOST_BYTES, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4)


class Source:
    """One trace file. Compression is recognised by the first bytes, not by the name.

    Raises
    ------
    InputError
        There is no such file, it is a folder or a device, it cannot be read, or it is empty.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.where = str(path)
        if os.path.isdir(path):  # says no to a name that is too long, where Path's raises
            raise InputError(f"{self.where}: is a folder; name one trace file in it.")
        if os.path.exists(path) and not os.path.isfile(path):
            raise InputError(f"{self.where}: is a pipe or a device; copy what it gives into a file.")
        with self._refusing(), self.path.open("rb") as file:
            start = file.read(8)
        if not start:
            raise InputError(f"{self.where}: is empty.")
        self._open = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), open)
        self.compressed = self._open is not open
        """Whether the contents are compressed."""

    @cached_property
    def head(self) -> bytes:
        """The first MiB of the contents, by which the format is recognised."""
        with self._refusing(), self._opened() as file:
            head = file.read(HEAD_BYTES)
        if not head:
            raise InputError(f"{self.where}: is empty once it is decompressed.")
        return head

    def pieces(self) -> Iterator[bytes]:
        """The contents in pieces of 2 MiB; memory does not grow with the file."""
        with self._refusing(), self._opened() as file:
            while piece := file.read(PIECE_BYTES):
                yield piece

    def _within(self, most: int) -> Iterator[bytes]:
        """The pieces, as long as they are not larger together than may be unpacked."""
        total = 0
        for piece in self.pieces():
            total += len(piece)
            if total > most:
                raise InputError(
                    f"{self.where}: holds more than {bytes_said(most)} once it is decompressed, the most that is read "
                    f"into memory; let {MOST_VARIABLE} say more, such as {MOST_VARIABLE}=64GiB."
                )
            yield piece

    def lines(self) -> Iterator[str]:
        """The contents as lines of text, ends kept; bytes that are not UTF-8 are replaced."""
        rest = b""
        for piece in self.pieces():
            *whole, rest = (rest + piece).splitlines(keepends=True)
            yield from (line.decode(errors="replace") for line in whole)
        if rest:
            yield rest.decode(errors="replace")

    def whole(self) -> bytes:
        """All of the contents.

        Raises
        ------
        InputError
            They are larger than `most_bytes` allows.
        """
        return b"".join(self._within(most_bytes()))

    def _opened(self) -> IO[bytes]:
        return self._open(self.path, "rb")  # type: ignore[operator]

    def _refusing(self) -> _Refusing:
        return _Refusing(self.where)


class _Refusing:
    """Turns what the operating system and the decompressors raise into a sentence about the file."""

    def __init__(self, where: str) -> None:
        self.where = where

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        if isinstance(problem, FileNotFoundError):
            raise InputError(f"{self.where}: there is no such file.") from None
        if isinstance(problem, EOFError):
            raise InputError(f"{self.where}: is cut off; its compressed data end too early, get it again.") from None
        if isinstance(problem, (gzip.BadGzipFile, zlib.error, lzma.LZMAError)):
            raise InputError(f"{self.where}: its compressed data are damaged; get it again.") from None
        if isinstance(problem, OSError):
            raise InputError(f"{self.where}: cannot be read ({problem.strerror or problem}).") from None
