"""Which waiting group is more urgent? (spec 3, Em. 2)"""

from workbench.policies.dispatch.priority.ageing import Ageing
from workbench.policies.dispatch.priority.earliest_deadline import EarliestDeadline
from workbench.policies.dispatch.priority.no_priority import NoPriority
from workbench.policies.dispatch.priority.priority_windows import PriorityWindows
from workbench.policies.dispatch.priority.question import Priority
from workbench.policies.dispatch.priority.static_priority import StaticPriority

__all__ = ["Ageing", "EarliestDeadline", "NoPriority", "Priority", "PriorityWindows", "StaticPriority"]
