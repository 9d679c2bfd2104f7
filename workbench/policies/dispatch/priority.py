"""Which waiting group is more urgent? (spec 3, Em. 2)

An answer takes a `PriorityView`. It remembers nothing. So that idle cycles can be skipped, a second function
`holds_until(see)`, which takes an `OrderView`, returns the first cycle after `see.cycle` at which the order of two
groups that wait all the while may differ; one that is not defined means: at the very next cycle. `PriorityWindows` is
the proposal of the source document: every priority is on top for a while.

What every policy owes, in a test file, for policies of this package or not:

    class TestMyPriority(PriorityContract):
        policy = MyPriority(cycles=100)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import PARAMS, Answer, Question, kernel, number, view
from workbench.errors import PolicyError, wrong_value
from workbench.levers import lever
from workbench.policies.arguments import MOST_LEVELS, lever_path, listed, refuse_wrong_count, whole, wholes
from workbench.policies.contract import Contract
from workbench.policies.policy import Policy
from workbench.policies.scenes import ANSWER, Asked, Scenes, Speaker
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
    """Return what is asked about one waiting group."""
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
            Cycles since each arrived; nobody has waited if empty.

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


class NoPriority(Priority):
    """Give every group the same rank, so that all of them tie and the selection alone decides.

    A sub-group that was put below all priorities stays below them. A selection sees priority 1 of all others.

    References
    ----------
    spec 3, E3; section 7: what the channel policies of the simulators (`AS_FOUND` of dispatch) know of priorities.

    Examples
    --------
    >>> NoPriority().ranks([1, 4, 5], levels=4)
    [0, 0, 1]
    """

    one_label = True

    @staticmethod
    def answer(see: PriorityView) -> int:
        return 1 if see.priority > see.levels else 0

    @staticmethod
    def holds_until(see: OrderView) -> int:
        return FOR_EVER


class StaticPriority(Priority):
    """Rank a group by its static priority, 1 first; equal priorities tie, and the selection decides among them.

    Nothing keeps a low priority from starving under a lasting load of a higher one.

    References
    ----------
    spec 3, R16; the baseline of the priority windows (H3.5).

    Examples
    --------
    >>> StaticPriority().order(cycle=0), StaticPriority().order(cycle=9)
    ((1, 2, 3, 4), (1, 2, 3, 4))
    """

    @staticmethod
    def answer(see: PriorityView) -> int:
        return see.priority

    @staticmethod
    def holds_until(see: OrderView) -> int:
        return FOR_EVER


SHORTEST, FIRST_WINDOW = 0, 1
"""Parameters: the default's shortest window, then the lengths where they are given."""
ON_TOP = 0
"""The rank of a raised priority; the others keep their own number, from 1."""


@kernel
def how_many(levels: int, params: np.ndarray) -> int:
    """Return the number of windows: as many as lengths were given, else one a priority."""
    given = int(params.size) - FIRST_WINDOW
    return given if given else levels


@kernel
def length(window: int, levels: int, params: np.ndarray) -> int:
    """Return the cycles of a window, counted from 0."""
    if params.size > FIRST_WINDOW:
        return int(params[FIRST_WINDOW + window])
    return int(params[SHORTEST]) * (levels - window)


@kernel
def open_window(cycle: int, levels: int, params: np.ndarray) -> tuple[int, int]:
    """Return the window that the cyclic counter is in, from 0, and how many of its cycles are left, this one
    included."""
    windows, period = how_many(levels, params), 0
    for window in range(windows):
        period += length(window, levels, params)
    window, left = 0, length(0, levels, params) - cycle % period
    while left <= 0:
        window += 1
        left += length(window, levels, params)
    return window, left


class PriorityWindows(Priority):
    """Raise priority y to the top while a cyclic counter of cycles is in window y; the others keep their order.

    The counter starts with the run, at the first window. Groups of the same static priority tie. A sub-group below all
    priorities is never raised. Any lasting load then leaves each priority its window: waiting is bounded by the period.

    References
    ----------
    spec 3, R16-R20 (B1-B4); E8 for the default lengths; V28, V29.

    Examples
    --------
    >>> windows = PriorityWindows(lengths=(8, 4, 2, 1))
    >>> windows.order(cycle=7), windows.order(cycle=9)
    ((1, 2, 3, 4), (2, 1, 3, 4))
    >>> PriorityWindows(shortest=1).order(cycle=9, levels=4)  # 4, 3, 2, 1 cycles
    (4, 1, 2, 3)
    """

    lengths: tuple[int, ...] = lever(
        (),
        least=1,
        most=1 << 30,
        unit="cycles",
        description="how long each priority is on top, the highest first; none = S, S - 1, ..., 1 times the shortest",
    )
    shortest: int = lever(
        64, least=1, most=1 << 20, scale="log", unit="cycles", description="the last window, where no lengths are given"
    )
    unmatched: bool = lever(
        False,
        description="whether there may be more or fewer windows than priorities; one without a window is never raised",
    )
    increasing: bool = lever(False, description="whether a window may be longer than the one before it")

    @staticmethod
    def answer(see: PriorityView) -> int:
        window, _ = open_window(see.cycle, see.levels, see.levers)
        return ON_TOP if see.priority == window + 1 and see.priority <= see.levels else see.priority

    @staticmethod
    def holds_until(see: OrderView) -> int:
        if see.levels == 1 or how_many(see.levels, see.levers) == 1:
            return FOR_EVER
        _, left = open_window(see.cycle, see.levels, see.levers)
        return see.cycle + left

    def check(self) -> None:
        """Refuse windows that grow, unless that is asked for (spec 3, R17)."""
        falling = tuple(sorted(self.lengths, reverse=True))
        if self.lengths != falling and not self.increasing:
            expected = "must not increase from one window to the next (or set increasing)"
            raise wrong_value("", f"{self.name}.lengths", expected, self.lengths, falling)

    def check_levels(self, levels: int, path: str = "", where: str = "") -> None:
        """Refuse a number of windows that is not that of the priorities (spec 3, E8)."""
        if not self.unmatched:
            name = lever_path(path, self.name, "lengths")
            refuse_wrong_count(name, self.lengths, levels, "priorities", where, " (or set unmatched)")

    def order(self, cycle: int, levels: int | None = None) -> tuple[int, ...]:
        """Return the static priorities from the most urgent on; as many as there are lengths unless it is said."""
        return super().order(cycle, (len(self.lengths) or 4) if levels is None else levels)

    def parameters(self) -> np.ndarray:
        """Return the shortest window and the lengths: float64[1 + windows]."""
        return np.array([self.shortest, *self.lengths], np.float64)


class Ageing(Priority):
    """Raise every waiting group by one priority at each tick of one counter for all, at most to the highest.

    Equal ranks tie, and the selection decides. A group that was put below all priorities rises like the others. With
    `above_highest` a group goes on rising, so that among groups that wait the order never changes again.

    References
    ----------
    spec 3, section 7; A. Silberschatz, P. Galvin, G. Gagne, Operating System Concepts, priority scheduling: ageing.

    Examples
    --------
    >>> Ageing(cycles_a_level=100).ranks([4, 4, 4, 2], levels=4, cycle=1000, waited=[0, 1, 250, 900])
    [4, 3, 1, 1]
    """

    cycles_a_level: int = lever(
        1024,
        least=1,
        most=1 << 20,
        scale="log",
        unit="cycles",
        description="between two ticks, at which every group rises",
    )
    above_highest: bool = lever(False, description="whether a group rises further once it has the highest priority")

    @staticmethod
    def answer(see: PriorityView) -> int:
        step = see.levers.cycles_a_level
        rank = see.priority - (see.cycle // step - (see.cycle - see.waited) // step)
        return rank if see.levers.above_highest else max(rank, 1)

    @staticmethod
    def holds_until(see: OrderView) -> int:
        step = see.levers.cycles_a_level
        return FOR_EVER if see.levers.above_highest else (see.cycle // step + 1) * step


DEADLINE_STEP, FIRST_DEADLINE = 0, 1


@kernel
def slack(priority: int, params: np.ndarray) -> int:
    """Return the cycles from an arrival to its deadline."""
    given, step = int(params.size) - FIRST_DEADLINE, int(params[DEADLINE_STEP])
    if given == 0:
        return step * priority
    return int(params[FIRST_DEADLINE + min(priority, given) - 1]) + step * max(priority - given, 0)


class EarliestDeadline(Priority):
    """Rank a group by the cycles to its deadline, which lies behind its arrival by the slack of its priority.

    Equal deadlines tie, and the selection decides; a deadline that has passed ranks before all that have not. As all
    groups that wait come nearer to their deadlines together, an order once found holds until something arrives. A
    sub-group below all priorities has the slack of the lowest and `cycles_a_level` more.

    References
    ----------
    spec 3, section 7; C. Liu, J. Layland, "Scheduling Algorithms for Multiprogramming in a Hard-Real-Time
    Environment", Journal of the ACM 20(1), 1973: deadline driven scheduling.

    Examples
    --------
    >>> EarliestDeadline(slacks=(100, 400)).ranks([1, 2, 2], levels=2, cycle=1000, waited=[30, 350, 500])
    [70, 50, -100]
    >>> EarliestDeadline(cycles_a_level=100).order(cycle=0)
    (1, 2, 3, 4)
    """

    slacks: tuple[int, ...] = lever(
        (),
        least=0,
        most=1 << 30,
        unit="cycles",
        description="from arrival to deadline, the highest priority first; none = 1, 2, ..., S times cycles_a_level",
    )
    cycles_a_level: int = lever(
        1024, least=1, most=1 << 20, scale="log", unit="cycles", description="how much slack each priority adds"
    )

    @staticmethod
    def answer(see: PriorityView) -> int:
        return slack(see.priority, see.levers) - see.waited

    @staticmethod
    def holds_until(see: OrderView) -> int:
        return FOR_EVER

    def check_levels(self, levels: int, path: str = "", where: str = "") -> None:
        """Refuse a number of slacks that is not that of the priorities."""
        refuse_wrong_count(lever_path(path, self.name, "slacks"), self.slacks, levels, "priorities", where)

    def order(self, cycle: int, levels: int | None = None) -> tuple[int, ...]:
        """Return the static priorities from the most urgent on; as many as there are slacks unless it is said."""
        return super().order(cycle, (len(self.slacks) or 4) if levels is None else levels)

    def parameters(self) -> np.ndarray:
        """Return what each priority adds, and the slacks: float64[1 + slacks]."""
        return np.array([self.cycles_a_level, *self.slacks], np.float64)


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
