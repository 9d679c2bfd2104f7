"""CSV tables as profilers print them, row by row.

The header of a CSV table may stand below lines of prose; fields are read by the names of their columns.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any

from workbench.errors import InputError, shown
from workbench.workloads.importers.source import Source

MOST_LINES_ABOVE = 64
"""Lines of prose above a header."""
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?([eE][+-]?\d{1,3})?", re.ASCII)
_UNIT = re.compile(r"(.*?)\s*\(([^()]*)\)$")


class Header:
    """The columns of a table: names in lower case without their unit, and the units.

    >>> header = Header(["Start (ns)", "GrdX", "StcSMem (MB)"])
    >>> header.places["start"], header.units["stcsmem"], header.units["grdx"]
    (0, 'MB', '')
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        split = [_split(name) for name in names]
        self.places = {name: place for place, (name, _) in reversed(list(enumerate(split)))}
        self.units = dict(reversed(split))

    def has(self, *names: str) -> bool:
        """Return whether all of some columns are there."""
        return all(name in self.places for name in names)

    def first(self, names: Sequence[str]) -> str:
        """Return the first of some columns that is there, the last where none is."""
        return next((name for name in names if name in self.places), names[-1])


def _split(name: str) -> tuple[str, str]:
    match = _UNIT.match(name.strip().lstrip("\ufeff"))
    return (match[1].lower(), match[2]) if match else (name.strip().lstrip("\ufeff").lower(), "")


Recognised = Callable[[Header], bool]


def has_header(head: bytes, is_header: Recognised) -> bool:
    """Return whether a text has a header that is recognized among its first lines."""
    lines = io.StringIO(head.decode(errors="replace"), newline="")
    return any(is_header(header) for header in _headers(islice(lines, MOST_LINES_ABOVE)))


def _headers(lines: Iterable[str]) -> Iterator[Header]:
    """Yield every line as a header."""
    for line in lines:
        try:
            yield Header(next(csv.reader([line.rstrip("\r\n")]), []))
        except csv.Error:
            yield Header([])


_UNKNOWN = {"", "n/a", "-", "nan"}
_MOST = 1 << 63


class Row:
    """One row; errors name the file, the line and the column."""

    def __init__(self, fields: Sequence[str], header: Header, where: str) -> None:
        self.fields, self.header, self.where = fields, header, where

    def text(self, name: str) -> str:
        """Return a field without blanks around it; empty where there is no such column."""
        place = self.header.places.get(name)
        return "" if place is None else self.fields[place].strip()

    def decimal(self, name: str) -> Decimal | None:
        """Return a number, None where the field is empty or says that nothing is known."""
        text = self.text(name)
        if text.lower() in _UNKNOWN:
            return None
        return decimal_of(text, self.where, self._named(name))

    def whole(self, name: str) -> int | None:
        """Return a whole number, None where the field is empty."""
        value = self.decimal(name)
        if value is None:
            return None
        if value != value.to_integral_value() or abs(value) >= _MOST:
            raise InputError(f"{self.where}: {self._named(name)} must be a whole number. Got {shown(self.text(name))}.")
        return int(value)

    def wholes(self, columns: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return whole numbers by what they are called here, each from the first of some columns that is there."""
        return {field: self.whole(self.header.first(names)) for field, names in columns.items()}

    def scaled(self, name: str, factors: Mapping[str, int]) -> int | None:
        """Return an amount in the smallest unit of some; the column's header says which it is in."""
        value, unit = self.decimal(name), self.header.units.get(name, "")
        if unit.lower() not in factors:
            known = ", ".join(filter(None, factors))
            raise InputError(f"{self.where}: {self._named(name)} must be in {known}. Got {shown(unit)}.")
        return None if value is None else round(value * factors[unit.lower()])

    def triple(self, *names: str) -> tuple[int, int, int] | None:
        """Return three whole numbers of at least 1, None where one is missing."""
        x, y, z = (self.whole(name) for name in names)
        if x is None or y is None or z is None:
            return None
        if min(x, y, z) < 1:
            raise InputError(f"{self.where}: {', '.join(names)} must each be at least 1. Got {(x, y, z)}.")
        return x, y, z

    def _named(self, name: str) -> str:
        place = self.header.places.get(name)
        display_name = name if place is None else self.header.names[place].strip().lstrip("\ufeff")
        return "".join(letter for letter in display_name if letter.isprintable())[:80]


def decimal_of(text: str, where: str, what: str) -> Decimal:
    """Return a finite number, with or without commas between thousands.

    Raises
    ------
    InputError
        It is none, or its commas stand elsewhere: in many locales a comma is what a point is in English.

    Examples
    --------
    >>> decimal_of("1,024.5", "it", "size")
    Decimal('1024.5')
    >>> decimal_of("4,17", "t.csv: line 2", "duration")
    Traceback (most recent call last):
    workbench.errors.InputError: t.csv: line 2: duration has a comma that is not between thousands. Got '4,17'. Export \
it again in an English locale (LC_ALL=C).
    """
    if "," in text and not _THOUSANDS.fullmatch(text):
        raise InputError(
            f"{where}: {what} has a comma that is not between thousands. Got {shown(text)}. Export it again in an "
            "English locale (LC_ALL=C)."
        )
    try:
        value = Decimal(text.replace(",", ""))
        if text.isascii() and value.is_finite() and value.adjusted() < 40:
            return value
    except (InvalidOperation, ValueError):
        pass
    raise InputError(f"{where}: {what} must be a number. Got {shown(text)}.")


def csv_rows(source: Source, is_header: Recognised, name: str) -> Iterator[Row]:
    """Yield every row below the header.

    Raises
    ------
    InputError
        There is no header, a row has another number of fields than it, or it is no CSV.
    """
    text = csv.reader(source.lines(), strict=True)
    header = None
    try:
        for fields in text:
            where = f"{source.where}: line {text.line_num}"
            if header is None:
                header = first if is_header(first := Header(fields)) else None
            elif fields and len(fields) != len(header.names):
                counts = f"{len(fields)} fields where the header has {len(header.names)}"
                raise InputError(f"{where}: has {counts}; the file is cut off or damaged.")
            elif fields:
                yield Row(fields, header, where)
    except csv.Error as problem:
        raise InputError(f"{source.where}: line {text.line_num} is no CSV ({problem}).") from None
    if header is None:
        raise InputError(f"{source.where}: has no header of {name}.")
