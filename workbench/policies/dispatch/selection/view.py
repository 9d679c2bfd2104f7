"""What a selection sees of the groups at the heads of their channels (spec 3, Em. 1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, number, readable, view

NOBODY = -1
"""The answer that says: dispatch nothing in this round."""


@view
class SelectionView(NamedTuple):
    """The groups at the heads of their channels; arrays may be longer than `count`."""

    cycle: int = number("the cycle of the round")
    count: int = number("how many groups wait at the heads of their channels")  # type: ignore[assignment]
    channel: np.ndarray = readable("int64", "groups", "the channel of each, not decreasing")
    priority: np.ndarray = readable(
        "int64", "groups", "the static priority of each, 1 = highest; where nobody has one, 1"
    )
    rank: np.ndarray = readable("int64", "groups", "what the priority policy says of each: the lowest is most urgent")
    fits: np.ndarray = readable("int64", "groups", "1 where at least one module has space for it now, else 0")
    waited: np.ndarray = readable("int64", "groups", "cycles since each arrived")
    waves: np.ndarray = readable("int64", "groups", "waves of each")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY
