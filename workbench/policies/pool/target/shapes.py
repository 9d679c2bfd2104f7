"""How a quantity becomes a score: increasing functions of free memory and bandwidth (spec 5, R20)."""

from __future__ import annotations

import math
from typing import Literal

from workbench.compiled import kernel

Shape = Literal["linear", "square_root", "square"]
LINEAR, SQUARE_ROOT, SQUARE = range(3)


@kernel
def shaped(amount: float, shape: float) -> float:
    """Return the amount, its square root or its square: all of them exact or correctly rounded."""
    if shape == SQUARE_ROOT:
        return math.sqrt(amount)
    return amount * amount if shape == SQUARE else amount
