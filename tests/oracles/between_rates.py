"""Rates of shared modules (specification 7, R24 and R25), from exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

ONE = 2**20
"""The rate of a group alone, and the work of one cycle."""


def share(progress: dict[str, Any], residents: int) -> Fraction:
    """Return law(n) as an exact fraction; decimals count as they are written."""
    law, value = progress["law"], progress["value"]
    if law == "linear":
        return 1 / (1 + Fraction(str(value)) * (residents - 1))
    if law == "capacity":
        return min(Fraction(1), Fraction(str(value)) / residents)
    if law == "table":
        return Fraction(str(value[min(residents, len(value)) - 1]))
    raise ValueError(f"no law {law}")


def rate(progress: dict[str, Any], groups: int, waves: int) -> int:
    """Return the rate of each resident of a module with so many groups and waves, in units of 2^-20."""
    if progress["name"] == "constant":
        return ONE
    residents = {"groups": groups, "waves": waves}[progress["of"]]
    return math.floor(ONE * share(progress, residents))


def rates_of(progress: dict[str, Any], most: int) -> list[int]:
    """Return the rates for 1 to `most` residents."""
    return [rate(progress, residents, residents) for residents in range(1, most + 1)]


def issue(instructions: int, duration: int, rate_now: int) -> Fraction:
    """Return the instructions that a running group issues in one cycle, floored to 2^-20."""
    return Fraction(math.floor(Fraction(instructions * rate_now, duration)), ONE)
