"""What a policy for idle memory sees (spec 5, R29)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import PARAMS, number, readable, view


@view
class IdleView(NamedTuple):
    """A card whose cached bytes exceed the limit."""

    excess: int = number("cached bytes above the limit, at least 1")
    oldest: int = number("the driver allocation of the card that became wholly cached first, at least 0")
    origins: np.ndarray = readable(
        "int64",
        "4 * allocations",
        "four numbers a driver allocation: from `oldest` on, `origins[4 * it + NEWER]` leads to the one that became "
        "wholly cached next (-1 = none); `BYTES` is its size",
    )
    levers: Any = PARAMS
