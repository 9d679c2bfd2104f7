"""Which card lends memory? (spec 5, R15, R18-R21)"""

from workbench.policies.pool.target.bandwidth_then_most_free import BandwidthThenMostFree
from workbench.policies.pool.target.bind import Bind
from workbench.policies.pool.target.consistent_hashing import ConsistentHashing
from workbench.policies.pool.target.first_touch import FirstTouch
from workbench.policies.pool.target.host_offload import HostOffload
from workbench.policies.pool.target.interleave import Interleave
from workbench.policies.pool.target.least_borrowed import LeastBorrowed
from workbench.policies.pool.target.least_loaded import LeastLoaded
from workbench.policies.pool.target.local_only import LocalOnly
from workbench.policies.pool.target.max_bandwidth import MaxBandwidth
from workbench.policies.pool.target.most_free import MostFree
from workbench.policies.pool.target.nearest import Nearest
from workbench.policies.pool.target.preferred import Preferred
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.random_card import RandomCard
from workbench.policies.pool.target.round_robin import RoundRobin
from workbench.policies.pool.target.two_choices import TwoChoices
from workbench.policies.pool.target.weighted_cards import WeightedCards

__all__ = [
    "BandwidthThenMostFree",
    "Bind",
    "ConsistentHashing",
    "FirstTouch",
    "HostOffload",
    "Interleave",
    "LeastBorrowed",
    "LeastLoaded",
    "LocalOnly",
    "MaxBandwidth",
    "MostFree",
    "Nearest",
    "Preferred",
    "RandomCard",
    "RoundRobin",
    "Target",
    "TwoChoices",
    "WeightedCards",
]
