"""Which of the waiting groups is dispatched in this round? (spec 3, Em. 1)"""

from workbench.policies.dispatch.selection.channel_round_robin import ChannelRoundRobin
from workbench.policies.dispatch.selection.deficit_round_robin import DeficitRoundRobin
from workbench.policies.dispatch.selection.lottery import Lottery
from workbench.policies.dispatch.selection.lowest_channel import LowestChannel
from workbench.policies.dispatch.selection.multilevel_feedback import MultilevelFeedback
from workbench.policies.dispatch.selection.oldest_first import OldestFirst
from workbench.policies.dispatch.selection.plain_random import PlainRandom
from workbench.policies.dispatch.selection.question import Selection
from workbench.policies.dispatch.selection.rounds import Head, Rounds
from workbench.policies.dispatch.selection.same_channel import SameChannel
from workbench.policies.dispatch.selection.served_marks import ServedMarks
from workbench.policies.dispatch.selection.strict_blocking import StrictBlocking
from workbench.policies.dispatch.selection.strict_priority import StrictPriority
from workbench.policies.dispatch.selection.stride import Stride
from workbench.policies.dispatch.selection.weighted_round_robin import WeightedRoundRobin

__all__ = [
    "ChannelRoundRobin",
    "DeficitRoundRobin",
    "Head",
    "Lottery",
    "LowestChannel",
    "MultilevelFeedback",
    "OldestFirst",
    "PlainRandom",
    "Rounds",
    "SameChannel",
    "Selection",
    "ServedMarks",
    "StrictBlocking",
    "StrictPriority",
    "Stride",
    "WeightedRoundRobin",
]
