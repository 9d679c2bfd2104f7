"""Who walks the page table? Walkers of the machine, or its cores as well (docs/translation-rules.md)."""

from __future__ import annotations

from typing import NamedTuple

from workbench.levers import Family, lever


class SoftwareWalks(NamedTuple):
    """What cores walk, as whole numbers."""

    walks: int
    """Of a core at a time; 0 = cores do not walk."""
    start_cycles: int
    level_cycles: int
    only: bool
    """Whether the machine's walkers do nothing."""


class WalksBy(Family, noun="way to walk", example="{software: {walks: 8}}"):
    """The base of every answer to who walks."""

    def software(self) -> SoftwareWalks:
        """Return what cores walk."""
        return SoftwareWalks(0, 0, 0, False)


class Hardware(WalksBy):
    """The machine's walkers walk.

    >>> Hardware().software().walks
    0
    """


class Software(WalksBy):
    """The core that misses walks where no walker is free: slower, but many walks at a time.

    Issue slots and data caches that such a walk takes from the core's program are not modelled.

    References
    ----------
    "SoftWalker: Supporting Software Page Table Walk for Irregular GPU Applications", MICRO 2025 (warps of a core walk;
    there walks are dealt to any core).

    >>> Software(walks=16).software().walks
    16
    """

    brief = ("walks",)
    walks: int = lever(8, least=1, most=1024, scale="log", unit="walks", description="walks of a core at a time")
    start_cycles: int = lever(
        100, least=0, most=1 << 20, unit="cycles", description="to begin a walk in software and to hand its result over"
    )
    level_cycles: int = lever(
        150, least=0, most=1 << 20, unit="cycles", description="to read one level of the page table in software"
    )
    only: bool = lever(False, description="whether the machine's walkers do nothing, so that all walks are in software")

    def software(self) -> SoftwareWalks:
        return SoftwareWalks(self.walks, self.start_cycles, self.level_cycles, self.only)
