"""A trace file as bytes, read in pieces, decompressed on the way; what cannot be read is said in one sentence.

That is a file that is absent, cut off or too large (`Source`), one of a format that is not read here, with the command
of its own tool that makes one that is (`refuse_unreadable`), and whatever an importer raised on the way through a file,
with the line (`as_one_sentence`).
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO, NamedTuple

from workbench.errors import InputError, shown
from workbench.files import as_utf8
from workbench.units import bytes_said, parse_bytes

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
    """Return how many bytes of one file are read into memory, or unpacked, at most: 16 GiB or a quarter of the memory.

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
        with _refusing(self.where), self.path.open("rb") as file:
            start = file.read(8)
        if not start:
            raise InputError(f"{self.where}: is empty.")
        self._open = next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), open)
        self.compressed = self._open is not open
        """Whether the contents are compressed."""

    @cached_property
    def head(self) -> bytes:
        """Return the first MiB of the contents, by which the format is recognised."""
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
        raise InputError(f"{where}: there is no such file.") from None
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


_WARP_HEADER = (b"-kernel name", b"-kernel id", b"-grid dim")


class Unreadable(NamedTuple):
    """A format that is not read."""

    endings: tuple[str, ...]
    """What names of its files end with."""
    is_what: str
    cure: str
    """The command, with `{name}` for the file's name and `{stem}` for it without its ending."""
    begins: re.Pattern[bytes] | None = None
    """What contents of its files begin with."""


_NSYS = "nsys export --type sqlite --output {stem}.sqlite {name}"
_ROCPROF = "rocprofv3 --kernel-trace --output-format csv -- PROGRAM"
_UNREADABLE = (
    Unreadable((".nsys-rep", ".qdrep", ".qdstrm"), "a report of Nsight Systems", _NSYS),
    Unreadable((".ncu-rep",), "a report of Nsight Compute", "ncu --import {name} --csv --page raw > {stem}.csv"),
    Unreadable((".tracez",), "a compressed trace of Accel-Sim 2 (zstd with a dictionary)", "traceDsm {name}"),
    Unreadable((".otf2",), "an OTF2 archive", "rocprofv3 --kernel-trace --output-format rocpd -- PROGRAM"),
    Unreadable((), "a table of counters of rocprofv3", _ROCPROF, re.compile(rb'[^\n]*Counter_Name"?,"?Counter_Value')),
    Unreadable((), "a table of API calls of rocprofv3", _ROCPROF, re.compile(rb'"?Domain"?,"?Function"?,')),
    Unreadable(
        (),
        "a log of RMM without its first line",
        "sed -i '1i Thread,Time,Action,Pointer,Size,Stream' {name}",
        re.compile(rb"\d+,[\d:.]+,(allocate|free|deallocate|allocate failure),[^,\n]*,\d+,\w+\r?\n"),
    ),
)
_NCU_MAGIC = b"NVR\x00"


def refuse_unreadable(source: Source) -> None:
    """Raise if a file is known not to be readable: one sentence with the command that makes one that is.

    Raises
    ------
    InputError
        It is of such a format.
    """
    found = next((it for it in _UNREADABLE if _is_of(it, source)), None)
    if found is None:
        return
    name = source.path.name
    stem = next((name.removesuffix(ending) for ending in found.endings if name.endswith(ending)), name)
    raise InputError(
        f"{source.where}: is {found.is_what}, which cannot be read; take `{found.cure.format(name=name, stem=stem)}`."
    )


def _is_of(unreadable: Unreadable, source: Source) -> bool:
    if source.path.name.endswith(unreadable.endings):
        return True
    if unreadable.begins is not None:
        return unreadable.begins.match(source.head.removeprefix(b"\xef\xbb\xbf")) is not None
    if ".ncu-rep" in unreadable.endings:
        return source.head.startswith(_NCU_MAGIC)
    return ".tracez" in unreadable.endings and is_tracez(source.head)


def is_tracez(head: bytes) -> bool:
    """Return whether contents are a header of Accel-Sim's, a null byte and more behind it, as a compressed trace is."""
    return head.lstrip().startswith(_WARP_HEADER) and bool(head.partition(b"\x00")[2].strip(b"\x00"))


@contextmanager
def as_one_sentence(source: Source, importer: str) -> Iterator[None]:
    """Turn whatever the importer of a format raises inside into a sentence about the file.

    Parameters
    ----------
    source : Source
        The file that is read.
    importer : str
        The name of the format.

    Raises
    ------
    InputError
        Anything was raised but an InputError, which goes through, or the user's interrupt.
    """
    try:
        yield
    except InputError:
        raise
    except MemoryError:
        raise InputError(
            f"{source.where}: does not fit into this machine's memory as it is read; take a machine with more, or a "
            "shorter recording."
        ) from None
    except OverflowError:
        raise InputError(f"{source.where}: holds a number that does not fit in 64 bits; the file is damaged.") from None
    except (Exception, SystemExit) as problem:
        number = _line_at_fault(source, problem.__traceback__)
        place = source.where if number is None else f"{source.where}: line {number}"
        what = f"{type(problem).__name__} ({shown(str(problem))})" if str(problem) else type(problem).__name__
        raise InputError(f"{place}: the importer {importer} raised {what}; see what stands there.") from problem


def _line_at_fault(source: Source, trace: TracebackType | None) -> int | None:
    """Return the number of the first line that was in the hands of the code that raised; None if no whole line was."""
    held = _texts(trace)
    if not held:
        return None
    try:
        return next((number for number, line in enumerate(source.lines(), 1) if line.strip() in held), None)
    except InputError:
        return None


def _texts(trace: TracebackType | None) -> set[str]:
    """Return the texts that the code on the way to what raised had in its variables."""
    held: set[str] = set()
    while trace is not None:
        here = {value.strip() for value in trace.tb_frame.f_locals.values() if isinstance(value, str)} - {""}
        held, trace = here | held, trace.tb_next
    return held
