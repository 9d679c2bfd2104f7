"""How does a directory learn what peers hold? (spec 4, E6)"""

from __future__ import annotations

from workbench.levers import Family, lever
from workbench.policies.translation.locate.question import INSTANT, MESSAGE, ON_RESPONSE


class Update(Family, noun="directory update", example="{message: 20}"):
    """The base of every way to keep directories up to date."""

    def news(self) -> tuple[int, int]:
        """Return the kind and the delay in cycles."""
        raise NotImplementedError


class Instant(Update):
    """Every directory knows at once; the messages are counted all the same.

    >>> Instant().news()
    (0, 0)
    """

    def news(self) -> tuple[int, int]:
        return INSTANT, 0


class Message(Update):
    """Every fill and eviction is told to the other directories by messages that take so many cycles.

    An access that is issued when the message arrives, or later, sees it. Records may be stale until then.

    >>> Message(delay=20).news()
    (1, 20)
    """

    brief = ("delay",)
    delay: int = lever(
        20, least=0, most=1 << 30, unit="cycles", description="from a fill or eviction till all others know"
    )

    def news(self) -> tuple[int, int]:
        return MESSAGE, self.delay


class OnResponse(Update):
    """Directories learn from answers alone, no message is sent for them.

    A peer's answer brings what its record of the page names, and the peer learns that the asker holds it now. An
    answer of the shared TLB brings the cores that it has given this entry to. Evictions are never told: a bit is
    cleared when a peer answers in the negative.

    >>> OnResponse().news()
    (2, 0)
    """

    def news(self) -> tuple[int, int]:
        return ON_RESPONSE, 0
