r"""Arrays in JSON files as profilers print them, element by element, and the repair of their strings.

A profiler writes a gigabyte of JSON as one object whose array of events is nearly all of it; it is read in batches,
without the document in memory. Where an element ends is seen for a whole piece at once with array operations over its
bytes (quotes, brackets, commas); the elements are then decoded by a typed decoder, batch by batch.

JSON as profilers really wrote it is made JSON (`repaired`), and how often is counted:

- Backslashes of Windows paths that were not escaped (pytorch/pytorch#98432): `"torch\cuda"` becomes `"torch\\cuda"`. A
  path such as `torch\nn` is JSON already, with a line feed where a backslash was meant, and the two cannot be told
  apart.
- Control characters inside strings (pytorch/pytorch#136180) become `\u0001`.
- Numbers that JSON does not have (pytorch/kineto#105), `inf` and `nan`, become the strings `"inf"` and `"nan"`: what
  reads such a number then refuses it, and what does not read it is not disturbed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from workbench.errors import InputError
from workbench.number_text import bytes_said
from workbench.workloads.importers.source import taken

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
    """Return the end of the last whole element of a text (its comma), and the end of the array; -1 where it does not
    end.

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
    r"""Return a JSON text with its known faults repaired, and the count of each kind of them.

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

    def escape(match: re.Match[bytes]) -> bytes:
        if len(match[0]) > 1:
            return match[0]
        counts[BACKSLASHES] += 1
        return rb"\\"

    def control(match: re.Match[bytes]) -> bytes:
        counts[CONTROLS] += 1
        return b"\\u%04x" % match[0][0]

    def mended(match: re.Match[bytes]) -> bytes:
        if match[0].startswith(b'"'):
            return _CONTROL.sub(control, match[0])
        counts[NUMBERS] += 1
        return b'"' + match[0] + b'"'

    return _STRING_OR_WORD.sub(mended, _ESCAPE.sub(escape, text)), counts
