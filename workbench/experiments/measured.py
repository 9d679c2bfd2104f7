"""What computed the cells of a row: a digest for all measures of the engine, and one for each of the user's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class MeasuredBy(NamedTuple):
    """The digests of the code behind the cells of a row."""

    engine: str
    """Of the engine's own measures."""
    own: Mapping[str, str] = {}
    """Of each measure of the user's."""

    @property
    def text(self) -> str:
        """Return the text as a row holds it.

        >>> MeasuredBy("5e", {"slack": "a1"}).text, read("5e slack=a1").own
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


def read(text: str) -> MeasuredBy:
    """Return what a row holds; empty = unknown."""
    engine, *own = text.split(" ")
    return MeasuredBy(engine, dict(one.split("=") for one in own))


def lacking(text: str | None, wanted: MeasuredBy) -> bool:
    """Return True if a row that holds this text lacks a cell that is wanted; None = there is no row."""
    return text is None or (text != wanted.text and read(text).lacks(wanted))
