"""A row: one run's outcome, and the checksum that tells whether what is on disk is what was kept."""

from __future__ import annotations

import json
import zlib
from typing import NamedTuple


class Row(NamedTuple):
    """One run's outcome."""

    id: str
    point: str
    seed: int
    status: str
    """`done` or `failed`."""
    error: str
    """One sentence, empty when done."""
    seconds: float
    measures: dict[str, float]


class Kept(NamedTuple):
    """A row as a store keeps it: plain values, the measures as one text, and when it was kept."""

    id: str
    point: str
    seed: int
    status: str
    error: str
    seconds: float
    measures: str
    at: float | None
    """Seconds since 1970; None in stores of format 1."""

    def checksum(self) -> int:
        """CRC-32 of everything but the time."""
        return zlib.crc32("\0".join(map(repr, self[:7])).encode())

    def row(self) -> Row:
        """The row."""
        return Row(*self[:6], json.loads(self.measures))


def kept(row: Row, at: float) -> Kept:
    """A row as it is kept at a moment."""
    return Kept(*row[:5], float(row.seconds), json.dumps(row.measures), at)


def better(new: Kept, old: Kept | None) -> bool:
    """Whether a row replaces another of the same run: one that is done stays as it is, a failure may be tried again."""
    return old is None or old.status != "done"
