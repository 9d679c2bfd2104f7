"""Would labels scattered at random give a box as clear? A search always returns one; this says whether to heed it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from workbench.streams import Streams
from workbench.studies.discovery.box import Box
from workbench.studies.discovery.column import Column
from workbench.studies.discovery.peel import peel

SHUFFLES = 199
"""Of the labels; the smallest p-value is 1 in 200."""


def clearest(boxes: Sequence[Box]) -> Box:
    """Return the box whose being inside goes most with being of interest; of equal ones that of fewer levers, then the
    larger one."""
    return max(boxes, key=lambda box: (box.contrast, -len(box.restricted)))


def p_by_chance(columns: tuple[Column, ...], hit: np.ndarray, contrast: Fraction, shuffles: int = SHUFFLES) -> float:
    """Return the p-value of a peeled box: how often the whole search does as well on shuffled labels.

    It answers for the search over all levers and limits, which a quasi-p-value does not. The shuffles are drawn anew
    from the same seed, so the same points give the same number.
    """
    draws = np.random.default_rng(Streams(0).integer("scenario discovery"))
    as_clear = sum(clearest(peel(columns, draws.permutation(hit))).contrast >= contrast for _ in range(shuffles))
    return (1 + as_clear) / (1 + shuffles)
