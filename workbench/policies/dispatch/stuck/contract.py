"""What every policy for stuck groups owes, as tests to join: three lines in a test file, for any policy.

from workbench.policies.dispatch.stuck.contract import StuckContract

class TestMySplit(StuckContract):
    policy = MySplit(threshold=16)
"""

from __future__ import annotations

from itertools import product
from typing import ClassVar

import numpy as np

from workbench.policies.asking import Asked, Scenes
from workbench.policies.contract import Contract, check
from workbench.policies.dispatch.stuck.question import FOR_EVER, Stuck
from workbench.policies.dispatch.stuck.view import StuckView

__all__ = ["StuckContract", "check"]

WAVES = (1, 2, 3, 4, 7, 16, 64, 1024)


class StuckContract(Contract):
    """Tests that every policy for stuck groups passes; a subclass names the policy."""

    policy: ClassVar[Stuck]
    sizes = (1, 4, 8)
    """Numbers of priorities."""

    def scenes(self, policy: Stuck, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask every question of small size and some larger ones, a sub-group below all priorities among them."""
        for waves, independent, priority in product(WAVES, (0, 1), range(1, size + 2)):
            yield StuckView(waves, independent, priority, size, None)

    def judge(self, request: Asked) -> str:
        """Return a fault where waves that belong together are split, or a sub-group would get none (spec 3, R29)."""
        parts, see = request.answer, request.see
        fine = parts in (0, 1) or (see.independent and 2 <= parts <= see.waves)
        return "" if fine else f"splits into {parts}, for {see}"

    def test_no_wave_is_lost(self) -> None:
        for waves in range(1, 70):
            parts = self.policy.parts(waves)
            assert sum(parts) == waves, f"{parts} of {waves}"
            assert min(parts) >= 1, f"{parts} of {waves}"
            assert parts == sorted(parts, reverse=True), "the first sub-groups are the larger ones"
            assert max(parts) - min(parts) <= 1, "shared out evenly"

    def test_what_it_asks_of_the_engine(self) -> None:
        ready = self.policy.ready()
        assert 0 <= ready.patience <= FOR_EVER
        assert ready.look_ahead >= 0
        assert ready.sub_priority in (0, 1, 2)
        assert ready.divides_shared in (0, 1)
        assert self.policy.rounds_until_asked() == ready.patience + 1
