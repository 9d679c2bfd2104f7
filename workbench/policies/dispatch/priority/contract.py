"""What every priority policy owes, as tests to join: three lines in a test file, for policies of this package or not.

from workbench.policies.dispatch.priority.contract import PriorityContract

class TestMyPriority(PriorityContract):
    policy = MyPriority(cycles=100)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from workbench.errors import PolicyError
from workbench.policies.asking import ANSWER, Asked, Scenes, Speaker
from workbench.policies.contract import Contract, check
from workbench.policies.dispatch.priority.question import Priority
from workbench.policies.dispatch.priority.view import OrderView, PriorityView
from workbench.streams import Streams

__all__ = ["PriorityContract", "check"]

LEVELS = (1, 2, 3, 4, 8)
FAR = 1 << 40
"""A cycle in the trillions: whole numbers must stay exact there."""


class PriorityContract(Contract):
    """Tests that every priority policy passes; a subclass names the policy."""

    policy: ClassVar[Priority]
    sizes = LEVELS
    steps = 300
    tried = 60

    @property
    def levels(self) -> tuple[int, ...]:
        """Return numbers of priorities that the policy is made for."""
        return self.sizes

    def scenes(self, policy: Priority, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about early cycles, with every priority there may be, and about some very late ones."""
        for step in range(steps):
            cycle = int(draw.integers(0, draw.choice([20, 500, 5000]))) + (FAR if draw.random() < 0.2 else 0)
            waited = int(draw.integers(0, min(cycle, 4000) + 1))
            yield asks(cycle, int(draw.integers(1, size + 2)), size, waited)
            yield "holds_until", OrderView(step if step < 70 else cycle, size, None)

    def judge(self, request: Asked) -> str:
        """Return a fault where an order does not hold beyond the cycle; any number is a rank."""
        early = request.name != ANSWER and type(self.policy).holds_until and request.answer <= request.see.cycle
        return (
            f"says that an order holds until {request.answer}, which is not later, for {request.see}" if early else ""
        )

    def check(self) -> None:
        """Check as for every policy; and refuse one whose order changes before `holds_until` says so."""
        super().check()
        for size in self.sizes:
            for cycle in (0, 7, 100, FAR + 3):
                if broken := too_late(Speaker(self.policy), size, cycle):
                    raise PolicyError(f"{self.policy.short()}: {broken}.")

    def test_serves_its_numbers_of_priorities(self) -> None:
        for size in self.sizes:
            self.policy.check_levels(size)

    def test_an_order_holds_as_long_as_it_says(self) -> None:
        for size in self.sizes:
            for cycle in (0, 1, 6, 7, 14, 63, 64, 640, 1023, FAR):
                assert not (broken := too_late(Speaker(self.policy), size, cycle)), broken

    def test_below_all_is_never_more_urgent_than_the_lowest(self) -> None:
        rank = Speaker(self.policy).ask
        for requested in self.asked():
            if requested.name == ANSWER:
                lowest, below = (requested.see._replace(priority=requested.see.levels + k) for k in (0, 1))
                assert rank(lowest) <= rank(below), below


def asks(cycle: int, priority: int, levels: int, waited: int) -> PriorityView:
    """Return what is asked about one waiting group."""
    return PriorityView(cycle, priority, levels, waited, None)


def holds_until(speaker: Speaker, cycle: int, levels: int) -> int:
    """Return the first cycle at which the order may differ: the next one for a policy that does not say."""
    if speaker.policy.notice("holds_until") is None:
        return cycle + 1
    return speaker.tell("holds_until", OrderView(cycle, levels, None))


def too_late(speaker: Speaker, levels: int, cycle: int, pairs: int = 12, seed: int = 0) -> str:
    """Return where the order of two waiting groups differs before `holds_until` says so; empty where it does not."""
    until = holds_until(speaker, cycle, levels)
    if until <= cycle:
        return f"holds_until({cycle}) is {until}, which is not later"
    draw = Streams(seed)["pairs"]
    for _ in range(pairs):
        born = draw.integers(max(cycle - 3000, 0), cycle + 1, 2)
        two = [(int(p), int(a)) for p, a in zip(draw.integers(1, levels + 2, 2), born, strict=True)]
        orders = {_order(speaker.ask, two, levels, t) for t in _cycles(cycle, until)}
        if len(orders) > 1:
            return f"the order of (priority, arrival) {two[0]} and {two[1]} changes from {cycle} to before {until}"
    return ""


def _order(rank: Callable[[PriorityView], int], two: list[tuple[int, int]], levels: int, cycle: int) -> int:
    one, other = (rank(asks(cycle, priority, levels, cycle - born)) for priority, born in two)
    return (one > other) - (one < other)


def _cycles(cycle: int, until: int, most: int = 40) -> list[int]:
    """Return the cycles from one to another: all of them if they are few, else the first and last ones and some
    between."""
    last = min(until - 1, cycle + 100_000)
    if last - cycle < most:
        return list(range(cycle, last + 1))
    between = np.linspace(cycle, last, most).astype(np.int64).tolist()
    return sorted({*between, cycle + 1, last - 1})
