"""Longest: one run if there is one, else as few as possible."""

from __future__ import annotations

from workbench.policies.pool.frames.question import Frames
from workbench.policies.pool.frames.view import FramesView


class Longest(Frames):
    """Take the shortest free run that holds everything; if none does, the longest runs; the lowest one wins a tie.

    References
    ----------
    spec 6, R10, H6.1: the policy that keeps larger contiguous runs; best fit, with the longest holes as a fallback.

    Examples
    --------
    >>> longest = Longest()
    >>> longest.take([(2, 2), (6, 3), (10, 6)], 2), longest.take([(2, 2), (6, 3), (10, 6)], 7)
    ([(2, 2)], [(10, 6), (6, 1)])
    """

    @staticmethod
    def answer(see: FramesView) -> int:
        best, whole = 0, see.taken == 0 and see.length[0] >= see.need
        for run in range(1, see.runs):
            holds = see.taken == 0 and see.length[run] >= see.need
            shorter = see.length[run] < see.length[best]
            longer = see.length[run] > see.length[best]
            if (holds and (not whole or shorter)) or (not holds and not whole and longer):
                best, whole = run, holds
        return see.start[best]
