"""Whole-number columns from a CSV file, strictly: every field is checked, and the first that is wrong is named.

The file is checked and read as a whole by NumPy, a million rows in about a third of a second. Only where that finds
something unusual is it read again line by line, which is slow and knows what to say.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.errors import InputError
from workbench.levers import Lever

_NINE, _ZERO, _COMMA, _NEWLINE = (ord(character) for character in "90,\n")
_DIGITS_OF_INT64 = 18
_DIGITS_OF_PYTHON = 4000


def read_columns(content: bytes, columns: Mapping[str, Lever], where: str) -> dict[str, np.ndarray]:
    """The columns of a CSV text: a header with exactly their names in any order, then rows of whole numbers.

    Parameters
    ----------
    content : bytes
        The text, in UTF-8, with commas, and with either kind of line end.
    columns : mapping of levers
        The names, each with the range of its numbers.

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
    header, _, body = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").partition(b"\n")
    order = _order(header, columns, where)
    body = body.rstrip(b"\n")
    if not body:
        raise InputError(f"{where}: must have at least one row below the header. It has none.")
    table = _at_once(body, len(order))
    if table is None or not all(_inside(columns[name], table[:, k]) for k, name in enumerate(order)):
        table = _by_line(body, [columns[name] for name in order], where)
    return {name: np.ascontiguousarray(table[:, order.index(name)]) for name in columns}


def row_place(row: int) -> str:
    """How messages name a row (counted from 0): `row 1 (line 2)` is the first below the header."""
    return f"row {row + 1} (line {row + 2})"


def _order(header: bytes, columns: Mapping[str, Lever], where: str) -> list[str]:
    """The names as the header orders them."""
    text = header.decode("utf-8", errors="replace")
    names = [name.strip().strip('"') for name in text.split(",")]
    if sorted(names) != sorted(columns):
        missing = [name for name in columns if name not in names]
        others = [name for name in dict.fromkeys(names) if name not in columns]
        twice = [name for name in columns if names.count(name) > 1]
        found = {"Missing": missing, "Unknown": others, "Twice": twice}
        faults = " ".join(f"{what}: {', '.join(which)[:80]}." for what, which in found.items() if which)
        printable = "".join(character if character.isprintable() else "?" for character in faults)
        raise InputError(
            f"{where}: the first line must name the columns {','.join(columns)}, in any order. {printable}"
        )
    return names


def _at_once(body: bytes, width: int) -> np.ndarray | None:
    """All rows as int64[rows, width] if every field is one to eighteen digits and every row complete, else None."""
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


def _by_line(body: bytes, columns: list[Lever], where: str) -> np.ndarray:
    """All rows, read one by one: raises at the first that is wrong."""
    lines = body.split(b"\n")
    table = np.empty((len(lines), len(columns)), np.int64)
    for row, line in enumerate(lines):
        place = f"{where}: {row_place(row)}"
        fields = line.split(b",")
        if len(fields) != len(columns):
            names = ",".join(lv.name for lv in columns)
            raise InputError(
                f"{place}: must have {len(columns)} fields ({names}). It has {len(fields) if line else 0}."
            )
        table[row] = [lv.check(_number(field), lv.name, place) for lv, field in zip(columns, fields)]
    return table


def _number(field: bytes) -> int | str:
    """A field of digits as the number that it is; anything else as the text that it is."""
    if field.isdigit() and len(field) < _DIGITS_OF_PYTHON:
        return int(field)
    return field.decode("utf-8", errors="replace")
