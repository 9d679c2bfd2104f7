"""The frame of an engine as a part of a larger simulation, which somebody else moves on (spec 6, R2).

An engine's part is the state of a run with the routines of its module `asking`, which take that state by reference and
whole numbers and return a whole number: a compiled calendar calls them by address, Python by name.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from workbench.compiled import bound
from workbench.compiled.bound import Referent
from workbench.engines.kit.order import RANKS, cycle_of, rank_of
from workbench.errors import InputError
from workbench.structures import timetable

NEVER = timetable.NEVER
"""The cycle, and the moment, of the next event where there is none."""


class Part:
    """The base of every engine's part.

    Parameters
    ----------
    asking : module
        The engine's routines; `next_moment` and `advance_to` are among them.
    lent : tuple
        What the routines take by reference.

    Attributes
    ----------
    kept : Referent
        That tuple, for entries of its routines (`compiled.entry`).
    """

    def __init__(self, asking: ModuleType, lent: Any) -> None:
        self._asking, self.kept = asking, Referent(lent)
        self._bound = dict[str, Callable[..., int]]()

    @property
    def lent(self) -> Any:
        """Return the tuple that the routines run on."""
        return self.kept.whole

    def run_on(self, lent: Any) -> None:
        """Let the routines run on a tuple of the same type from now on, entries of this part too."""
        self.kept.renew(lent)

    def check(self) -> None:
        """Raise what a policy did wrong.

        Raises
        ------
        PolicyError
            It raised, gave an answer that its question does not allow, or refuses for ever.
        """
        raise NotImplementedError

    def called(self, name: str, *numbers: int) -> int:
        """Call a routine by its name; it is bound to the tuple when it is called first."""
        if name not in self._bound:
            self._bound[name] = bound(getattr(self._asking, name), self.kept)
        return int(self._bound[name](*numbers))

    def call(self, name: str, *numbers: int) -> int:
        """Call a routine by its name, and raise what a policy did wrong in it."""
        result = self.called(name, *numbers)
        self.check()
        return result


def next_event(state: Part) -> tuple[int, int]:
    """Return the cycle and the rank of what happens next: `NEVER` and 0 where nothing will."""
    comes = state.called("next_moment")
    return (NEVER, 0) if comes >= NEVER else (cycle_of(comes), rank_of(comes))


def advance(state: Part, until: tuple[int, int]) -> None:
    """Let everything happen that precedes a cycle and a rank, both exclusive; until `(NEVER, 0)` all that will.

    Raises
    ------
    PolicyError
        A policy raised, gave an answer that its question does not allow, or refuses for ever.
    """
    cycle, rank = until
    state.call("advance_to", min(cycle * RANKS + rank, NEVER))


def refuse_past(time: int, now: int, at: str = "cycle {}") -> None:
    """Refuse what is asked for a time that is over; `at` says how a time is written.

    >>> refuse_past(3, 5)
    Traceback (most recent call last):
    workbench.errors.InputError: a request is for cycle 3; it is cycle 5, and time does not go back.
    """
    if time < now:
        raise InputError(f"a request is for {at.format(time)}; it is {at.format(now)}, and time does not go back.")
