"""What a policy did wrong, in one sentence: which policy, when, about which core."""

from __future__ import annotations

from workbench.engines.engine import Setup
from workbench.engines.translation.state import (
    ANSWER,
    AT_CORE,
    AT_CYCLE,
    ENDLESS_EVICTION,
    EVICTION_RAISED,
    FILL_RAISED,
    NO_PEER,
    NO_PUSH,
    NO_VICTIM,
    PEER_RAISED,
    REMOTE_RAISED,
    SHARED_TLB,
    STATUS,
    State,
)
from workbench.errors import PolicyError
from workbench.policies.failing import why_it_failed

_RAISED = "raised an exception"
_WRONG = {
    PEER_RAISED: ("peer", _RAISED),
    NO_PEER: ("peer", "answered {answer}, which is none of the holders that may be asked"),
    FILL_RAISED: ("fill", _RAISED),
    NO_PUSH: ("fill", "answered {answer}, which is no number of cores, or no other core; -1 fills nobody"),
    REMOTE_RAISED: ("remote_fill", _RAISED),
    EVICTION_RAISED: ("eviction", _RAISED),
    NO_VICTIM: ("eviction", "answered an entry that is not in the set that is full"),
    ENDLESS_EVICTION: ("eviction", "never ends: every candidate stays protected, however often it is asked"),
}
"""How the loop ended -> the slot, and what its policy did."""


def broken(setup: Setup, state: State) -> PolicyError:
    """The sentence for what stopped a run."""
    status, cycle, core, answer = (int(state.counters[k]) for k in (STATUS, AT_CYCLE, AT_CORE, ANSWER))
    slot, what = _WRONG[status]
    if state.counters[SHARED_TLB]:
        slot = "shared_eviction"
    if what == _RAISED:
        what = why_it_failed(setup.policies[slot])
    else:
        what = what.format(answer=answer)
    whose = "" if core < 0 else f", core {core}"
    return PolicyError(f"{setup.policies[slot].short()} ({slot}) {what}; at cycle {cycle}{whose}.")
