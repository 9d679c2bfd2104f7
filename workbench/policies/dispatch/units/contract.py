"""What every policy for units owes, as tests to join, for policies of this package or not.

from workbench.policies.dispatch.units.contract import UnitsContract

class TestMySplit(UnitsContract):
    policy = MySplit()
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from workbench.compiled import RAISED
from workbench.policies.asking import Asked, Scenes, compiled
from workbench.policies.contract import SEED, Contract, check
from workbench.policies.dispatch.units.question import Units
from workbench.policies.dispatch.units.view import UnitsView

__all__ = ["UnitsContract", "check"]

WAVES_A_UNIT = 16
UNTOUCHED = -7


class UnitsContract(Contract):
    """Tests that every policy for units passes; a subclass names the policy."""

    policy: ClassVar[Units]
    sizes = (1, 2, 4, 7, 64)
    steps = 80
    evenly: ClassVar[bool] = True
    """Whether the units' shares of a single group differ by at most one wave."""

    def start_memory(self, policy: Units, size: int, seed: int) -> np.ndarray:
        """Return what some modules store before their first group: their pointers stand for a memory."""
        return np.array([policy.first_pointer(module, seed) for module in range(8)], np.int64)

    def scenes(self, policy: Units, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about groups of random sizes; take most of them, let one end where the next does not fit."""
        pointer, running = policy.first_pointer(size, SEED), list[np.ndarray]()
        for _ in range(steps):
            waves = int(draw.integers(1, int(draw.choice([2, size + 1, WAVES_A_UNIT * size])) + 1))
            see = asks(waves, pointer, sum(running, np.zeros(size, np.int64)))
            after = yield see
            if after != RAISED and draw.random() < 0.8:
                pointer, running = after, [*running, see.counts]
            while running and sum(map(np.sum, running)) > WAVES_A_UNIT * size:
                running.pop(int(draw.integers(len(running))))

    def judge(self, request: Asked) -> str:
        """Return a fault where a wave is lost or given twice, or a unit gets a negative number."""
        counts = request.after.counts
        wrong = counts.sum() != request.see.waves or counts.min() < 0
        return f"shared out {counts.tolist()} for {request.see}" if wrong else ""

    def test_evenly_or_not(self) -> None:
        uneven = [requested for requested in self.asked() if np.ptp(requested.after.counts) > 1]
        assert bool(uneven) != self.evenly, f"evenly is {self.evenly}, {len(uneven)} groups are not: {uneven[:1]}"

    def test_the_counts_do_not_depend_on_what_stood_there(self) -> None:
        say = compiled(self.policy)
        for requested in self.asked():
            again = requested.see._replace(counts=np.full(requested.see.units, 99, np.int64))
            assert say("answer", again) == requested.answer, requested.see
            assert again.counts.tolist() == requested.after.counts.tolist(), requested.see

    def test_the_pointer_alone_counts_where_it_says_so(self) -> None:
        for requested in self.asked() if self.policy.by_pointer() else []:
            counts = self.policy.split(requested.see.waves, requested.see.units, requested.see.pointer)[0]
            assert counts == requested.after.counts.tolist(), requested.see

    def test_no_waves_change_nothing(self) -> None:
        assert self.policy.split(waves=0, units=4, at=3) == ([0, 0, 0, 0], 3)


def asks(waves: int, pointer: int, taken: Any) -> UnitsView:
    """Return what is asked about a group, given the waves that run on each unit."""
    loads = np.array(taken, np.int64)
    return UnitsView(waves, loads.size, pointer, loads, np.full(loads.size, UNTOUCHED, np.int64), None)
