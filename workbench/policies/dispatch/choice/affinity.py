"""Affinity: the choice of the module that holds most of a group's pages (spec 6, R15).

Before each verdict it is told how many of the group's pages each module holds, in the whole node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from workbench.policies.dispatch.choice.load import AT, ByLoad, idle_slots
from workbench.policies.dispatch.choice.question import CHOSEN, HELD, Choice
from workbench.policies.dispatch.choice.view import ChoiceView, PagesNotice


class ByPages(Choice, abstract=True):
    """A choice that is told before each verdict how many pages of the group each module holds, by its `held(see)`.

    What it is told it writes into its memory, which its `answer` reads. A dispatcher by itself has no source of pages:
    it answers nothing, and the memory stays as it was at the start.
    """

    tells = {"chosen": CHOSEN, "held": HELD}
    held: ClassVar[Callable[..., Any] | None] = None


class Affinity(ByPages, ByLoad):
    """Take the module that holds most pages of the group, of equals the one with the fewest waves; ties as the engine.

    A page is held by a module whose TLB has its translation, or whose directory has a record of it; each counts once.
    The whole node knows; a dispatcher by itself does not, and takes the module with the fewest waves (`load`: or
    groups). The score is pages x (slots + 1) - slots in use, so no number of idle slots outweighs a page.

    References
    ----------
    spec 6, R15, H6.6; spec 3, section 8: the module choice decides which cores share pages.

    Examples
    --------
    >>> modules = [(9, 9, 7, 9, 9), (9, 9, 3, 9, 9), (9, 9, 4, 9, 9)]
    >>> Affinity().choose(modules, pages=(0, 2, 2), totals=(9, 9, 10, 9, 9))
    2
    >>> Affinity().choose(modules, totals=(9, 9, 10, 9, 9))
    0
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        a_page = float(see.totals[int(see.levers[AT])] + 1)
        for k in range(see.count):
            idle = idle_slots(see.modules[k], see.free, see.totals, see.levers)
            see.scores[k] = a_page * float(see.memory[see.modules[k]]) + idle

    @staticmethod
    def held(see: PagesNotice) -> None:
        for module in range(see.pages.size):
            see.memory[module] = see.pages[module]

    def start_memory(self, modules: int, seed: int) -> np.ndarray:
        """Return the number of pages that each module holds of a group of unknown pages: int64[modules], zeros."""
        return np.zeros(modules, np.int64)
