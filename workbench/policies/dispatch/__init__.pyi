"""The policies as type checkers and editors see them; the package itself finds them in its modules."""

from collections.abc import Mapping

from workbench.policies.dispatch.admission import Admission as Admission
from workbench.policies.dispatch.admission import Exclusive as Exclusive
from workbench.policies.dispatch.admission import OpenToAll as OpenToAll
from workbench.policies.dispatch.admission import Partition as Partition
from workbench.policies.dispatch.admission import PartitionByChannel as PartitionByChannel
from workbench.policies.dispatch.admission import PartitionByKernel as PartitionByKernel
from workbench.policies.dispatch.admission import ShareByChannel as ShareByChannel
from workbench.policies.dispatch.choice import *
from workbench.policies.dispatch.die import AnyDie as AnyDie
from workbench.policies.dispatch.die import ContiguousDies as ContiguousDies
from workbench.policies.dispatch.die import Die as Die
from workbench.policies.dispatch.die import FirstDie as FirstDie
from workbench.policies.dispatch.die import MostFreeDie as MostFreeDie
from workbench.policies.dispatch.die import RoundRobinDies as RoundRobinDies
from workbench.policies.dispatch.priority import Priority as Priority
from workbench.policies.dispatch.priority_rules import Ageing as Ageing
from workbench.policies.dispatch.priority_rules import EarliestDeadline as EarliestDeadline
from workbench.policies.dispatch.priority_rules import NoPriority as NoPriority
from workbench.policies.dispatch.priority_rules import PriorityWindows as PriorityWindows
from workbench.policies.dispatch.priority_rules import StaticPriority as StaticPriority
from workbench.policies.dispatch.selection import *
from workbench.policies.dispatch.stuck import Backfill as Backfill
from workbench.policies.dispatch.stuck import NeverSplit as NeverSplit
from workbench.policies.dispatch.stuck import SplitWhenStuck as SplitWhenStuck
from workbench.policies.dispatch.stuck import Stuck as Stuck
from workbench.policies.dispatch.units import LeastLoaded as LeastLoaded
from workbench.policies.dispatch.units import NoRotation as NoRotation
from workbench.policies.dispatch.units import RandomRotation as RandomRotation
from workbench.policies.dispatch.units import RotatedSplit as RotatedSplit
from workbench.policies.dispatch.units import SplitTable as SplitTable
from workbench.policies.dispatch.units import Units as Units
from workbench.policies.policy import Policy

AS_FOUND: Mapping[str, Mapping[str, Policy]]
