"""Strict blocking: what is most urgent goes first, and everybody waits until it fits; the prior art of the document."""

from __future__ import annotations

from typing import Any, Literal

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.dispatch.selection.candidates import ANY_RANK, first_candidate, oldest_candidate
from workbench.policies.dispatch.selection.question import Selection
from workbench.policies.dispatch.selection.view import SelectionView

EQUALS = 0


@kernel
def top_rank(count: int, rank: Any) -> int:
    """Return the most urgent rank of all that wait, whether they fit or not."""
    best = ANY_RANK
    for k in range(count):
        best = min(best, rank[k])
    return best


class StrictBlocking(Selection):
    """Take a group of the most urgent rank that waits; when none of that rank fits, nobody.

    Of several equal ones that fit, the one that has waited longest is taken, then the lowest channel; or the lowest
    channel at once, if the lever says so.

    References
    ----------
    spec 3, R15: the prior art of the document (paragraphs 28-29); the baseline of H3.1.

    Examples
    --------
    >>> from workbench.policies.dispatch.selection import Head
    >>> rounds = StrictBlocking().rounds(channels=3)
    >>> rounds.pick(Head(0, 1, fits=False), Head(1, 2), Head(2, 3)) is None
    True
    >>> rounds.pick(Head(0, 1, fits=False), Head(1, 1), Head(2, 3))
    1
    """

    equals: Literal["oldest", "lowest"] = lever(
        "oldest",
        description="which of several of the most urgent rank that fit is taken: longest waiting, lowest channel",
    )

    @staticmethod
    def answer(see: SelectionView) -> int:
        limit = top_rank(see.count, see.rank)
        if see.levers.equals:
            return first_candidate(see.count, see.rank, see.fits, limit)
        return oldest_candidate(see.count, see.rank, see.fits, see.waited, limit)

    def work_conserving(self) -> bool:
        """Return False: what does not fit blocks all behind it."""
        return False
