"""Lowest: the first free granules, however many runs these are."""

from __future__ import annotations

from workbench.policies.pool.frames.question import Frames
from workbench.policies.pool.frames.view import FramesView


class Lowest(Frames):
    """Take the lowest free granules, so that fragments are used up; no two are equal, so that there are no ties.

    References
    ----------
    spec 6, R10, H6.1: what a driver does that maps any free page, as it comes.

    Examples
    --------
    >>> Lowest().take([(2, 2), (6, 3), (10, 6)], 3)
    [(2, 2), (6, 1)]
    """

    @staticmethod
    def answer(see: FramesView) -> int:
        return see.start[0]
