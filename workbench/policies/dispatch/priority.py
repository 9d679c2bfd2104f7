"""Which waiting group is more urgent? (spec 3, Em. 2)

An answer takes a `PriorityView`. It remembers nothing. So that idle cycles can be skipped, a second function
`holds_until(see)` takes an `OrderView`. It returns the first cycle after `see.cycle` at which the order of two groups
that wait all the while may differ. Without the function that is the very next cycle.

What every policy owes, in a test file, for policies of this package or not:

    class TestMyPriority(PriorityContract):
        policy = MyPriority(cycles=100)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import PARAMS, Answer, Question, number, view
from workbench.errors import PolicyError
from workbench.policies.arguments import MOST_LEVELS, listed, whole, wholes
from workbench.policies.contract import Contract
from workbench.policies.policy import Policy
from workbench.policies.scenes import ANSWER, Request, Scenes, Speaker
from workbench.streams import Streams


@view
class PriorityView(NamedTuple):
    """One waiting group."""

    cycle: int = number("the cycle of the round")
    priority: int = number("the group's static priority, from 1 (highest) to `levels`")
    levels: int = number("how many priorities there are")
    waited: int = number("cycles since the group arrived")
    levers: Any = PARAMS


RANK = Question("priority", PriorityView, answers="the group's rank, a whole number: the lowest rank is served first")


@view
class OrderView(NamedTuple):
    """A cycle after which the order of waiting groups may change."""

    cycle: int = number("the cycle of the round")
    levels: int = number("how many priorities there are")
    levers: Any = PARAMS


HOLDS = Question("how long an order holds", OrderView)
FOR_EVER = 1 << 62
"""What `holds_until` returns when the order never changes."""


def holds_until(speaker: Speaker, cycle: int, levels: int) -> int:
    """Return the first cycle at which the order may differ: the next one for a policy that does not say."""
    if speaker.policy.notice("holds_until") is None:
        return cycle + 1
    return speaker.tell("holds_until", OrderView(cycle, levels, None))


class ReadyPriority(NamedTuple):
    """A priority policy as engines receive it."""

    answer: Answer
    holds_until: Answer
    params: np.ndarray


def asks(cycle: int, priority: int, levels: int, waited: int) -> PriorityView:
    """Return the view of one waiting group."""
    return PriorityView(cycle, priority, levels, waited, None)


class Priority(Policy, abstract=True):
    """The base of every priority policy; a new one needs an `answer`."""

    question: ClassVar[str] = "priority"
    asks: ClassVar[Question] = RANK
    tells = {"holds_until": HOLDS}
    holds_until: ClassVar[Callable[..., Any] | None] = None
    one_label: ClassVar[bool] = False
    """Whether all groups but sub-groups below all count as of priority 1 for whoever selects (spec 3, E3)."""

    def check_levels(self, levels: int, path: str = "", where: str = "") -> None:
        """Refuse a number of priorities that this policy is not made for."""

    def order(self, cycle: int, levels: int = 4) -> tuple[int, ...]:
        """Return the static priorities from the most urgent on, at a cycle, for groups that arrive at that cycle.

        The higher static priority wins a tie.
        """
        cycle, levels = whole("cycle", cycle), whole("levels", levels, 1, MOST_LEVELS)
        self.check_levels(levels)
        ranks = self.ranks(range(1, levels + 1), levels, cycle)
        return tuple(priority for _, priority in sorted(zip(ranks, range(1, levels + 1))))

    def ranks(
        self, priorities: Sequence[int], levels: int = 4, cycle: int = 0, waited: Sequence[int] = ()
    ) -> list[int]:
        """Return the rank of each of several groups at a cycle, given their static priorities; the lowest is served
        first.

        Parameters
        ----------
        priorities : sequence of int
            The static priority of each, 1 = highest; `levels` + 1 is a sub-group below all.
        levels : int
            How many priorities there are.
        cycle : int
            The cycle of the round.
        waited : sequence of int
            Cycles since each arrived; no channel has waited if empty.

        Raises
        ------
        InputError
            A number lies outside of its range, or not each has a waiting time.
        """
        cycle, levels = whole("cycle", cycle), whole("levels", levels, 1, MOST_LEVELS)
        self.check_levels(levels)
        answer, params = self.plain_answer(), self.parameters()
        each = wholes("priorities", priorities, 1, levels + 1)
        since = wholes("waited", waited, count=len(each) if len(listed("waited", waited)) else 0) or [0] * len(each)
        return [int(answer(PriorityView(cycle, p, levels, w, params))) for p, w in zip(each, since, strict=True)]

    def ready(self, checked: bool = False) -> ReadyPriority:
        """Return the policy for a run."""
        return ReadyPriority(
            self.ready_answer(checked),
            self.ready_notice("holds_until", checked),
            self.parameters(),
        )


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

    def judge(self, request: Request) -> str:
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
        for requested in self.requests():
            if requested.name == ANSWER:
                lowest, below = (requested.see._replace(priority=requested.see.levels + k) for k in (0, 1))
                assert rank(lowest) <= rank(below), below


def too_late(speaker: Speaker, levels: int, cycle: int, pairs: int = 12, seed: int = 0) -> str:
    """Return the place where the order of two waiting groups differs before `holds_until` says so; empty where it does
    not."""
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
