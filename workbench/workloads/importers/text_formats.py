r"""CSV tables and arrays in JSON as profilers print them, row by row and element by element.

The header of a CSV table may stand below lines of prose; fields are read by the names of their columns.

A profiler writes a gigabyte of JSON as one object whose array of events is nearly all of it; it is read in batches,
without the document in memory. Where an element ends is seen for a whole piece at once with array operations over its
bytes (quotes, brackets, commas); the elements are then decoded by a typed decoder, batch by batch.

JSON as profilers really wrote it is made JSON (`repaired`), and how often is counted:

- Backslashes of Windows paths that were not escaped (pytorch/pytorch#98432): `"torch\cuda"` becomes `"torch\\cuda"`. A
  path such as `torch\nn` is JSON already, with a line feed where a backslash was meant, and nobody can tell.
- Control characters inside strings (pytorch/pytorch#136180) become `\u0001`.
- Numbers that JSON does not have (pytorch/kineto#105), `inf` and `nan`, become the strings `"inf"` and `"nan"`: what
  reads such a number then refuses it, and what does not read it is not disturbed.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Any

import numpy as np

from workbench.errors import InputError, shown
from workbench.units import bytes_said
from workbench.workloads.importers.source import Source, taken

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
    """Return whether a text has a header that is recognised among its first lines."""
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
        shown_name = name if place is None else self.header.names[place].strip().lstrip("\ufeff")
        return "".join(letter for letter in shown_name if letter.isprintable())[:80]


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


_OPEN, _CLOSE, _COMMA, _QUOTE = 1, 2, 3, 4
_KIND = {**dict.fromkeys(b"[{", _OPEN), **dict.fromkeys(b"]}", _CLOSE), ord(","): _COMMA, ord('"'): _QUOTE}
_KINDS = bytes(_KIND.get(byte, 0) for byte in range(256))
_MARKED = bytes(byte in _KIND for byte in range(256))
_ARRAY = re.compile(rb"\[")
_LONGEST_KEY = 1 << 12
"""Bytes that a key and the blanks after it may take, about."""
MOST_PENDING = 1 << 28
"""Bytes before the array, and of one element: what is larger is no profile, or a bomb."""


class JsonArray:
    """The array that stands under a key of a document, or the document itself where it is an array.

    Parameters
    ----------
    pieces : iterator of bytes
        The document.
    key : str
        The key of the array.
    where : str
        The file, for refusals.
    """

    def __init__(self, pieces: Iterator[bytes], key: str, where: str) -> None:
        self._pieces = pieces
        self._key = key
        self._start = re.compile(rb'"' + re.escape(key.encode()) + rb'"\s*:\s*\[')
        self._where = where
        self.is_document = False
        """Whether the document is the array itself; then there is no rest."""
        self.rest = b""
        """The document with the array empty; complete once the batches are used up."""

    def batches(self) -> Iterator[bytes]:
        """Yield JSON arrays of whole elements, in order.

        >>> array = JsonArray(iter([b'{"a": 1, "events": [{"x": "],"}, ', b'{"y": [2]}], "b": 3}']), "events", "t.json")
        >>> list(array.batches()), array.rest
        ([b'[{"x": "],"}]', b'[ {"y": [2]}]'], b'{"a": 1, "events": [], "b": 3}')
        """
        pending = self._before()
        while True:
            cut, end = _cut(pending)
            if end >= 0:
                yield from _batch(pending[:end])
                self.rest += pending[end:] + self._after()
                return
            if cut >= 0:
                yield from _batch(pending[:cut])
                pending = pending[cut + 1 :]
            if len(pending) > MOST_PENDING:
                raise InputError(f"{self._where}: one of its {self._key} takes more than {bytes_said(MOST_PENDING)}.")
            more = taken(self._pieces, len(pending))  # so that a long element is scanned a few times only
            if not more:
                raise InputError(f"{self._where}: is cut off; it ends within its {self._key}.")
            pending += more

    def _before(self) -> bytes:
        """Read up to the array's first element; what stands before it goes to the rest."""
        text = bytearray()
        for piece in self._pieces:
            seen = max(len(text) - _LONGEST_KEY, 0)
            text += piece
            self.is_document = text[:_LONGEST_KEY].lstrip()[:1] == b"["
            match = _ARRAY.search(text) if self.is_document else self._start.search(text, seen)
            if match:
                self.rest = bytes(text[: match.end()])
                return bytes(text[match.end() :])
            if len(text) > MOST_PENDING:
                raise InputError(f"{self._where}: holds no {self._key} in its first {bytes_said(MOST_PENDING)}.")
        raise InputError(f"{self._where}: holds no {self._key}.")

    def _after(self) -> bytes:
        """Read what stands behind the array."""
        parts: list[bytes] = []
        for piece in self._pieces:
            parts.append(piece)
            if sum(map(len, parts)) > MOST_PENDING:
                raise InputError(f"{self._where}: holds more than {bytes_said(MOST_PENDING)} after its {self._key}.")
        return b"".join(parts)


def _batch(elements: bytes) -> Iterator[bytes]:
    if elements.strip():
        yield b"[" + elements + b"]"


def _cut(text: bytes) -> tuple[int, int]:
    """Return where the last whole element of a text ends (its comma), and where the array ends; -1 where it does not.

    The text begins at an element, outside of every string.
    """
    plain = text.replace(b"\\\\", b"__").replace(b'\\"', b"__") if b"\\" in text else text
    places = np.flatnonzero(np.frombuffer(plain.translate(_MARKED), np.bool_))
    kind = np.frombuffer(plain.translate(_KINDS), np.uint8)[places]
    outside = (np.cumsum(kind == _QUOTE, dtype=np.uint8) & 1 == 0) & (kind != _QUOTE)
    places, kind = places[outside], kind[outside]
    depth = np.cumsum((kind == _OPEN).astype(np.int8) - (kind == _CLOSE), dtype=np.int32)
    ends = np.flatnonzero(depth < 0)
    last = ends[0] if ends.size else len(places)
    commas = places[:last][(kind[:last] == _COMMA) & (depth[:last] == 0)]
    return int(commas[-1]) if commas.size else -1, int(places[last]) if ends.size else -1


BACKSLASHES, CONTROLS, NUMBERS = "backslashes", "control_characters", "numbers_without_value"
_ESCAPE = re.compile(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
_CONTROL = re.compile(rb"[\x00-\x1f]")
_STRING_OR_WORD = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\b(?:inf(?:inity)?|nan)\b', re.IGNORECASE | re.DOTALL)


def repaired(text: bytes) -> tuple[bytes, Counter[str]]:
    r"""Return a JSON text with what is known to be written wrongly mended, and how often each kind of it stood there.

    Parameters
    ----------
    text : bytes
        JSON that does not decode.

    Examples
    --------
    >>> repaired(rb'{"name": "torch\cuda", "occupancy": inf}')
    (b'{"name": "torch\\\\cuda", "occupancy": "inf"}', Counter({'backslashes': 1, 'numbers_without_value': 1}))
    """
    counts: Counter[str] = Counter()

    def escape(found: re.Match[bytes]) -> bytes:
        if len(found[0]) > 1:
            return found[0]
        counts[BACKSLASHES] += 1
        return rb"\\"

    def control(found: re.Match[bytes]) -> bytes:
        counts[CONTROLS] += 1
        return b"\\u%04x" % found[0][0]

    def mended(found: re.Match[bytes]) -> bytes:
        if found[0].startswith(b'"'):
            return _CONTROL.sub(control, found[0])
        counts[NUMBERS] += 1
        return b'"' + found[0] + b'"'

    return _STRING_OR_WORD.sub(mended, _ESCAPE.sub(escape, text)), counts
