"""Which code computed the measures of a row: an edited measure makes its cells missing, never its runs foreign.

One digest stands for all measures of an engine, as one function computes them; each measure of the user's has its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.experiments.measured import MeasuredBy
from workbench.experiments.mechanism import Mechanism
from workbench.experiments.own_measures import OwnMeasure
from workbench.identity import Snapshot, snapshot

DIGITS = 16

_known: dict[int, tuple[object, Snapshot]] = {}
"""The digest of each function by its address; the function is kept, so that no other one can take its place."""


def measures_digest(mechanism: Mechanism, anew: bool = False) -> str:
    """Return the digest of the code and the values that compute an engine's measures.

    Parameters
    ----------
    mechanism : Mechanism
        The engine with its measures.
    anew : bool
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
    >>> from workbench.experiments.mechanism import mechanism
    >>> len(measures_digest(mechanism("shared_memory")))
    16
    """
    return _digest(mechanism.measure, anew)


def measured_by(mechanism: Mechanism, own: Mapping[str, OwnMeasure], anew: bool = False) -> MeasuredBy:
    """Return the digests of an engine's measures and of some of the user's; parameters and errors as above."""
    return MeasuredBy(
        measures_digest(mechanism, anew), {name: _digest(one.function, anew) for name, one in own.items()}
    )


def _digest(function: Any, anew: bool) -> str:
    _, taken = _known.get(id(function), (None, None))
    if taken is None or (anew and taken.changed()):
        taken = snapshot(function)
        _known[id(function)] = function, taken
    return taken.digest[:DIGITS]
