"""What every choice of frames owes, as tests to join, for policies of this package or not.

from workbench.policies.pool.frames.contract import FramesContract

class TestMyFrames(FramesContract):
    policy = MyFrames()
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from workbench.policies.asking import Asked, Scenes
from workbench.policies.contract import Contract, check
from workbench.policies.pool.frames.question import Frames
from workbench.policies.pool.frames.view import FramesView

__all__ = ["FramesContract", "check"]


class FramesContract(Contract):
    """Tests that every choice of frames passes; a subclass names the policy."""

    policy: ClassVar[Frames]
    steps = 40
    tried = 40

    def scenes(self, policy: Frames, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about cards with a few free runs, of lengths alike and not, before and within an allocation."""
        for _ in range(steps):
            start, length = _drawn(draw)
            need, taken = int(draw.integers(1, length.sum() + 1)), int(draw.choice([0, 0, 5]))
            room = np.zeros(3, np.int64)
            yield FramesView(need, taken, start.size, np.r_[start, room], np.r_[length, room], _BROUGHT)

    def judge(self, request: Asked) -> str:
        """Return a fault where the granule is not free."""
        see = request.see
        begins, ends = see.start[: see.runs], (see.start + see.length)[: see.runs]
        free = ((begins <= request.answer) & (request.answer < ends)).any()
        return "" if free else f"answered granule {request.answer}, which is not free, for {see}"

    def test_gives_exactly_what_is_needed(self) -> None:
        for requested in self.asked()[:20]:
            see = requested.see
            free = list(zip(see.start[: see.runs].tolist(), see.length[: see.runs].tolist(), strict=True))
            runs = self.policy.take(free, see.need)
            granules = [start + k for start, length in runs for k in range(length)]
            there = {start + k for start, length in free for k in range(length)}
            assert len(granules) == len(set(granules)) == see.need, f"{runs} is not {see.need} granules"
            assert there.issuperset(granules), f"{runs} is not all free in {free}"


_BROUGHT: Any = None
"""Stands for the levers, which the policy brings along."""


def _drawn(draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    length = draw.choice([1, 1, 2, 16, 512, 513], int(draw.integers(1, 9)))
    gap = draw.choice([1, 3, 512], length.size)
    return gap.cumsum() + length.cumsum() - length - int(draw.choice([0, gap[0]])), length
