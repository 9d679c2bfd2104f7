"""What a policy for stuck groups sees (spec 3, Em. 3)."""

from __future__ import annotations

from typing import Any, NamedTuple

from workbench.compiled import PARAMS, number, view


@view
class StuckView(NamedTuple):
    """The group at the head of a channel."""

    waves: int = number("waves of the group")
    independent: int = number("1 where its waves may run apart, 0 where they belong together")
    priority: int = number("its static priority")
    levels: int = number("how many priorities there are")
    levers: Any = PARAMS
