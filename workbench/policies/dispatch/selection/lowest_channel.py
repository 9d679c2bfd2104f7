"""Lowest channel: a fixed order of channels, whatever their priorities."""

from __future__ import annotations

from workbench.policies.dispatch.selection.candidates import ANY_RANK, first_candidate
from workbench.policies.dispatch.selection.question import Selection


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

    def answer(cycle, count, channel, priority, rank, fits, waited, waves, params, memory):  # type: ignore[no-untyped-def]
        return first_candidate(count, rank, fits, ANY_RANK)
