"""The policies as type checkers and editors see them; the package itself finds them in its modules."""

from workbench.policies.dispatch.selection.order import MultilevelFeedback as MultilevelFeedback
from workbench.policies.dispatch.selection.order import OldestFirst as OldestFirst
from workbench.policies.dispatch.selection.order import StrictBlocking as StrictBlocking
from workbench.policies.dispatch.selection.order import StrictPriority as StrictPriority
from workbench.policies.dispatch.selection.question import Selection as Selection
from workbench.policies.dispatch.selection.shares import ByTickets as ByTickets
from workbench.policies.dispatch.selection.shares import Lottery as Lottery
from workbench.policies.dispatch.selection.shares import PlainRandom as PlainRandom
from workbench.policies.dispatch.selection.shares import ServedMarks as ServedMarks
from workbench.policies.dispatch.selection.shares import Stride as Stride
from workbench.policies.dispatch.selection.stepper import Head as Head
from workbench.policies.dispatch.selection.stepper import SelectionStepper as SelectionStepper
from workbench.policies.dispatch.selection.turns import ByChannel as ByChannel
from workbench.policies.dispatch.selection.turns import ChannelRoundRobin as ChannelRoundRobin
from workbench.policies.dispatch.selection.turns import DeficitRoundRobin as DeficitRoundRobin
from workbench.policies.dispatch.selection.turns import LowestChannel as LowestChannel
from workbench.policies.dispatch.selection.turns import SameChannel as SameChannel
from workbench.policies.dispatch.selection.turns import WeightedRoundRobin as WeightedRoundRobin
