"""What a choice is told of pages: how many of the group's each module holds, in the whole node (spec 6, R15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.compiled import MEMORY, PARAMS, Question, readable, view
from workbench.policies.dispatch.choice.question import CHOSEN, Choice


@view
class PagesNotice(NamedTuple):
    """The pages of a group, told before each verdict about it."""

    pages: np.ndarray = readable(
        "int64", "all modules", "how many pages of the group each module holds, in its TLB or in its directory"
    )
    levers: Any = PARAMS
    memory: np.ndarray = MEMORY


HELD = Question("pages notice", PagesNotice, returns="nothing")


class ByPages(Choice, abstract=True):
    """A choice that is told before each verdict how many pages of the group each module holds, by its `held(see)`.

    What it is told it writes into its memory, which its `answer` reads. A dispatcher by itself has nobody who knows:
    it tells nothing, and what the memory held at the start stays.
    """

    tells = {"chosen": CHOSEN, "held": HELD}
    held: ClassVar[Callable[..., Any] | None] = None
