"""Which peers' entries does a directory cover? (spec 4, R2, E7)"""

from __future__ import annotations

from workbench.levers import Family, lever
from workbench.policies.translation.locate.question import ORACLE, OWN_ONLY, OWN_PLUS_AFFINE


class Scope(Family, noun="directory scope", example="{own_plus_affine: {threshold: 3}}"):
    """The base of every scope."""

    def covers(self) -> tuple[int, int, int]:
        """Return the kind, the threshold of closeness, and the fills after which closeness is looked at again."""
        raise NotImplementedError


class Oracle(Scope):
    """Entries of every peer: the upper bound.

    >>> Oracle().covers()
    (0, 0, 1)
    """

    def covers(self) -> tuple[int, int, int]:
        return ORACLE, 0, 1


class OwnPlusAffine(Scope):
    """The core's own entries, and those of closely related peers, with which it shares so many entries, or more.

    Who is closely related is looked at again after so many fills of the core's TLB; at the start nobody is.

    >>> OwnPlusAffine(threshold=2).covers()
    (1, 2, 32)
    """

    threshold: int = lever(
        3, least=1, most=1 << 16, unit="entries", description="entries shared with a closely related peer"
    )
    fills: int = lever(
        32, least=1, most=1 << 30, scale="log", unit="fills", description="till closeness is looked at again"
    )

    def covers(self) -> tuple[int, int, int]:
        return OWN_PLUS_AFFINE, self.threshold, self.fills


class OwnOnly(Scope):
    """The core's own entries alone: a miss never finds a record, so peers are known for fills and evictions only.

    >>> OwnOnly().covers()
    (2, 0, 1)
    """

    def covers(self) -> tuple[int, int, int]:
        return OWN_ONLY, 0, 1
