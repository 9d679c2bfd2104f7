"""Which card lends memory? (spec 5, R15, R18-R21)"""

from workbench.policies.pool.target.numa import (
    Bind,
    ConsistentHashing,
    FirstTouch,
    HostOffload,
    Interleave,
    LocalOnly,
    Preferred,
    RandomCard,
    RoundRobin,
)
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.score import (
    BandwidthThenMostFree,
    LeastBorrowed,
    LeastLoaded,
    MaxBandwidth,
    MostFree,
    Nearest,
    TwoChoices,
    WeightedCards,
)
