"""What a choice among cached blocks sees (spec 5, R11)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, number, readable, view


@view
class FitView(NamedTuple):
    """A request, and the cached blocks by size (`workbench.structures.size_index`).

    `smallest_at_least` and `largest` search `roots`, `filled` and `nodes`. `nodes` also leads through all blocks by
    address: `AFTER` is the next one, and a block whose `ABOVE` is `OUTSIDE` is in use.
    """

    size: int = number("bytes that are needed, as the cache rounds them")
    pool: int = number("the pool of blocks that may serve it: a card's, or one of the two of a card")
    first: int = number("the block of the pool with the lowest address, in use or cached; -1 = there is none")
    roots: np.ndarray = readable("int64", "pools * classes", "of the index by size")
    filled: np.ndarray = readable("uint64", "words", "of the index by size")
    nodes: np.ndarray = readable("int64", "blocks * fields", "of the index by size, and all blocks by address")
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY
