"""Rotated split: the proposal of the source document, with the formulas as they are meant and as they are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.dispatch.units.question import Units
from workbench.policies.dispatch.units.split_table import share_out
from workbench.policies.dispatch.units.view import UnitsView

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
