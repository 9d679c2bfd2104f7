"""What a choice of frames sees (spec 6, R10)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import PARAMS, number, readable, view


@view
class FramesView(NamedTuple):
    """What an allocation still needs, and the free runs of a card; only the first `runs` of the arrays count."""

    need: int = number("granules that the allocation still needs, at least 1; the card has as many")
    taken: int = number("granules that it has by now, by earlier answers")
    runs: int = number("free runs of the card, no two of which touch")
    start: np.ndarray = readable("int64", "most runs", "the first granule of each free run, ascending")
    length: np.ndarray = readable("int64", "most runs", "granules of each free run")
    levers: Any = PARAMS
