"""What a policy for units sees (spec 3, Em. 8)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import PARAMS, number, readable, view, writable


@view
class UnitsView(NamedTuple):
    """A group, and the module that it would go to."""

    waves: int = number("waves of the group, at least 1")
    units: int = number("units of the module")
    pointer: int = number("what the module stores for this policy: where the rotation stands, or a generator's state")
    taken: np.ndarray = readable("int64", "units", "waves that run on each unit now")
    counts: np.ndarray = writable("int64", "units", "to be filled: the waves that each unit is given, `waves` in all")
    levers: Any = PARAMS
