"""Module choices by recent instructions, or by temperature.

`LeastRecentEnergy` is the proposal of the source document for an even temperature; `RecentCounts` is the exact sliding
window: how many instructions of each class a module has executed in the latest cycles.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from workbench.errors import unknown_name, wrong_value
from workbench.levers import lever
from workbench.policies.arguments import check_weights
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.view import CLASSES, ChoiceView


class ByInstructions(Choice, abstract=True):
    """The base of choices by a weighted sum of the instructions that a module ran lately, the least first."""

    rows_are = "recent"
    weights: tuple[float, ...] = lever(
        (1, 4, 4, 16, 1, 2),
        least=0,
        most=1e12,
        description="weight of each class: move, load, store, matrix, compare, jump",
    )

    @staticmethod
    def answer(see: ChoiceView) -> None:
        classes = see.levers.size
        for k in range(see.count):
            energy = 0.0
            for s in range(classes):
                energy += see.levers[s] * see.recent[see.modules[k] * classes + s]
            see.scores[k] = -energy

    def parameters(self) -> np.ndarray:
        return np.array(self.weights)

    def check(self) -> None:
        check_weights(self.weights, CLASSES, "class", f"{self.name}.weights")


class LeastRecentEnergy(ByInstructions):
    """Take the module whose instructions of the last `nx` cycles weigh least; ties as the engine breaks them.

    The score of a module is minus the sum over the classes of weight x instructions in the cycles t - nx to t - 1 of a
    decision at cycle t; nothing yet counts as 0. The weights are energies, of which only the ratios matter; they come
    from a calibration (`InstructionCalibrator`).

    References
    ----------
    spec 3, R74-R80, E19, E22, E23, V34, V35; source document ¶260-284, claims 1-8. The default weights are those of
    V34; nx = 1024 is the document's (¶279).

    Examples
    --------
    >>> policy = LeastRecentEnergy(weights=(1, 4, 4, 16, 1, 2))
    >>> policy.choose([(100, 50, 20, 10, 30, 5), (300, 10, 10, 2, 100, 40)])
    0
    >>> policy.scores([(100, 50, 20, 10, 30, 5), (300, 10, 10, 2, 100, 40)])
    [-580.0, -592.0]
    """

    nx: int = lever(
        1024, least=1, most=1 << 20, scale="power_of_two", unit="cycles", description="the length of the recent past"
    )

    def history_cycles(self) -> int:
        return self.nx


WAITS = ("translation_stall", "lock_wait")
"""Classes in addition to those of instructions: cycles in which a group, or a wave, of the module waited (spec 6,
R16)."""


class LeastRecentActivity(LeastRecentEnergy):
    """Take the module whose instructions and waits of the last `nx` cycles weigh least; ties as the engine breaks them.

    As least recent energy, with two more classes that the whole node enters into the history: one instruction a cycle
    in which a group waited for a translation, and one a cycle in which a wave waited for a lock of device malloc. A
    dispatcher by itself counts none of them; rows that `choose` is given may have six counts, where nothing waited.

    References
    ----------
    spec 6, R16; spec 3, R74-R80 and section 8: lock waits as a class of the instruction history.

    Examples
    --------
    >>> rows = [(100, 0, 0, 0, 0, 0, 0, 0), (10, 0, 0, 0, 0, 0, 50, 60)]
    >>> LeastRecentActivity().choose(rows), LeastRecentActivity(weights=(1, 4, 4, 16, 1, 2, 0, 0)).choose(rows)
    (0, 1)
    """

    weights: tuple[float, ...] = lever(
        (1, 4, 4, 16, 1, 2, 1, 1),
        least=0,
        most=1e12,
        description="weight of each class: move, load, store, matrix, compare, jump, translation stall, lock wait",
    )
    classes = len(CLASSES) + len(WAITS)

    def check(self) -> None:
        check_weights(self.weights, (*CLASSES, *WAITS), "class", f"{self.name}.weights")


class LeastDecayedEnergy(ByInstructions):
    """Take the module whose instructions weigh least, older ones counting ever less; ties as the engine breaks them.

    A module has one counter a class, which is halved every `half_life` cycles: six numbers, where a sliding window
    must remember what happened in each of its cycles. Under a steady load the counters hold between one and two half
    lives of instructions.

    References
    ----------
    spec 3, section 7: exponentially decayed counters instead of a sliding window.

    Examples
    --------
    >>> LeastDecayedEnergy().choose([(100, 50, 20, 10, 30, 5), (300, 10, 10, 2, 100, 40)])
    0
    """

    half_life: int = lever(
        1024, least=1, most=1 << 30, scale="log", unit="cycles", description="after how many cycles counters are halved"
    )

    def halving_cycles(self) -> int:
        return self.half_life


class CoolestFirst(Choice):
    """Take the coolest module with space; ties, such as those of a start from the ambient, as the engine breaks them.

    It reads what a thermal sensor would say, so heat must be simulated; counting instructions is meant to do without.

    References
    ----------
    spec 3, section 7: thermal-aware and coolest-first choice, baseline of Em. 10.

    Examples
    --------
    >>> CoolestFirst().choose([12.5, 3.0, 4.0])
    1
    """

    rows_are = "heat"

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = -see.heat[see.modules[k]]

    def needs_heat(self) -> bool:
        return True


class RecentCounts:
    """One module's counts over the cycles t - nx to t - 1 of a decision at cycle t, by itself and without an engine.

    Time runs forward: neither executions nor decisions may go back. What is remembered is the executions inside the
    window, however many cycles lie between them.

    References
    ----------
    spec 3, R75, E23, V35.

    Examples
    --------
    >>> recent = RecentCounts(nx=4)
    >>> for cycle in (1, 2, 3, 6):
    ...     recent.execute(cycle, "load")
    >>> recent.counts(7)  # those of the cycles 3 to 6
    (0, 2, 0, 0, 0, 0)
    """

    def __init__(self, nx: int = 1024) -> None:
        self.nx = int(LeastRecentEnergy.levers["nx"].check(nx, "nx"))
        self._ahead = deque[tuple[int, int, int]]()
        self._inside = deque[tuple[int, int, int]]()
        self._counts = [0] * len(CLASSES)
        self._executed = self._decided = 0

    def execute(self, cycle: int, kind: str, count: int = 1) -> None:
        """Count instructions of a class at a cycle.

        Raises
        ------
        InputError
            There is no such class, or the cycle lies before that of an earlier execution or decision.
        """
        if kind not in CLASSES:
            raise unknown_name("", "instruction class", kind, CLASSES)
        earliest = max(self._executed, self._decided)
        self._executed = _not_before(earliest, cycle)
        self._ahead.append((cycle, CLASSES.index(kind), count))

    def counts(self, cycle: int) -> tuple[int, ...]:
        """Return the instructions of each class in the `nx` cycles before a cycle.

        Raises
        ------
        InputError
            The cycle lies before that of an earlier decision.
        """
        self._decided = _not_before(self._decided, cycle)
        while self._ahead and self._ahead[0][0] < cycle:
            self._inside.append(self._ahead.popleft())
            self._counts[self._inside[-1][1]] += self._inside[-1][2]
        while self._inside and self._inside[0][0] < cycle - self.nx:
            _, kind, count = self._inside.popleft()
            self._counts[kind] -= count
        return tuple(self._counts)


def _not_before(earliest: int, cycle: int) -> int:
    if cycle < earliest:
        raise wrong_value("", "cycle", f"must be at least {earliest}, for time runs forward", cycle, earliest)
    return cycle
