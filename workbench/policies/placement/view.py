"""What a placement sees of the free map before a grant, and after a grant or a release (spec 1, R17-R23)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, number, readable, view
from workbench.policies.placement.free_map import as_text

REFUSED = -1
"""The answer that says: does not fit now."""


@view
class PlacementView(NamedTuple):
    """What the hardware sees: not the queue, not the future, not the score."""

    free: np.ndarray = readable("uint64", "words", "the free map (see `free_map`), after this cycle's releases")
    segments: int = number("how many segments the memory has")
    length: int = number("how many contiguous segments are asked for, from 1 to `segments`")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY

    def __str__(self) -> str:
        """Return the question in words."""
        plural = "s" * (self.length > 1)
        return f"{self.length} segment{plural} in the state {as_text(self.free, self.segments)}"


@view
class PlacementNotice(NamedTuple):
    """A grant or a release, told after the free map has changed."""

    free: np.ndarray = readable("uint64", "words", "the free map, after the grant or the release")
    segments: int = number("how many segments the memory has")
    start: int = number("the first segment of the range")
    length: int = number("how many segments the range has")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY

    def __str__(self) -> str:
        """Return the notice in words."""
        return f"[{self.start}, {self.start + self.length}) in the state {as_text(self.free, self.segments)}"
