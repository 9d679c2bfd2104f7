"""Strict priority: the most urgent group that fits."""

from __future__ import annotations

from workbench.policies.dispatch.selection.candidates import best_rank, first_candidate
from workbench.policies.dispatch.selection.question import Selection


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

    def answer(cycle, count, channel, priority, rank, fits, waited, waves, params, memory):  # type: ignore[no-untyped-def]
        return first_candidate(count, rank, fits, best_rank(count, rank, fits))
