"""Strict priority: the most urgent group that fits."""

from __future__ import annotations

from workbench.policies.dispatch.selection.candidates import best_rank, first_candidate
from workbench.policies.dispatch.selection.question import Selection
from workbench.policies.dispatch.selection.view import SelectionView


class StrictPriority(Selection):
    """Take a group of the most urgent rank among those that fit; of equal ones that of the lowest channel.

    What does not fit blocks nobody, as in the proposal, but equal channels are not balanced: a low one that is always
    ready starves the others of its rank.

    References
    ----------
    spec 3, R7-R8 without the marks; section 7.

    Examples
    --------
    >>> from workbench.policies.dispatch.selection import Head
    >>> StrictPriority().rounds(channels=3).pick(Head(0, 1, fits=False), Head(1, 3), Head(2, 2))
    2
    """

    @staticmethod
    def answer(see: SelectionView) -> int:
        return first_candidate(see.count, see.rank, see.fits, best_rank(see.count, see.rank, see.fits))
