"""Least recent activity: least recent energy that counts waiting, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from workbench.errors import InputError, wrong_value
from workbench.levers import lever
from workbench.policies.arguments import MOST, table
from workbench.policies.dispatch.choice.least_recent_energy import LeastRecentEnergy
from workbench.policies.dispatch.choice.plain import scene
from workbench.policies.dispatch.choice.question import CLASSES
from workbench.policies.dispatch.choice.view import ChoiceView
from workbench.policies.weights import check_weights

WAITS = ("translation_stall", "lock_wait")
"""Classes beside those of instructions: cycles in which a group, or a wave, of the module waited (spec 6, R16)."""


class LeastRecentActivity(LeastRecentEnergy):
    """Take the module whose instructions and waits of the last `nx` cycles weigh least; ties as the engine breaks them.

    As least recent energy, with two more classes that the whole node enters into the history: one instruction a cycle
    in which a group waited for a translation, and one a cycle in which a wave waited for a lock of device malloc. A
    dispatcher by itself counts none of them.

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
    classes: ClassVar[int] = len(CLASSES) + len(WAITS)
    """Numbers a module that the policy reads of the recent past."""

    def check(self) -> None:
        check_weights(self.weights, (*CLASSES, *WAITS), "class", f"{self.name}.weights")

    def scores(self, rows: Any, after: Sequence[int] = (), seed: int = 0, **seen: Any) -> list[float]:
        """Return the score of each module, in plain Python and without an engine.

        A row has eight counts, or the six of instructions where nothing waited.
        """
        recent = self._counts(table("rows", rows))
        shown = scene([[0]] * len(recent), "free", **seen)._replace(recent=recent.reshape(-1))
        scores, nothing = np.zeros(len(shown.modules)), np.zeros(1, np.int64)
        self.plain_answer()(ChoiceView(shown.cycle, scores.size, *shown.columns(), scores, self.parameters(), nothing))
        return [float(score) for score in scores]

    def _counts(self, rows: Sequence[Sequence[float]]) -> np.ndarray:
        """Return a count of every class: float64[modules, 8]."""
        widths = {len(row) for row in rows}
        if widths not in ({self.classes}, {len(CLASSES)}):
            raise InputError(
                f"rows must have {len(CLASSES)} or {self.classes} counts a module, all of one length. "
                f"Got rows of {sorted(widths)}."
            )
        counts = np.zeros((len(rows), self.classes))
        counts[:, : widths.pop()] = rows
        if not (np.abs(counts) <= MOST).all():
            raise wrong_value(
                "", "rows", f"must hold numbers up to {MOST}", float(counts.flat[np.abs(counts).argmax()])
            )
        return counts
