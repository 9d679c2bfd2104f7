"""What every choice among cached blocks owes, as tests to join, for policies of this package or not.

from workbench.policies.pool.fit.contract import FitContract

class TestMyFit(FitContract):
    policy = MyFit()
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from workbench.policies.asking import KEPT, Asked, Scenes
from workbench.policies.contract import Contract, check
from workbench.policies.pool.fit.question import CacheFit, blocks_in_order
from workbench.policies.pool.fit.view import FitView
from workbench.structures.size_index import ABOVE, FIELDS, NONE, OUTSIDE, SIZE, SizeIndex

__all__ = ["FitContract", "check"]


class FitContract(Contract):
    """Tests that every choice among cached blocks passes; a subclass names the policy."""

    policy: ClassVar[CacheFit]
    steps = 40
    tried = 40

    def start_memory(self, policy: CacheFit, size: int, seed: int) -> np.ndarray:
        """Return what the policy remembers at the start of a run."""
        return policy.start_memory()

    def scenes(self, policy: CacheFit, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about blocks side by side, some in use; sizes alike and not, from bytes to GiB."""
        for _ in range(steps):
            index, needed = _drawn(draw)
            yield FitView(needed, 0, 0, *index, *KEPT)

    def judge(self, request: Asked) -> str:
        """Return a fault where the block is in use or too small."""
        answer, see = request.answer, request.see
        if answer == NONE:
            return ""
        if not 0 <= answer < see.nodes.size // FIELDS or see.nodes[answer * FIELDS + ABOVE] == OUTSIDE:
            return f"took block {answer}, which is not cached, for {see}"
        small = see.nodes[answer * FIELDS + SIZE] < see.size
        return f"took block {answer}, which is too small, for {see}" if small else ""

    def test_takes_an_exact_block_where_it_is_the_only_one(self) -> None:
        assert self.policy.take([64], 64) == 0
        assert self.policy.take([32], 64) is None
        assert self.policy.take([], 64) is None


def _drawn(draw: np.random.Generator) -> tuple[SizeIndex, int]:
    count, most = int(draw.integers(1, 12)), int(2 ** draw.uniform(1, 32))
    sizes = np.maximum(draw.choice(draw.integers(1, most + 1, 4), count), 1).tolist()
    return blocks_in_order(sizes, (draw.random(count) < 0.7).tolist()), int(draw.choice(sizes) + draw.integers(0, 2))
