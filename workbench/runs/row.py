"""A row: one run's outcome under the run's id, with what computed it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from workbench.digests import digest

ORIGIN_DIGITS = 16
STARVED = "starved"
"""The status of a run that can never end, which statistics may rank as the worst."""

_encode = json.JSONEncoder().encode
decode = json.JSONDecoder().raw_decode
"""Returns what a text of JSON holds, and where it ends; `json.loads` also looks for blanks, which no row has."""


class Row(NamedTuple):
    """One run's outcome."""

    id: str
    point: str
    seed: int
    status: str
    """`done`, `failed`, `starved`: something waits for ever (spec 3), or `withdrawn`: it was done, and a run that was
    repeated gave something else. Whatever is not `done` is a failure."""
    error: str
    """One sentence, empty when done."""
    seconds: float
    measures: dict[str, float]
    origin: str = ""
    """Canonical JSON of what computed it (`origin.own_origin`); empty = unknown, as in stores of format 2."""
    measured: str = ""
    """Digest of the code that computed its measures; empty = unknown."""
    reads: str = ""
    """What code of the user's read in it (`Reads.text`), as a store keeps it with the invocation that made it; empty
    where nothing of the user's was executed."""


class Kept(NamedTuple):
    """A row as a store keeps it: plain values, the measures as one text, the origin and the reads by their ids."""

    id: str
    point: str
    seed: int
    status: str
    error: str
    seconds: float
    measures: str
    at: float | None
    """Seconds since 1970 when it was kept; None in stores of format 1."""
    origin: str = ""
    """The id of an entry in the store's table of origins; empty = unknown."""
    reads: str = ""
    """The id of an entry in the store's table of reads; empty where nothing of the user's was executed."""
    measured: str = ""

    def row(self, origins: Mapping[str, str], reads: Mapping[str, str] = {}) -> Row:
        """Return the row, given the texts of the store's origins and reads; what is not among them is unknown."""
        measures, _ = decode(self.measures)
        return Row(*self[:6], measures, origins.get(self.origin, ""), self.measured, reads.get(self.reads, ""))


def text_id(text: str) -> str:
    """Return the id of an origin or of reads: a digest of its text, and empty where it is unknown.

    >>> text_id('{"python":"3.11.2"}'), text_id("")
    ('ef5ed846c7ba47ee', '')
    """
    return digest(text)[:ORIGIN_DIGITS] if text else ""


def kept(row: Row, at: float, origin: str, reads: str = "") -> Kept:
    """Return a row as it is kept at a moment, with the ids of its origin and of its reads."""
    return Kept(*row[:5], float(row.seconds), _encode(row.measures), at, origin, reads, row.measured)


def better(new: Kept, old: Kept | None) -> bool:
    """Return True if a row replaces another one of the same run.

    A failure may be tried again. A run that is done stays as it is, unless other code measured the new one, or it is
    withdrawn.
    """
    if old is None or old.status != "done" or new.status == "withdrawn":
        return True
    return new.status == "done" and new.measured != old.measured
