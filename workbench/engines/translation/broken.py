"""What a policy did wrong, in one sentence: which policy, when, about which core."""

from __future__ import annotations

from workbench.engines.engine import Setup
from workbench.engines.translation.counters import COUNT, STATUS
from workbench.engines.translation.state import State
from workbench.errors import PolicyError
from workbench.policies.failing import why_it_failed

_RAISED = "raised an exception"
_WRONG = {
    STATUS.peer_raised: ("peer", _RAISED),
    STATUS.no_peer: ("peer", "answered {answer}, which is none of the holders that may be asked"),
    STATUS.fill_raised: ("fill", _RAISED),
    STATUS.no_push: ("fill", "answered {answer}, which is no number of cores, or no other core; -1 fills nobody"),
    STATUS.remote_raised: ("remote_fill", _RAISED),
    STATUS.eviction_raised: ("eviction", _RAISED),
    STATUS.no_victim: ("eviction", "answered an entry that is not in the set that is full"),
    STATUS.endless_eviction: ("eviction", "never ends: every candidate stays protected, however often it is asked"),
}
"""How the loop ended -> the slot, and what its policy did."""


def broken(setup: Setup, state: State) -> PolicyError:
    """The sentence for what stopped a run."""
    kept = (COUNT.status, COUNT.at_cycle, COUNT.at_core, COUNT.answer)
    status, cycle, core, answer = (int(state.counters[k]) for k in kept)
    slot, what = _WRONG[status]
    if state.counters[COUNT.in_shared_tlb]:
        slot = "shared_eviction"
    if what == _RAISED:
        what = why_it_failed(setup.policies[slot])
    else:
        what = what.format(answer=answer)
    whose = "" if core < 0 else f", core {core}"
    return PolicyError(f"{setup.policies[slot].short()} ({slot}) {what}; at cycle {cycle}{whose}.")
