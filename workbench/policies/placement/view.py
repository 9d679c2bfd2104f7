"""What a placement answer sees (spec 1, R17-R23), and what a notice of a grant or a release is told."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, number, readable, view


@view
class PlacementView(NamedTuple):
    """What the hardware sees: not the queue, not the future, not the score."""

    free: np.ndarray = readable(
        "uint64", "words", "the free map (`workbench.structures.free_map`), after this cycle's releases"
    )
    segments: int = number("how many segments the memory has")
    length: int = number("how many contiguous segments are asked for, from 1 to `segments`")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


@view
class PlacementNotice(NamedTuple):
    """A grant or a release, told after the free map has changed."""

    free: np.ndarray = readable("uint64", "words", "the free map, after the grant or the release")
    segments: int = number("how many segments the memory has")
    start: int = number("the first segment of the range")
    length: int = number("how many segments the range has")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY
