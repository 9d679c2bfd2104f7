"""Which card lends memory, which frames, what is cached, what goes back, what moves? (spec 5; spec 6, R10)"""

from workbench.policies.pool.cache import (
    Bfc,
    BinaryBuddies,
    Cache,
    CacheRules,
    ExpandableSegments,
    NoCache,
    PytorchCaching,
    RmmPool,
    SizeClasses,
    SplitAndCoalesce,
    Stitching,
)
from workbench.policies.pool.fit import BestFit, CacheFit, ExactFit, FirstFit, LimitedFit, WorstFit, best_fit_split
from workbench.policies.pool.frames import Frames, Longest, Lowest
from workbench.policies.pool.idle import IdleRelease, KeepAll, Largest, LeastRecentlyUsed, SmallestSufficient
from workbench.policies.pool.residency import ManagedMemory, MigrateBack, Residency, ResidencyRules, Stay
from workbench.policies.pool.target import (
    BandwidthThenMostFree,
    Bind,
    ConsistentHashing,
    FirstTouch,
    HostOffload,
    Interleave,
    LeastBorrowed,
    LeastLoaded,
    LocalOnly,
    MaxBandwidth,
    MostFree,
    Nearest,
    Preferred,
    RandomCard,
    RoundRobin,
    Target,
    TwoChoices,
    WeightedCards,
)
