"""How are a group's waves shared out over the units of a module? (spec 3, Em. 8)

An answer takes a `UnitsView`. The module stores the new pointer only if the group is dispatched to it; the answer
itself remembers nothing, and gives the same counts whenever it is asked the same.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from workbench.compiled import Answer, Question
from workbench.errors import wrong_value
from workbench.policies.arguments import MOST_UNITS, MOST_WAVES, listed, whole, wholes
from workbench.policies.dispatch.units.view import UnitsView
from workbench.policies.policy import Policy

UNITS = Question("units", UnitsView, answers="the module's new pointer; it fills in the waves that each unit is given")


class ReadyUnits(NamedTuple):
    """A policy for units as engines receive it."""

    answer: Answer
    params: np.ndarray
    by_pointer: int
    """1 where the answer depends on nothing of the module but its pointer."""


class Units(Policy, abstract=True):
    """The base of every policy that shares waves out over units; a new one needs an `answer`."""

    question: ClassVar[str] = "units"
    asks: ClassVar[Question] = UNITS

    def by_pointer(self) -> bool:
        """Return whether the counts depend on the module's pointer alone: engines then ask less often."""
        return False

    def first_pointer(self, module: int, seed: int) -> int:
        """Return what a module stores before its first group."""
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
