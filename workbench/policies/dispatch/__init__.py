"""How are workgroups dispatched? (spec 3, Em. 1-3 and 8-10)

`AS_FOUND` is dispatch as it is in open simulators: for each the policies, with their levers, that come nearest to it. A
sweep says them by name: `policy: {priority: no_priority, selection: {oldest_first: {among: all_that_fit}}, choice:
round_robin}`. What each source was read for, how near the policies come, and what is left out stands in
`DEVIATIONS.md`. None of these simulators knows priorities, and none splits a workgroup.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.policies.dispatch.choice.energy import RecentCounts
from workbench.policies.dispatch.choice.load import FirstModule, RoundRobin
from workbench.policies.dispatch.priority_rules import NoPriority
from workbench.policies.dispatch.selection.order import OldestFirst
from workbench.policies.dispatch.selection.stepper import Head, SelectionStepper
from workbench.policies.dispatch.selection.turns import ChannelRoundRobin, SameChannel
from workbench.policies.dispatch.stuck import NeverSplit
from workbench.policies.policy import Policy, exported

globals().update(exported(__name__))


def _without_priorities(selection: Policy, choice: Policy) -> Mapping[str, Policy]:
    return {"priority": NoPriority(), "selection": selection, "stuck": NeverSplit(), "choice": choice}


AS_FOUND: Mapping[str, Mapping[str, Policy]] = {
    "MGPUSim": _without_priorities(ChannelRoundRobin(among="all_that_fit"), RoundRobin()),
    "MGPUSim, greedy": _without_priorities(ChannelRoundRobin(among="all_that_fit"), FirstModule()),
    "gem5": _without_priorities(OldestFirst(among="all_that_fit"), RoundRobin()),
    "GPGPU-Sim, kernels share an SM": _without_priorities(SameChannel(blocks=True), RoundRobin()),
}
"""The label of each simulator and its policies by slot of the engine `dispatch`."""
