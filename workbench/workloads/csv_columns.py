"""Columns of CSV files: a strict reader of whole numbers, row by row or in pieces, and the writer.

Every field is checked, and the first that is wrong is named. The file is checked and read by NumPy in pieces of some
megabytes, a million rows of three columns in about a third of a second. Only a piece in which that finds something
unusual is read again line by line, which is slow and knows what to say.

A file that is written appears whole or not at all.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path

import numpy as np

from workbench.errors import InputError
from workbench.levers import Lever

_NINE, _ZERO, _COMMA, _NEWLINE = (ord(character) for character in "90,\n")
_DIGITS_OF_INT64 = 18
_DIGITS_OF_PYTHON = 4000
_PIECE = 1 << 22
"""Bytes that are read at once: what NumPy needs for them on the side is some ten times as much."""


def column_names(content: bytes) -> list[str]:
    """Return the names in the header of a CSV text, in its order.

    >>> column_names(b'arrival, "length"\\n0,3\\n')
    ['arrival', 'length']
    """
    header, _, _ = content.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    text = header.removesuffix(b"\r").decode("utf-8", errors="replace")
    return [name.strip().strip('"') for name in text.split(",")]


def read_columns(content: bytes, columns: Mapping[str, Lever], where: str, also: str = "") -> dict[str, np.ndarray]:
    """Read the columns of a CSV text: a header with exactly their names in any order, then rows of whole numbers.

    Parameters
    ----------
    content : bytes
        The text, in UTF-8, with commas, and with either kind of line end.
    columns : mapping of levers
        The names, each with the range of its numbers.
    also : str
        What else the header may name, for the message.

    Returns
    -------
    dict of int64[rows], in the order of `columns`.

    Raises
    ------
    InputError
        The header or a field is not as it must be; the sentence names row, line and column. The first row is row 1, on
        line 2.

    Examples
    --------
    >>> length = {"length": Lever("length", "integer", least=1, most=4096)}
    >>> read_columns(b"length\\n3\\n5\\n", length, "jobs.csv")
    {'length': array([3, 5])}
    >>> read_columns(b"length\\n3\\n0\\n", length, "a.csv")
    Traceback (most recent call last):
    workbench.errors.InputError: a.csv: row 2 (line 3): length must be a whole number from 1 to 4096. Got 0. Nearest: 1.
    """
    order = _order(content, columns, where, also)
    body = content.partition(b"\n")[2].replace(b"\r\n", b"\n").rstrip(b"\n")
    if not body:
        raise InputError(f"{where}: must have at least one row below the header. It has none.")
    levers = [columns[name] for name in order]
    read: list[list[np.ndarray]] = [[] for _ in order]
    for table in _tables(_pieces(body), levers, where):
        for parts, column in zip(read, table.T):
            parts.append(column.copy())
    return {name: np.concatenate(read[order.index(name)]) for name in columns}


def stream_columns(
    texts: Iterable[bytes], columns: Mapping[str, Lever], optional: Mapping[str, Lever], where: str
) -> Iterator[dict[str, np.ndarray]]:
    """Yield the same from a text that comes in parts, some rows at a time; memory does not grow with the text.

    Parameters
    ----------
    texts : bytes
        The text, cut anywhere.
    optional : mapping of levers
        Columns that the header may name as well.

    Examples
    --------
    >>> length = {"length": Lever("length", "integer", least=1, most=4096)}
    >>> [rows["length"].tolist() for rows in stream_columns([b"length\\n3\\n4", b"5\\n\\n"], length, {}, "jobs.csv")]
    [[3], [45]]
    """
    parts = _whole_lines(texts)
    header = next(parts, b"")
    levers = {**columns, **{name: lv for name, lv in optional.items() if name in column_names(header)}}
    order = _order(header, levers, where, f"; there may be {','.join(optional)}" if optional else "")
    rows = 0
    for table in _tables(parts, [levers[name] for name in order], where):
        rows += len(table)
        yield {name: np.ascontiguousarray(table[:, order.index(name)]) for name in levers}
    if not rows:
        raise InputError(f"{where}: must have at least one row below the header. It has none.")


def _whole_lines(texts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the first line, then whole lines together, without the line end after each part or blank lines at the
    end."""
    rest, header = b"", True
    for text in texts:
        rest += text
        if header and b"\n" in rest:
            line, _, rest = rest.partition(b"\n")
            yield line
            header = False
        cut = rest.rfind(b"\n", 0, len(rest.rstrip(b"\r\n")))
        if not header and cut >= 0:
            yield rest[:cut].replace(b"\r\n", b"\n").removesuffix(b"\r")
            rest = rest[cut + 1 :]
    rest = rest.replace(b"\r\n", b"\n").rstrip(b"\r\n" if not header else b"")
    if rest:
        yield rest


def _tables(pieces: Iterable[bytes], levers: list[Lever], where: str) -> Iterator[np.ndarray]:
    """Yield int64[rows, columns] of each piece; the first field that is wrong is refused."""
    rows = 0
    for piece in pieces:
        table = _at_once(piece, len(levers))
        if table is None or not all(_inside(lv, table[:, k]) for k, lv in enumerate(levers)):
            table = _by_line(piece, levers, where, rows)
        rows += len(table)
        yield table


def row_place(row: int) -> str:
    """Return the name of a row in messages (counted from 0): `row 1 (line 2)` is the first below the header."""
    return f"row {row + 1} (line {row + 2})"


def _order(content: bytes, columns: Mapping[str, Lever], where: str, also: str) -> list[str]:
    """Return the names as the header orders them."""
    names = column_names(content)
    if sorted(names) != sorted(columns):
        missing = [name for name in columns if name not in names]
        others = [name for name in dict.fromkeys(names) if name not in columns]
        twice = [name for name in columns if names.count(name) > 1]
        problems = {"Missing": missing, "Unknown": others, "Twice": twice}
        faults = " ".join(f"{what}: {', '.join(which)[:80]}." for what, which in problems.items() if which)
        raise InputError(
            f"{where}: the first line must name the columns {','.join(columns)}, in any order{also}. {faults}"
        )
    return names


def _pieces(body: bytes) -> Iterator[bytes]:
    """Yield a text in pieces of whole lines, without the line end after each."""
    start = 0
    while start < len(body):
        cut = body.find(b"\n", start + _PIECE)
        end = len(body) if cut < 0 else cut
        yield body[start:end]
        start = end + 1


def _at_once(body: bytes, width: int) -> np.ndarray | None:
    """Return all rows as int64[rows, width] if every field is one to eighteen digits and every row complete, else
    None."""
    characters = np.frombuffer(body + b"\n", np.uint8)
    ends = np.flatnonzero(characters < _ZERO)
    pattern = np.array([_COMMA] * (width - 1) + [_NEWLINE], np.uint8)
    if characters.max() > _NINE or len(ends) % width or (characters[ends].reshape(-1, width) != pattern).any():
        return None
    digits = np.diff(ends, prepend=-1) - 1
    if digits.min() < 1 or digits.max() > _DIGITS_OF_INT64:
        return None
    return np.fromstring(body.replace(b"\n", b","), np.int64, sep=",").reshape(-1, width)


def _inside(lv: Lever, numbers: np.ndarray) -> bool:
    return (lv.least is None or numbers.min() >= lv.least) and (lv.most is None or numbers.max() <= lv.most)


def _by_line(body: bytes, columns: list[Lever], where: str, above: int) -> np.ndarray:
    """Return all rows of a piece with so many rows above it, read one by one: raises at the first that is wrong."""
    lines = body.split(b"\n")
    table = np.empty((len(lines), len(columns)), np.int64)
    for row, line in enumerate(lines):
        place = f"{where}: {row_place(above + row)}"
        fields = line.split(b",")
        if len(fields) != len(columns):
            names = ",".join(lv.name for lv in columns)
            raise InputError(
                f"{place}: must have {len(columns)} fields ({names}). It has {len(fields) if line else 0}."
            )
        table[row] = [lv.check(_number(field, lv), lv.name, place) for lv, field in zip(columns, fields)]
    return table


def _number(field: bytes, lv: Lever) -> int | str:
    """Return a field of digits as the number that it is, signed where that may be; anything else as the text that it
    is."""
    digits = field.removeprefix(b"-") if lv.least is not None and lv.least < 0 else field
    if digits.isdigit() and len(field) < _DIGITS_OF_PYTHON:
        return int(field)
    return field.decode("utf-8", errors="replace")


def write_file(parts: Iterable[Mapping[str, np.ndarray]], out: Path | str) -> None:
    """Write columns, some rows at a time; the first part names them, and all have the same.

    Raises
    ------
    InputError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> write_file([{"cycle": np.array([0, 4]), "page": np.array([7, 7])}], place)
    >>> place.read_text()
    'cycle,page\\n0,7\\n4,7\\n'
    """
    place = Path(out)
    part = place.with_name(f".{place.name}.part")
    rest = iter(parts)
    first = next(rest)
    try:
        with part.open("w", encoding="ascii", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(first)
            for columns in chain([first], rest):
                writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
        os.replace(part, place)
    except OSError as problem:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise InputError(f"{place}: cannot be written ({problem.strerror}).") from None
