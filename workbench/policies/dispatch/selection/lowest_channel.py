"""Lowest channel: a fixed order of channels, whatever their priorities."""

from __future__ import annotations

from workbench.policies.dispatch.selection.candidates import ANY_RANK, first_candidate
from workbench.policies.dispatch.selection.question import Selection
from workbench.policies.dispatch.selection.view import SelectionView


class LowestChannel(Selection):
    """Take the group of the lowest channel among all that fit; ranks count for nothing, and there are no ties.

    References
    ----------
    spec 3, section 7: the cheapest arbiter, a priority encoder over the channels.

    Examples
    --------
    >>> from workbench.policies.dispatch.selection import Head
    >>> LowestChannel().rounds(channels=3).pick(Head(0, fits=False), Head(1, 3), Head(2, 2))
    1
    """

    @staticmethod
    def answer(see: SelectionView) -> int:
        return first_candidate(see.count, see.rank, see.fits, ANY_RANK)
