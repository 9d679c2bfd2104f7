"""What a way to serve a warp sees (spec 2, R1-R20)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, readable, view, writable


@view
class ServeView(NamedTuple):
    """One call: the lanes of a warp that reach `malloc` at one instruction."""

    lanes: np.ndarray = readable(
        "int64", "active", "the active lanes' numbers in their warp, increasing; padding lanes are not among them"
    )
    asked: np.ndarray = readable("int64", "active", "bytes that each asks for, at least 0")
    part: np.ndarray = writable(
        "int64", "active", "to be filled: the heap request that holds each lane's piece, from 0; -1 = it gets nothing"
    )
    offset: np.ndarray = writable("int64", "active", "to be filled: where each piece begins in its block, in bytes")
    size: np.ndarray = writable("int64", "active", "to be filled: bytes of each piece")
    leader: np.ndarray = writable(
        "int64",
        "active",
        "to be filled for each heap request: the position in `lanes` of the lane that asks, -1 = none",
    )
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY
