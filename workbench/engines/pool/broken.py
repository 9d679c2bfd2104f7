"""What a policy did wrong, in one sentence: which policy, about which request."""

from __future__ import annotations

from workbench.engines.engine import Setup
from workbench.engines.pool.state import (
    ANSWER,
    AT_ROW,
    RAISED_IN_DRIVER,
    RAISED_IN_FIT,
    RAISED_IN_IDLE,
    RAISED_IN_TARGET,
    STATUS,
    WRONG_BLOCK,
    WRONG_ORIGIN,
    WRONG_PLACE,
    WRONG_SCORE,
    Columns,
    State,
)
from workbench.errors import PolicyError
from workbench.policies.failing import why_it_failed

_SLOT = {
    RAISED_IN_FIT: "cache_fit",
    WRONG_BLOCK: "cache_fit",
    RAISED_IN_TARGET: "target",
    WRONG_SCORE: "target",
    RAISED_IN_IDLE: "idle_release",
    WRONG_ORIGIN: "idle_release",
    RAISED_IN_DRIVER: "driver",
    WRONG_PLACE: "driver",
}
_WRONG = {
    WRONG_BLOCK: "answered block {}, which is not a cached block of the pool that is large enough; -1 takes none",
    WRONG_SCORE: "gave card {} a score that is no number, or infinite; only minus infinity, not summed, refuses one",
    WRONG_ORIGIN: "answered {}, which is not a driver allocation of the card that is wholly cached; -1 keeps the rest",
    WRONG_PLACE: "answered granule {}, from which on not all that are asked for are free; -1 refuses",
}


def broken(setup: Setup, columns: Columns, state: State) -> PolicyError:
    """The sentence for what stopped a run."""
    status, row, answer = (int(state.counters[k]) for k in (STATUS, AT_ROW, ANSWER))
    slot = _SLOT[status]
    name = f"{setup.policies[slot].short()} ({slot})"
    about = f"request {row} ({columns.size[row]} bytes, from card {columns.borrower[row]})"
    if status in _WRONG:
        return PolicyError(f"{name} {_WRONG[status].format(answer)}; at {about}.")
    return PolicyError(f"{name} {why_it_failed(setup.policies[slot])}; at {about}.")
