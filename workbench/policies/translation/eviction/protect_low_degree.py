"""Protect low degree: pass over candidates that few cores hold, for the others are the cheapest to fetch again."""

from __future__ import annotations

from typing import Literal

from workbench.levers import lever
from workbench.policies.arguments import whole
from workbench.policies.translation.eviction.question import LOW
from workbench.policies.translation.eviction.sharing_aware_eviction import SharingAwareEviction


class ProtectLowDegree(SharingAwareEviction):
    """Evict the base policy's first candidate that so many cores hold as the threshold, or more; ties as the base.

    The opposite of the document's rule: what many hold is fetched again from a peer, what one core alone holds is not.
    If every candidate is protected, `plain_base` or `next_batch` decides.

    References
    ----------
    spec 4, E17: a rival.

    Examples
    --------
    >>> ProtectLowDegree(share_threshold=2).victim(degrees=(1, 2, 1, 1))
    1
    """

    fallback: Literal["plain_base", "next_batch"] = lever(
        "plain_base", description="what is evicted when every candidate is protected"
    )

    def protection(self) -> tuple[int, int, int, int]:
        return (LOW, *super().protection()[1:])

    def protected(self, degree: int) -> bool:
        return whole("degree", degree) < self.share_threshold
