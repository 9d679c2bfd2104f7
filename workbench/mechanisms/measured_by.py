"""Which code computed the cells of a row: one digest for all measures of an engine, and one for each of the user's.

An edited measure makes its cells missing, never its runs foreign.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from workbench.identity import Snapshot, snapshot
from workbench.mechanisms.mechanism import Mechanism
from workbench.mechanisms.user_measure import UserMeasure


class MeasuredBy(NamedTuple):
    """The digests of the code behind the cells of a row."""

    engine: str
    """Of the engine's own measures."""
    user_measures: Mapping[str, str] = {}
    """Of each measure of the user's."""

    @property
    def text(self) -> str:
        """Return the text as a row holds it.

        >>> MeasuredBy("5e", {"slack": "a1"}).text, read_measured("5e slack=a1").user_measures
        ('5e slack=a1', {'slack': 'a1'})
        """
        return " ".join([self.engine, *(f"{name}={digest}" for name, digest in sorted(self.user_measures.items()))])

    def lacks(self, wanted: MeasuredBy) -> bool:
        """Return True if cells that are wanted were computed by other code, or not at all.

        >>> more = MeasuredBy("5e", {"slack": "a1"})
        >>> more.lacks(MeasuredBy("5e")), MeasuredBy("5e").lacks(more)
        (False, True)
        """
        return self.engine != wanted.engine or any(
            self.user_measures.get(name) != one for name, one in wanted.user_measures.items()
        )

    def same(self, other: MeasuredBy, name: str) -> bool:
        """Return True if the same code computed a cell here and there."""
        if name in self.user_measures or name in other.user_measures:
            return self.user_measures.get(name) == other.user_measures.get(name)
        return self.engine == other.engine

    def cells(self, measures: Mapping[str, float], wanted: MeasuredBy) -> dict[str, float]:
        """Return the cells of a row measured so that the wanted code would compute alike."""
        return {
            name: value
            for name, value in measures.items()
            if (name in wanted.user_measures or name not in self.user_measures) and self.same(wanted, name)
        }


def read_measured(text: str) -> MeasuredBy:
    """Return the measures' digest of a row; empty = unknown."""
    engine, *user_measures = text.split(" ")
    return MeasuredBy(engine, dict(one.split("=") for one in user_measures))


def lacking(text: str | None, wanted: MeasuredBy) -> bool:
    """Return True if a row that holds this text lacks a cell that is wanted; None = there is no row."""
    return text is None or (text != wanted.text and read_measured(text).lacks(wanted))


DIGITS = 16

_digests: dict[int, tuple[object, Snapshot]] = {}
"""The digest of each function by its address; the function is kept, so that no other one can take its place."""


def measures_digest(mechanism: Mechanism, anew: bool = False) -> str:
    """Return the digest of the code and the values that compute an engine's measures.

    Parameters
    ----------
    mechanism : Mechanism
        The engine with its measures.
    again : bool
        Look whether the user's code or values changed since the digest was last taken, as a run does before it starts:
        while it lasts, the digest stays.

    Returns
    -------
    str
        16 hexadecimal digits. One digest stands for all measures of an engine, as one function computes them.

    Raises
    ------
    InputError
        A measure reads something that has no digest, such as an open file.

    Examples
    --------
    >>> from workbench.mechanisms.mechanism import mechanism
    >>> len(measures_digest(mechanism("shared_memory")))
    16
    """
    return _digest(mechanism.measure, anew)


def measured_by(mechanism: Mechanism, user_measures: Mapping[str, UserMeasure], anew: bool = False) -> MeasuredBy:
    """Return the digests of an engine's measures and of some of the user's; parameters and errors as above."""
    return MeasuredBy(
        measures_digest(mechanism, anew), {name: _digest(one.function, anew) for name, one in user_measures.items()}
    )


def _digest(function: Any, anew: bool) -> str:
    _, taken = _digests.get(id(function), (None, None))
    if taken is None or (anew and taken.changed()):
        taken = snapshot(function)
        _digests[id(function)] = function, taken
    return taken.digest[:DIGITS]
