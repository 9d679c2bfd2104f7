"""Oldest first: who has waited longest; the order in which gem5 goes through its kernels."""

from __future__ import annotations

from workbench.policies.dispatch.selection.by_channel import ByChannel, rank_limit
from workbench.policies.dispatch.selection.candidates import oldest_candidate
from workbench.policies.dispatch.selection.view import SelectionView


class OldestFirst(ByChannel):
    """Take the candidate that has waited longest; of equal ones that of the lowest channel.

    References
    ----------
    spec 3, section 7; first come, first served over the heads. With `among=all_that_fit` the order of gem5's
    dispatcher, `src/gpu-compute/dispatcher.cc` (see `as_found.py`).

    Examples
    --------
    >>> from workbench.policies.dispatch.selection import Head
    >>> OldestFirst().rounds(channels=3).pick(Head(0, waited=5), Head(1, waited=9), Head(2, 2, waited=40))
    1
    """

    @staticmethod
    def answer(see: SelectionView) -> int:
        return oldest_candidate(
            see.count, see.rank, see.fits, see.waited, rank_limit(see.count, see.rank, see.fits, see.levers)
        )
