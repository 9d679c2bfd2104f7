"""Migrate back: borrowed regions move home as soon as the own card has room."""

from __future__ import annotations

from typing import Literal

from workbench.levers import lever
from workbench.policies.pool.residency.question import LARGEST, OLDEST, SLOWEST_LINK, Residency, ResidencyRules

_ORDERS = {"oldest": OLDEST, "largest": LARGEST, "slowest_link": SLOWEST_LINK}


class MigrateBack(Residency):
    """Move borrowed regions home, one after another, when a release has brought bytes back on their owner's card.

    Of those that the card has room for the first by `order` moves; ties go to the region that was granted first. One
    that finds no single block there, because it would have to be stitched, is passed over. What it leaves on the lender
    is room for the lender's own regions in turn; of several cards with new room the lowest id is served first.

    References
    ----------
    spec 5, E17.

    Examples
    --------
    >>> MigrateBack(order="largest", at_most=1).rules()
    ResidencyRules(returns=1, order=1, at_most=1, evicts=0)
    """

    order: Literal["oldest", "largest", "slowest_link"] = lever(
        "oldest", description="which region moves first: granted first, of most bytes, behind the slowest path"
    )
    at_most: int = lever(0, least=0, most=1 << 30, unit="regions", description="moves a release; 0 = all that fit")

    def rules(self) -> ResidencyRules:
        return ResidencyRules(returns=1, order=_ORDERS[self.order], at_most=self.at_most)
