"""Alternate ends: low and high by turns, whatever the distance."""

from __future__ import annotations

from typing import Any

from workbench.policies.placement.question import Placement
from workbench.structures.windows import first_start, last_start

HIGH_NEXT = 0
"""Memory: 1 when the next grant comes from the high end."""


class AlternateEnds(Placement):
    """Take the lowest and the highest feasible start by turns, the lowest first; there are no ties.

    The turn changes with a grant, not with a refusal. Shows how much of the wear of `NearestBoundary` comes from using
    both ends at all.

    References
    ----------
    spec 1, section 7.

    Examples
    --------
    >>> memory = AlternateEnds().allocator(segments=16)
    >>> memory.take(3), memory.take(3), memory.take(3)
    (0, 13, 3)
    """

    def answer(free: Any, segments: int, length: int, params: Any, memory: Any) -> int:
        return last_start(free, length) if memory[HIGH_NEXT] else first_start(free, length, 0)

    def granted(free: Any, segments: int, start: int, length: int, params: Any, memory: Any) -> None:
        memory[HIGH_NEXT] = 1 - memory[HIGH_NEXT]
