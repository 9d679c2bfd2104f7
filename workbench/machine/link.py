"""One kind of links between two cards."""

from __future__ import annotations

from typing import Literal

from workbench.errors import InputError
from workbench.levers import Spec, lever


class Link(Spec):
    """Direct links between two cards; parallel ones add up (spec 5, R16).

    >>> Link(between="gpu0 gpu3", gbps=25, count=2).total_gbps, Link(between="gpu0 gpu3", gbps=25).ends
    (50.0, ('gpu0', 'gpu3'))
    >>> Link(between="gpu0 gpu0", gbps=25)
    Traceback (most recent call last):
    workbench.errors.InputError: link 'gpu0 gpu0': between must name two different cards, such as 'gpu0 gpu1'.
    """

    between: str = lever(description="the two cards, with a space between them")
    gbps: float = lever(least=1e-3, most=1e6, unit="GB/s", description="what one link carries, per direction")
    count: int = lever(1, least=1, most=1024, unit="links", description="links in parallel")
    kind: Literal["pcie", "nvlink", "xgmi", "qpi", "upi"] = lever("pcie", description="the bus")
    channel: str = lever(
        "", description="a channel that several links share: together they carry what the fastest could"
    )

    def check(self) -> None:
        if len(set(self.between.split(" "))) != 2 or len(self.between.split(" ")) != 2 or "" in self.ends:
            raise InputError(f"link {self.between!r}: between must name two different cards, such as 'gpu0 gpu1'.")

    @property
    def ends(self) -> tuple[str, str]:
        """Return the two cards."""
        one, _, other = self.between.partition(" ")
        return one, other

    @property
    def total_gbps(self) -> float:
        """Return what all the links in parallel carry, per direction."""
        return self.gbps * self.count
