"""How are a group's waves shared out over the units of a module? (spec 3, Em. 8)

An answer takes a `UnitsView`. The module stores the new pointer only if the group is dispatched to it; the answer
itself remembers nothing, and gives the same counts whenever it is asked the same. `RotatedSplit` is the proposal of the
source document, with the formulas as they are meant and as they are written; the split table (R60) says how many waves
of a group each unit of an empty module is given.

What every policy owes, in a test file, for policies of this package or not:

    class TestMySplit(UnitsContract):
        policy = MySplit()
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from workbench.compiled import PARAMS, RAISED, Answer, Question, kernel, number, readable, view, writable
from workbench.errors import wrong_value
from workbench.levers import Spec, lever
from workbench.policies.arguments import MOST_UNITS, MOST_WAVES, listed, whole, wholes
from workbench.policies.contract import SEED, Contract
from workbench.policies.policy import Policy
from workbench.policies.scenes import Request, Scenes, compiled
from workbench.streams import Streams
from workbench.structures.rng import below


@view
class UnitsView(NamedTuple):
    """A group, and the module that it would go to."""

    waves: int = number("waves of the group, at least 1")
    units: int = number("units of the module")
    pointer: int = number("what the module stores for this policy: where the rotation stands, or a generator's state")
    taken: np.ndarray = readable("int64", "units", "waves that run on each unit now")
    counts: np.ndarray = writable("int64", "units", "to be filled: the waves that each unit is given, `waves` in all")
    levers: Any = PARAMS


UNITS = Question("units", UnitsView, answers="the module's new pointer; it fills in the waves that each unit is given")


class ReadyUnits(NamedTuple):
    """A policy for units as engines receive it."""

    answer: Answer
    params: np.ndarray
    by_pointer: int
    """1 where the answer depends on nothing of the module but its pointer."""


UNTOUCHED = -7


def asks(waves: int, pointer: int, taken: Any) -> UnitsView:
    """Return the view of a group, given the waves that run on each unit."""
    loads = np.array(taken, np.int64)
    return UnitsView(waves, loads.size, pointer, loads, np.full(loads.size, UNTOUCHED, np.int64), None)


class Units(Policy, abstract=True):
    """The base of every policy that shares waves out over units; a new one needs an `answer`."""

    question: ClassVar[str] = "units"
    asks: ClassVar[Question] = UNITS

    def by_pointer(self) -> bool:
        """Return whether the counts depend on the module's pointer alone: engines then ask less often."""
        return False

    def first_pointer(self, module: int, seed: int) -> int:
        """Return the store of a module before its first group."""
        return 0

    def split(
        self, waves: int, units: int, at: int | None = None, taken: tuple[int, ...] = (), most: int | None = None
    ) -> tuple[list[int], int]:
        """Return the waves that each unit is given, and the new pointer.

        Parameters
        ----------
        waves, units : int
            Waves of the group (0 is no group: nothing is given and the pointer stays) and units of the module.
        at : int, optional
            The module's pointer; as at the start if None.
        taken : tuple of int
            Waves that run on each unit now; none if empty.
        most : int, optional
            Waves that a module can hold, units times the waves of a unit; a larger group is refused.

        Raises
        ------
        InputError
            The group has a negative number of waves, or more than `most` (spec 3, E24).
        """
        waves, units = whole("waves", waves, None, None), whole("units", units, 1, MOST_UNITS)
        most = None if most is None else whole("most", most)
        if waves < 0 or (most is not None and waves > most):
            upper = "" if most is None else f" to {most}, all that a module holds"
            raise wrong_value("", "waves", f"must be from 0{upper}" if upper else "must be at least 0", waves)
        whole("waves", waves, 0, MOST_WAVES)
        pointer = self.first_pointer(0, 0) if at is None else whole("at", at, -(1 << 63), (1 << 63) - 1)
        running = wholes("taken", taken, 0, MOST_WAVES, units if len(listed("taken", taken)) else 0) or [0] * units
        counts = np.zeros(units, np.int64)
        if waves == 0:
            return counts.tolist(), pointer
        loads = np.array(running, np.int64)
        after = int(self.plain_answer()(UnitsView(waves, units, pointer, loads, counts, self.parameters())))
        return counts.tolist(), after

    def ready(self, checked: bool = False) -> ReadyUnits:
        """Return the policy for a run."""
        return ReadyUnits(self.ready_answer(checked), self.parameters(), int(self.by_pointer()))


POINTER, READING = 0, 2
HEAD, SECOND_READING = 1, 1


class RotatedSplit(Units):
    """Share the waves out as evenly as they go, beginning where the last group of the module ended; there are no ties.

    Whatever groups come, the waves that the units of a module were given in all differ by at most 1. What is stored is
    the unit that was the last to receive an extra wave (`tail`) or the one to be served first next (`head`), 0 at the
    start. Units are numbered along the direction of rotation, which is that of the increasing index (E25).

    With `as_written` the formulas of ¶232-233 are taken literally, and the balance is lost: the rotation begins at the
    new pointer, which already holds this group's waves, the head's pointer takes one more, and a remainder of 0 leaves
    the pointer where it was. `reading` says of what the remainder is taken: of the pointer with the waves (A), or of
    the waves alone (B).

    References
    ----------
    spec 3, R60-R68, E24, E25; source document ¶221-234.

    Examples
    --------
    >>> RotatedSplit(pointer="tail", as_written=False).split(waves=3, units=4, at=0)
    ([0, 1, 1, 1], 3)
    >>> RotatedSplit(pointer="head").split(waves=3, units=4, at=0)
    ([1, 1, 1, 0], 3)
    >>> RotatedSplit(as_written=True).split(waves=1, units=4, at=3)  # stays at unit 0 for ever
    ([1, 0, 0, 0], 3)
    """

    pointer: Literal["tail", "head"] = lever(
        "tail", description="which unit the module stores: last served, or first next"
    )
    as_written: bool = lever(False, description="take the formulas of ¶232-233 literally: an ablation")
    reading: Literal["A", "B"] = lever(
        "A", description="of what the literal remainder is taken: pointer and waves, or waves"
    )

    @staticmethod
    def answer(see: UnitsView) -> int:
        first = see.pointer if see.levers.pointer == HEAD else see.pointer + 1
        share_out(see.waves, see.units, first % see.units, see.counts)
        return int((see.pointer + see.waves) % see.units)

    def by_pointer(self) -> bool:
        """Return True: the loads of the units are not looked at."""
        return True

    def function(self) -> Callable[..., int]:
        return literal if self.as_written else RotatedSplit.answer


def literal(see: UnitsView) -> int:
    """Begin the rotation at the new pointer (R65)."""
    head = see.levers.pointer == HEAD
    after = _moved(see.pointer, see.waves + 1 if head else see.waves, see.units, see.levers.reading == SECOND_READING)
    share_out(see.waves, see.units, after if head else (after + 1) % see.units, see.counts)
    return int(after)


@kernel
def _moved(pointer: int, by: int, units: int, of_waves_alone: bool) -> int:
    if of_waves_alone:
        return (pointer + by % units) % units
    remainder = (pointer + by) % units
    return pointer if remainder == 0 else remainder


class LeastLoaded(Units):
    """Give each wave to the unit that runs the fewest now, those of this group included; the lowest unit wins a tie.

    It levels what runs at the moment, not what was given in all, and may give one unit more of a group than another
    by more than one. It needs the units' loads, which a pointer does without.

    References
    ----------
    spec 3, section 7.

    Examples
    --------
    >>> LeastLoaded().split(waves=5, units=4, taken=(3, 0, 1, 1))
    ([0, 3, 1, 1], 0)
    """

    @staticmethod
    def answer(see: UnitsView) -> int:
        for unit in range(see.units):
            see.counts[unit] = 0
        for _ in range(see.waves):
            least = 0
            for unit in range(1, see.units):
                if see.taken[unit] + see.counts[unit] < see.taken[least] + see.counts[least]:
                    least = unit
            see.counts[least] += 1
        return int(see.pointer)


class NoRotation(Units):
    """Share the waves out as evenly as they go, always beginning at unit 0: a static split; there are no ties.

    What is over after the even share always goes to the first units, so they fall behind ever further.

    References
    ----------
    spec 3, section 7 (static split) and H3.13 (no rotation).

    Examples
    --------
    >>> NoRotation().split(waves=6, units=4)
    ([2, 2, 1, 1], 0)
    """

    @staticmethod
    def answer(see: UnitsView) -> int:
        share_out(see.waves, see.units, 0, see.counts)
        return int(see.pointer)

    def by_pointer(self) -> bool:
        """Return True: the loads of the units are not looked at."""
        return True


class RandomRotation(Units):
    """Share the waves out as evenly as they go, beginning at a random unit, each equally likely; there are no ties.

    The module's pointer is the state of a generator of its own, seeded from the run's seed, so the answer is a function
    of what it is asked, and a group that goes elsewhere draws nothing here. Even in the mean, but the units drift apart
    as a random walk does.

    References
    ----------
    spec 3, section 7.

    Examples
    --------
    >>> counts, after = RandomRotation().split(waves=5, units=4)
    >>> sorted(counts), RandomRotation().split(waves=5, units=4) == (counts, after)
    ([1, 1, 1, 2], True)
    """

    draws = True

    @staticmethod
    def answer(see: UnitsView) -> int:
        see.counts[0] = see.pointer  # the generator lives in the counts until they are filled
        rotation = below(see.counts, 0, see.units)
        after = see.counts[0]
        share_out(see.waves, see.units, rotation, see.counts)
        return int(after)

    def by_pointer(self) -> bool:
        """Return True: the loads of the units are not looked at."""
        return True

    def first_pointer(self, module: int, seed: int) -> int:
        """Return the generator's state, drawn from a stream of the seed that bears the module's number, never 0."""
        return max(Streams(seed).integer(f"random_rotation/{module}"), 1)


@kernel
def share_out(waves: int, units: int, rotation: int, counts: Any) -> None:
    """Fill the counts by the formula of the table, the entry of unit t moved to unit (t + rotation) mod units.

    Each unit is given `waves div units`, the first `waves mod units` ones along the direction one more (R60, R62).

    >>> counts = np.zeros(4, np.int64)
    >>> share_out(6, 4, 3, counts)
    >>> counts.tolist()
    [2, 1, 1, 2]
    """
    each, more = waves // units, waves % units
    unit = rotation
    for entry in range(units):
        counts[unit] = each + 1 if entry < more else each
        unit = unit + 1 if unit + 1 < units else 0


class SplitTable(Spec):
    """The table of ¶225-228, to look at and to look up in: one row for each number of waves that a module holds.

    All modules share one table (R61). Engines use the formula that fills it, which needs no memory.

    References
    ----------
    spec 3, R60-R61 and the table of section 4.

    Examples
    --------
    >>> table = SplitTable(units=4, waves_a_unit=2)
    >>> table.row(5)
    (2, 1, 1, 1)
    >>> print(table)
    1: 1 0 0 0
    2: 1 1 0 0
    3: 1 1 1 0
    4: 1 1 1 1
    5: 2 1 1 1
    6: 2 2 1 1
    7: 2 2 2 1
    8: 2 2 2 2
    """

    units: int = lever(4, least=1, most=64, unit="units", description="units of a module (q)")
    waves_a_unit: int = lever(10, least=1, most=1024, unit="waves", description="waves that a unit can hold (L)")

    @property
    def most(self) -> int:
        """Return the waves that a module can hold, units times the waves of a unit: the last row."""
        return self.units * self.waves_a_unit

    def rows(self) -> np.ndarray:
        """Return the whole table: int64[most, units], the row of a group of w waves at w - 1."""
        table = np.zeros((self.most, self.units), np.int64)
        for waves in range(1, self.most + 1):
            share_out(waves, self.units, 0, table[waves - 1])
        return table

    def row(self, waves: int) -> tuple[int, ...]:
        """Return the waves that each unit is given of a group.

        Raises
        ------
        InputError
            The group has no wave, or more than a module can hold (spec 3, E24).
        """
        waves = whole("waves", waves, None, None)
        if not 1 <= waves <= self.most:
            expected = f"must be from 1 to {self.most}, all that a module holds"
            raise wrong_value("", "waves", expected, waves, min(max(waves, 1), self.most))
        return tuple(self.rows()[waves - 1].tolist())

    def __str__(self) -> str:
        lines = (" ".join(map(str, row)) for row in self.rows().tolist())
        return "\n".join(f"{waves}: {row}" for waves, row in enumerate(lines, 1))


WAVES_A_UNIT = 16


class UnitsContract(Contract):
    """Tests that every policy for units passes; a subclass names the policy."""

    policy: ClassVar[Units]
    sizes = (1, 2, 4, 7, 64)
    steps = 80
    evenly: ClassVar[bool] = True
    """Whether the units' shares of a single group differ by at most one wave."""

    def start_memory(self, policy: Units, size: int, seed: int) -> np.ndarray:
        """Return the stores of some modules before their first group: their pointers stand for a memory."""
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

    def judge(self, request: Request) -> str:
        """Return a fault where a wave is lost or given twice, or a unit gets a negative number."""
        counts = request.after.counts
        wrong = counts.sum() != request.see.waves or counts.min() < 0
        return f"shared out {counts.tolist()} for {request.see}" if wrong else ""

    def test_evenly_or_not(self) -> None:
        uneven = [requested for requested in self.requests() if np.ptp(requested.after.counts) > 1]
        assert bool(uneven) != self.evenly, f"evenly is {self.evenly}, {len(uneven)} groups are not: {uneven[:1]}"

    def test_the_counts_do_not_depend_on_what_stood_there(self) -> None:
        say = compiled(self.policy)
        for requested in self.requests():
            again = requested.see._replace(counts=np.full(requested.see.units, 99, np.int64))
            assert say("answer", again) == requested.answer, requested.see
            assert again.counts.tolist() == requested.after.counts.tolist(), requested.see

    def test_the_pointer_alone_counts_where_it_says_so(self) -> None:
        for requested in self.requests() if self.policy.by_pointer() else []:
            counts = self.policy.split(requested.see.waves, requested.see.units, requested.see.pointer)[0]
            assert counts == requested.after.counts.tolist(), requested.see

    def test_no_waves_change_nothing(self) -> None:
        assert self.policy.split(waves=0, units=4, at=3) == ([0, 0, 0, 0], 3)
