"""What a priority policy sees (spec 3, Em. 2)."""

from __future__ import annotations

from typing import Any, NamedTuple

from workbench.compiled import PARAMS, number, view


@view
class PriorityView(NamedTuple):
    """One waiting group."""

    cycle: int = number("the cycle of the round")
    priority: int = number("the group's static priority, from 1 (highest) to `levels`")
    levels: int = number("how many priorities there are")
    waited: int = number("cycles since the group arrived")
    levers: Any = PARAMS


@view
class OrderView(NamedTuple):
    """A cycle after which the order of waiting groups may change."""

    cycle: int = number("the cycle of the round")
    levels: int = number("how many priorities there are")
    levers: Any = PARAMS
