"""Protect low degree: pass over candidates that few cores hold, for the others are the cheapest to fetch again."""

from __future__ import annotations

from workbench.errors import wrong_value
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

    def check(self) -> None:
        super().check()
        if self.fallback not in ("plain_base", "next_batch"):
            raise wrong_value(
                "", f"{self.name}.fallback", "must be plain_base or next_batch", self.fallback, "plain_base"
            )

    def protection(self) -> tuple[int, int, int, int]:
        return (LOW, *super().protection()[1:])

    def protected(self, degree: int) -> bool:
        return degree < self.share_threshold
