"""Which of the waiting groups is dispatched in this round? (spec 3, Em. 1)"""

from workbench.policies.dispatch.selection.order import MultilevelFeedback, OldestFirst, StrictBlocking, StrictPriority
from workbench.policies.dispatch.selection.question import Selection
from workbench.policies.dispatch.selection.rounds import Head, Rounds
from workbench.policies.dispatch.selection.shares import Lottery, PlainRandom, ServedMarks, Stride
from workbench.policies.dispatch.selection.turns import (
    ChannelRoundRobin,
    DeficitRoundRobin,
    LowestChannel,
    SameChannel,
    WeightedRoundRobin,
)
