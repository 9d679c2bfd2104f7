"""When may a core issue its next access?"""

from __future__ import annotations

from workbench.levers import Family, lever


class CoreModel(Family, noun="core model", example="{warps: {count: 8}}"):
    """The base of every core model."""

    def warps(self) -> int:
        """Return the warps of a core, 0 = as many as are needed."""
        return 0

    def gap_cycles(self) -> int:
        """Return the cycles from a warp's translation to its next access."""
        return 0


class Open(CoreModel):
    """Every access is issued at its cycle in the trace, however many are under way.

    >>> Open().warps()
    0
    """


class Warps(CoreModel):
    """A core has so many warps; each waits for its translation before it issues another access.

    The next access of a core goes to the warp that is free first, at the access's cycle in the trace or later. Few
    warps feel every cycle of latency, many hide it (spec 4, H4.6).

    >>> Warps(count=16).warps()
    16
    """

    brief = ("count",)
    count: int = lever(8, least=1, most=1024, scale="log", unit="warps", description="warps of a core")
    gap: int = lever(
        0, least=0, most=1 << 20, unit="cycles", description="work of a warp between a translation and its next"
    )

    def warps(self) -> int:
        return self.count

    def gap_cycles(self) -> int:
        return self.gap
