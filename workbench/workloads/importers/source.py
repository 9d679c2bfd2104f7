"""A trace file as bytes, read in pieces, decompressed on the way.

A file that is absent, cut off or too large is refused in one sentence.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import IO

from workbench.errors import InputError, no_file
from workbench.files import as_utf8
from workbench.number_text import bytes_said
from workbench.units import parse_bytes

HEAD_BYTES = 1 << 20
PIECE_BYTES = 1 << 21
MOST_BYTES = 16 << 30
MOST_LINE = 1 << 26
"""Bytes of one line of text: the longest known, of a pmc_perf.csv, have some ten thousand."""
MOST_EXPANSION, FREE_BYTES = 250, 1 << 25
"""How often what was read of it a file may unpack to, beyond 32 MiB: real traces reach fifty, bombs a thousand."""
MOST_VARIABLE = "WORKBENCH_MOST_BYTES"
_MOST_READ = (
    "{where}: holds more than {most} once it is decompressed, the most that is read; "
    "let {variable} say more, such as {variable}=64GiB."
)
_BOMB = (
    "{where}: unpacks to more than {most}, which no trace of this size does; if it is no bomb, "
    "let {variable} say how much it may be, such as {variable}=64GiB."
)
_OPENERS = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}


def most_bytes() -> int:
    """Return the most bytes of one file that are read into memory, or unpacked: 16 GiB or a quarter of the memory.

    The variable WORKBENCH_MOST_BYTES says another number, such as 64GiB.
    """
    named = os.environ.get(MOST_VARIABLE)
    if named:
        return parse_bytes(named, MOST_VARIABLE)
    return min(MOST_BYTES, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4)


class Source:
    """One trace file. Compression is recognized by the first bytes, not by the name.

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
        with _refusing(self.where), self.path.open("rb") as file:
            start = file.read(8)
        if not start:
            raise InputError(f"{self.where}: is empty.")
        self._open = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), open)
        self.compressed = self._open is not open
        """Whether the contents are compressed."""

    @cached_property
    def head(self) -> bytes:
        """Return the first MiB of the contents, by which the format is recognized."""
        with _refusing(self.where), self.path.open("rb") as raw, self._opened(raw) as file:
            head = b"".join(as_utf8([file.read(HEAD_BYTES)]))
        if not head:
            raise InputError(f"{self.where}: is empty once it is decompressed.")
        return head

    def pieces(self) -> Iterator[bytes]:
        """Yield the contents in pieces of 2 MiB; memory does not grow with the file.

        A byte order mark is left out, and UTF-16 becomes UTF-8.

        Raises
        ------
        InputError
            The file cannot be read, its compressed data are damaged, or they unpack to so much more than themselves
            that it must be a bomb, or to more than WORKBENCH_MOST_BYTES where that is set.
        """
        return filter(None, as_utf8(self._unpacked()))

    def _unpacked(self) -> Iterator[bytes]:
        """Return the contents as they stand in the file; a file that is not compressed may have any size."""
        if self._open is open:
            return self._read()
        if os.environ.get(MOST_VARIABLE):
            return self._within(self._read(), most_bytes(), _MOST_READ)
        return self._read(MOST_EXPANSION)

    def _read(self, most_expansion: float = math.inf) -> Iterator[bytes]:
        """Yield the contents; those that unpack to more than what was read of the file allows are refused there."""
        total = 0
        with _refusing(self.where), self.path.open("rb") as raw, self._opened(raw) as file:
            while piece := file.read(PIECE_BYTES):
                total += len(piece)
                if total > (most := FREE_BYTES + most_expansion * raw.tell()):
                    raise InputError(_BOMB.format(where=self.where, most=bytes_said(int(most)), variable=MOST_VARIABLE))
                yield piece

    def _within(self, pieces: Iterable[bytes], most: int, sentence: str) -> Iterator[bytes]:
        """Yield the pieces, as long as they are not larger together than that."""
        total = 0
        for piece in pieces:
            total += len(piece)
            if total > most:
                raise InputError(sentence.format(where=self.where, most=bytes_said(most), variable=MOST_VARIABLE))
            yield piece

    def lines(self) -> Iterator[str]:
        """Yield the contents as lines of text, ends kept; bytes that are not UTF-8 are replaced.

        Raises
        ------
        InputError
            A line is longer than 64 MiB; or as of `pieces`.
        """
        rest = b""
        for piece in self.pieces():
            *whole, rest = (rest + piece).splitlines(keepends=True)
            if len(rest) > MOST_LINE:
                raise InputError(f"{self.where}: has a line of more than {bytes_said(MOST_LINE)}, so it is no trace.")
            yield from (line.decode(errors="replace") for line in whole)
        if rest:
            yield rest.decode(errors="replace")

    def whole(self) -> bytes:
        """Return all of the contents.

        Raises
        ------
        InputError
            They are larger than `most_bytes` allows.
        """
        return b"".join(self._within(self.pieces(), most_bytes(), _MOST_READ))

    @contextmanager
    def _opened(self, raw: IO[bytes]) -> Iterator[IO[bytes]]:
        """Open the contents of an open file, whose place then says how much of it was unpacked."""
        if self._open is open:
            yield raw
        else:
            with self._open(raw, "rb") as file:  # type: ignore[operator]
                yield file


@contextmanager
def _refusing(where: str) -> Iterator[None]:
    """Turn what the operating system and the decompressors raise into a sentence about the file."""
    try:
        yield
    except FileNotFoundError:
        raise no_file(where) from None
    except EOFError:
        raise InputError(f"{where}: is cut off; its compressed data end too early, get it again.") from None
    except (gzip.BadGzipFile, zlib.error, lzma.LZMAError):
        raise InputError(f"{where}: its compressed data are damaged; get it again.") from None
    except OSError as problem:
        raise InputError(f"{where}: cannot be read ({problem.strerror or problem}).") from None


def taken(pieces: Iterator[bytes], at_least: int) -> bytes:
    """Return the next pieces together: at least one, and so many bytes; fewer at the end, where there are no more.

    >>> taken(iter([b"ab", b"cd", b"ef"]), 3)
    b'abcd'
    """
    parts: list[bytes] = []
    size = 0
    while size < max(at_least, 1) and (piece := next(pieces, b"")):
        parts.append(piece)
        size += len(piece)
    return b"".join(parts)
