"""Does a region stay where it was granted? (spec 5, E17; section 7: unified memory with page migration)

A value, not a function: `rules()` gives whole numbers that the engine works by. Regions move at two moments: home,
when a release has brought bytes back on their application's card; and away, when a card lacks the bytes for a newcomer
of its own. A move finds its new place as a grant on another card does, in a cached block, else at the driver; what it
leaves is released as by a free. It takes the service as long as the bytes take over the path.

What every policy owes, in a test file, for policies of this package or not:

    class TestMyResidency(ResidencyContract):
        policy = MyResidency()
"""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

from workbench.levers import lever
from workbench.policies.contract import ValueContract
from workbench.policies.policy import Policy

OLDEST, LARGEST, SLOWEST_LINK = range(3)
"""Which region moves home first: the one that was granted first, of most bytes, behind the slowest path."""
NOTHING, TO_HOST, TO_TARGET = range(3)
"""Where regions go that make space: they stay, to a CPU card, to the card that the policy `target` chooses."""


class ResidencyRules(NamedTuple):
    """The whole numbers that a policy for the place of regions works by."""

    returns: int = 0
    """1 = regions that lie elsewhere move home when a release has brought bytes back."""
    order: int = OLDEST
    """Which of those that the card has space for moves first; ties go to the one that was granted first."""
    at_most: int = 0
    """So many move home a release; 0 = all that fit."""
    evicts: int = NOTHING
    """Where regions go, those placed longest ago first, when their card lacks the bytes for a newcomer of its own."""

    def moves(self) -> bool:
        """Return whether a region ever moves."""
        return bool(self.returns or self.evicts)


class Residency(Policy, abstract=True):
    """The base of every policy for the place of regions; a new one needs `rules`."""

    question: ClassVar[str] = "residency"

    def rules(self) -> ResidencyRules:
        """Return the numbers that the engine works by."""
        raise NotImplementedError


class Stay(Residency):
    """Move nothing, as the source document has it: there is nothing to choose, so no tie.

    References
    ----------
    spec 5, E17 (the text knows no migration).

    Examples
    --------
    >>> Stay().rules().moves()
    False
    """

    def rules(self) -> ResidencyRules:
        return ResidencyRules()


_ORDERS = {"oldest": OLDEST, "largest": LARGEST, "slowest_link": SLOWEST_LINK}


class MigrateBack(Residency):
    """Move borrowed regions home, one after another, when a release has brought bytes back on their owner's card.

    Of those that the card has space for the first by `order` moves; ties go to the region that was granted first. One
    that finds no single block there, because it would have to be stitched, is passed over. What it leaves on the lender
    is space for the lender's own regions in turn; of several cards with new space the lowest id is served first.

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


class ManagedMemory(Residency):
    """Move regions off a card that lacks the bytes for a newcomer of its own, the one placed there longest ago first.

    What is wholly cached on the card goes back to the driver before a region moves. A region that no card has space for
    is passed over; if nothing is left to move, the newcomer asks the policy `target` like any other. Of several CPU
    cards with space the one behind the fastest path is taken, ties go to the lower id. Under a target that does not try
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


class ResidencyContract(ValueContract):
    """Tests that every policy for the place of regions passes; a subclass names the policy."""

    policy: ClassVar[Residency]

    def test_its_numbers_are_ones_that_the_engine_knows(self) -> None:
        rules = self.policy.rules()
        assert rules.returns in (0, 1)
        assert rules.order in (OLDEST, LARGEST, SLOWEST_LINK)
        assert rules.at_most >= 0
        assert rules.evicts in (NOTHING, TO_HOST, TO_TARGET)

    def test_an_order_belongs_to_regions_that_move_home(self) -> None:
        rules = self.policy.rules()
        assert rules.returns or (rules.order, rules.at_most) == (OLDEST, 0), "an order of moves that never happen"

    def test_the_same_numbers_every_time(self) -> None:
        assert self.policy.rules() == self.policy.but().rules()
