"""Does a region stay where it was granted? (spec 5, E17; section 7: unified memory with page migration)

A value, not a function: `rules()` gives whole numbers that the engine works by. Regions move at two moments: home,
when a release has brought bytes back on their application's card; and away, when a card lacks the bytes for a newcomer
of its own. A move finds its new place as a grant on another card does, in a cached block, else at the driver; what it
leaves is released as by a free. It takes the service as long as the bytes take over the path.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from workbench.policies.policy import Policy

OLDEST, LARGEST, SLOWEST_LINK = range(3)
"""Which region moves home first: the one that was granted first, of most bytes, behind the slowest path."""
NOTHING, TO_HOST, TO_TARGET = range(3)
"""Where regions go that make room: they stay, to a CPU card, to the card that the policy `target` chooses."""


class ResidencyRules(NamedTuple):
    """The whole numbers that a policy for the place of regions works by."""

    returns: int = 0
    """1 = regions that lie elsewhere move home when a release has brought bytes back."""
    order: int = OLDEST
    """Which of those that the card has room for moves first; ties go to the one that was granted first."""
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
