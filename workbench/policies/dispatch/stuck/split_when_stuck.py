"""Split when stuck: independent waves go one by one; the proposal of the source document."""

from __future__ import annotations

from typing import Literal

from workbench.levers import lever
from workbench.policies.dispatch.stuck.question import Stuck, SubPriority
from workbench.policies.dispatch.stuck.view import StuckView

INTO, HALVES = 1, 1


class SplitWhenStuck(Stuck):
    """Split every flagged group at a channel's head once more rounds than the threshold have failed in a row.

    Each wave becomes a sub-group, or the group is halved, its first half the larger one. A group whose waves belong
    together, or of one wave, stays whole. All flagged heads are split at once, so there are no ties.

    References
    ----------
    spec 3, R21-R29 (C0-C3); E9-E12; V30.

    Examples
    --------
    >>> SplitWhenStuck().parts(waves=3), SplitWhenStuck(into="halves").parts(waves=7)
    ([1, 1, 1], [4, 3])
    >>> SplitWhenStuck().parts(waves=3, independent=False)
    [3]
    >>> SplitWhenStuck(threshold=256).rounds_until_asked()
    257
    """

    threshold: int = lever(
        256,
        least=1,
        most=1 << 20,
        scale="log",
        unit="rounds",
        description="failed rounds in a row that must be exceeded",
    )
    into: Literal["waves", "halves"] = lever("waves", description="what a group is split into")
    priority: SubPriority = lever(
        "lowest",
        description="a sub-group's priority: its group's, the lowest level, or one below it that no window raises",
    )
    shared: Literal["full", "divided"] = lever(
        "full", description="whether a sub-group needs all of its group's module resources, or its share, rounded up"
    )

    @staticmethod
    def answer(see: StuckView) -> int:
        if not see.independent or see.waves < 2:
            return 1
        return 2 if see.levers.into == HALVES else see.waves

    def patience(self) -> int:
        """Return the threshold."""
        return self.threshold

    def sub_priority(self) -> SubPriority:
        """Return the lever `priority`."""
        return self.priority

    def divides_shared(self) -> bool:
        """Return whether the lever `shared` says so."""
        return self.shared == "divided"
