"""A measure that a user declares: a function of a record, with its unit and the direction that is better."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from workbench.errors import InputError, unknown_name, wrong_value
from workbench.metrics.measure import COMPARED_BY, Better, ComparedBy, Measure
from workbench.parts.registry import first_paragraph

BETTER = ("lower", "higher", "neither")

_TAKEN = ("run_id", "point_id", "point", "seed", "status", "error", "origin")
"""Names of other columns of a table of runs."""


class UserMeasure(NamedTuple):
    """A measure of the user's: what `@measure(...)` makes of a function. It can be called like that function."""

    declared: Measure
    function: Callable[[Any], float]
    source: str = ""
    """How a sweep names it where that is not by its name alone: `FILE.py:NAME`."""
    of: Literal["record", "setup"] = "record"
    """What the function takes; those of a setup are the package's own."""
    check: Callable[[Any], None] | None = None
    """Refuses, while a sweep is planned, a setup of which the measure cannot be computed."""

    @property
    def name(self) -> str:
        """Return the name of the measure's column."""
        return self.declared.name

    @property
    def description(self) -> str:
        """Return the subject of the measure."""
        return self.declared.description

    @property
    def built_in(self) -> bool:
        """Return whether it is the package's: those of a setup; a measure of a record is the user's."""
        return self.of == "setup"

    def __call__(self, record: Any) -> float:
        """Compute it of what its function takes."""
        return self.function(record)


DECLARATION = '@wb.measure(unit="cycles", better="lower", description="...")'


def measure(
    function: Any = None,
    *,
    unit: str | None = None,
    better: Better | None = None,
    description: str = "",
    compared_by: ComparedBy = "difference",
    least_effect: float | None = None,
) -> Callable[[Callable[[Any], float]], UserMeasure]:
    """Declare a function of a record as a measure: what `add_measure` enters, or a sweep names as `FILE.py:NAME`.

    Parameters
    ----------
    unit : str
        Of the number that it returns, such as `cycles`; empty for a share.
    better : {"lower", "higher", "neither"}
        What is good.
    description : str
        What it measures; the first sentence of the function's docstring if empty.
    compared_by : {"ratio", "difference"}
        How policies are compared: `ratio`, a speed-up, if the measure can never be 0.
    least_effect : float, optional
        The least size that counts, above 0: a share of 1 for ratios (0.01 if None), the unit for differences.

    Returns
    -------
    callable
        A decorator; what it returns can be called like the function.

    Raises
    ------
    InputError
        The unit or the direction is missing, `compared_by` or `least_effect` cannot be, or the function has no name
        that a column could have.

    Examples
    --------
    >>> @measure(unit="segments", better="neither", description="the longest request")
    ... def longest(record):
    ...     return record.length.max()
    >>> longest.declared.label
    'longest (segments)'
    """
    if function is not None:
        name = getattr(function, "__name__", "a measure")
        raise InputError(f"{name} needs its unit and which direction is better: {DECLARATION}.")
    if not isinstance(unit, str):
        raise wrong_value("", "the unit of a measure", f"must be said, empty for a share: {DECLARATION}", unit)
    if better not in BETTER:
        raise wrong_value("", "better", f"must be lower, higher or neither: {DECLARATION}", better)
    if compared_by not in COMPARED_BY:
        raise unknown_name("", "compared_by", compared_by, COMPARED_BY)
    if least_effect is not None and not (isinstance(least_effect, (int, float)) and 0 < least_effect < math.inf):
        raise wrong_value("", "least_effect", "must be a number above 0", least_effect)

    def declared(function: Callable[[Any], float]) -> UserMeasure:
        name = getattr(function, "__name__", "")
        if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) or name in _TAKEN:
            raise wrong_value("", "the function of a measure", "must have a name that a column can have", name)
        text = description or first_paragraph(function.__doc__)
        return UserMeasure(Measure(name, unit, better, text, "", "", compared_by, least_effect), function)

    return declared
