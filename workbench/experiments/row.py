"""A row: one run's outcome under the run's id, with what computed it and a checksum that proves it.

A run's id is a digest of everything that determines it (setup, engine revision, seed). What measured its cells is
named by one digest for all measures of the engine, and one for each of the user's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

ORIGIN_DIGITS = 16

_encode = json.JSONEncoder().encode
decode = json.JSONDecoder().raw_decode
"""Returns what a text of JSON holds, and where it ends; `json.loads` also looks for blanks, which no row has."""


class Row(NamedTuple):
    """One run's outcome."""

    id: str
    point: str
    seed: int
    status: str
    """`done`, `failed`, or `withdrawn`: it was done, and a run that was repeated gave something else."""
    error: str
    """One sentence, empty when done."""
    seconds: float
    measures: dict[str, float]
    origin: str = ""
    """Canonical JSON of what computed it (`provenance.own_origin`); empty = unknown, as in stores of format 2."""
    measured: str = ""
    """Digest of the code that computed its measures; empty = unknown."""


class Kept(NamedTuple):
    """A row as a store keeps it: plain values, the measures as one text, the origin by its id."""

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
    measured: str = ""

    def row(self, origins: Mapping[str, str]) -> Row:
        """Return the row, given the texts of the store's origins; an origin that is not among them is unknown."""
        measures, _ = decode(self.measures)
        return Row(*self[:6], measures, origins.get(self.origin, ""), self.measured)


def origin_id(text: str) -> str:
    """Return the id of an origin: a digest of its text, and empty where it is unknown.

    >>> origin_id('{"python":"3.11.2"}'), origin_id("")
    ('ef5ed846c7ba47ee', '')
    """
    return digest(text)[:ORIGIN_DIGITS] if text else ""


def kept(row: Row, at: float, origin: str) -> Kept:
    """Return a row as it is kept at a moment, with the id of its origin."""
    return Kept(*row[:5], float(row.seconds), _encode(row.measures), at, origin, row.measured)


def better(new: Kept, old: Kept | None) -> bool:
    """Return True if a row replaces another one of the same run.

    A failure may be tried again. A run that is done stays as it is, unless other code measured the new one, or it is
    withdrawn.
    """
    if old is None or old.status != "done" or new.status == "withdrawn":
        return True
    return new.status == "done" and new.measured != old.measured


def canonical(value: Any) -> str:
    """Return plain types as one text: keys sorted, no blanks, numbers as Python writes them.

    >>> canonical({"b": 1, "a": [0.5, True]})
    '{"a":[0.5,true],"b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=True)


def digest(text: str) -> str:
    """Return 32 hexadecimal digits of BLAKE2b."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


Revision = int | tuple[int, str]
"""Of an engine: its number; of one that is not part of this package with the digest of its code."""


def point_id(identity: dict[str, Any], revision: Revision) -> str:
    """Return the name of a setup under one revision of its engine."""
    return digest(canonical({"revision": revision, **identity}))


def run_id(point: str, seed: int) -> str:
    """Return the name of one run of a setup."""
    return digest(f"{point}/{seed}")


class MeasuredBy(NamedTuple):
    """The digests of the code behind the cells of a row."""

    engine: str
    """Of the engine's own measures."""
    own: Mapping[str, str] = {}
    """Of each measure of the user's."""

    @property
    def text(self) -> str:
        """Return the text as a row holds it.

        >>> MeasuredBy("5e", {"slack": "a1"}).text, read_measured("5e slack=a1").own
        ('5e slack=a1', {'slack': 'a1'})
        """
        return " ".join([self.engine, *(f"{name}={digest}" for name, digest in sorted(self.own.items()))])

    def lacks(self, wanted: MeasuredBy) -> bool:
        """Return True if cells that are wanted were computed by other code, or not at all.

        >>> more = MeasuredBy("5e", {"slack": "a1"})
        >>> more.lacks(MeasuredBy("5e")), MeasuredBy("5e").lacks(more)
        (False, True)
        """
        return self.engine != wanted.engine or any(self.own.get(name) != one for name, one in wanted.own.items())

    def same(self, other: MeasuredBy, name: str) -> bool:
        """Return True if the same code computed a cell here and there."""
        if name in self.own or name in other.own:
            return self.own.get(name) == other.own.get(name)
        return self.engine == other.engine

    def cells(self, measures: Mapping[str, float], wanted: MeasuredBy) -> dict[str, float]:
        """Return the cells of a row measured so that the wanted code would compute alike."""
        return {
            name: value
            for name, value in measures.items()
            if (name in wanted.own or name not in self.own) and self.same(wanted, name)
        }


def read_measured(text: str) -> MeasuredBy:
    """Return what a row holds; empty = unknown."""
    engine, *own = text.split(" ")
    return MeasuredBy(engine, dict(one.split("=") for one in own))


def lacking(text: str | None, wanted: MeasuredBy) -> bool:
    """Return True if a row that holds this text lacks a cell that is wanted; None = there is no row."""
    return text is None or (text != wanted.text and read_measured(text).lacks(wanted))
