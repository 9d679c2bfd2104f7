"""Managed memory: a full card's oldest regions make room for the newcomer."""

from __future__ import annotations

from typing import Literal

from workbench.levers import lever
from workbench.policies.pool.residency.question import TO_HOST, TO_TARGET, Residency, ResidencyRules


class ManagedMemory(Residency):
    """Move regions off a card that lacks the bytes for a newcomer of its own, the one placed there longest ago first.

    What is wholly cached on the card goes back to the driver before a region moves. A region that no card has room for
    is passed over; if nothing is left to move, the newcomer asks the policy `target` like any other. Of several CPU
    cards with room the one behind the fastest path is taken, ties go to the lower id. Under a target that does not try
    the own card first, such as `interleave`, nothing is moved away.

    References
    ----------
    spec 5, section 7 (unified or managed memory with page migration, oversubscription); T. Allen, R. Ge, "In-depth
    analyses of unified virtual memory system for GPU accelerated computing", SC 2021, for the eviction of whole blocks
    when a card is full. What differs is in DEVIATIONS.md.

    Examples
    --------
    >>> ManagedMemory(back=True).rules()
    ResidencyRules(returns=1, order=0, at_most=0, evicts=1)
    """

    to: Literal["host", "target"] = lever(
        "host", description="where regions go: to a CPU card, or where the policy `target` would lend"
    )
    back: bool = lever(False, description="whether regions move home again, as by migrate_back, when bytes come back")

    def rules(self) -> ResidencyRules:
        return ResidencyRules(returns=int(self.back), evicts=TO_HOST if self.to == "host" else TO_TARGET)
