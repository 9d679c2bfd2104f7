"""A translation comes from the shared TLB or the page table: who gets a copy? (spec 4, R14-R20)"""

from workbench.policies.translation.fill.demand_always import DemandAlways
from workbench.policies.translation.fill.gate_any import GateAny
from workbench.policies.translation.fill.gate_pair import GatePair
from workbench.policies.translation.fill.gate_when_full import GateWhenFull
from workbench.policies.translation.fill.leader_follower import LeaderFollower
from workbench.policies.translation.fill.push_neighbours import PushNeighbours
from workbench.policies.translation.fill.push_pair import PushPair
from workbench.policies.translation.fill.question import Decision, Fill

__all__ = [
    "Decision",
    "DemandAlways",
    "Fill",
    "GateAny",
    "GatePair",
    "GateWhenFull",
    "LeaderFollower",
    "PushNeighbours",
    "PushPair",
]
