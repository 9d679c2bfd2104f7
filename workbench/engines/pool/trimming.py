"""What goes back to the driver after a release (spec 5, R29, E6, E7)."""

from __future__ import annotations

from workbench.compiled import RAISED, kernel, routine
from workbench.engines.pool.blocks import return_to_driver
from workbench.engines.pool.faults import stopped
from workbench.engines.pool.segments import unmap_free
from workbench.engines.pool.state import (
    FAULT,
    POOLS,
    Policies,
    Rules,
    State,
)
from workbench.policies.pool.idle import EACH, IN_USE, RELEASE, IdleView
from workbench.structures.size_index import FIELDS, NONE, ORIGIN, SIZE

ask_idle = RELEASE.ask


@routine
def trim(policies: Policies, rules: Rules, state: State, row: int, card: int) -> None:
    """Give back whole driver allocations until the cached bytes are within the limit (spec 5, R29, E6, E7).

    Of segments that grow by pages, which are no driver allocations, pages go back and no policy is asked which.
    """
    limit = policies.idle_limit if rules.keeps else 0
    if rules.pages and state.cached[card] > limit:
        unmap_free(rules, state, row, card, state.cached[card] - limit)
    while state.cached[card] > limit and state.oldest[card] != NONE:
        candidate = state.oldest[card]
        if rules.keeps:
            excess = state.cached[card] - limit
            candidate = ask_idle(policies.idle, IdleView(excess, candidate, state.origins, policies.idle_params))
        if candidate == NONE:
            return
        if not _can_go(state, card, candidate):
            stopped(state, FAULT.idle_raised if candidate == RAISED else FAULT.idle_wrong, row, candidate)
            return
        return_to_driver(rules, state, row, candidate)


@kernel
def _can_go(state: State, card: int, origin: int) -> bool:
    """Return whether it is a driver allocation of the card that is wholly cached."""
    if origin < 0 or origin >= state.piece.size or state.blocks.nodes[origin * FIELDS + SIZE] == 0:
        return False
    is_one = state.blocks.nodes[origin * FIELDS + ORIGIN] == origin and state.origins[origin * EACH + IN_USE] == 0
    return bool(is_one and state.pool[origin] // POOLS == card)
