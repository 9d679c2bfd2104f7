"""How is memory cut and joined between driver and applications? (spec 5, R12, E4, E5)"""

from workbench.policies.pool.cache.bfc import Bfc
from workbench.policies.pool.cache.binary_buddies import BinaryBuddies
from workbench.policies.pool.cache.expandable_segments import ExpandableSegments
from workbench.policies.pool.cache.no_cache import NoCache
from workbench.policies.pool.cache.pytorch_caching import PytorchCaching
from workbench.policies.pool.cache.question import Cache, CacheRules
from workbench.policies.pool.cache.rmm_pool import RmmPool
from workbench.policies.pool.cache.size_classes import SizeClasses
from workbench.policies.pool.cache.split_and_coalesce import SplitAndCoalesce
from workbench.policies.pool.cache.stitching import Stitching

__all__ = [
    "Bfc",
    "BinaryBuddies",
    "Cache",
    "CacheRules",
    "ExpandableSegments",
    "NoCache",
    "PytorchCaching",
    "RmmPool",
    "SizeClasses",
    "SplitAndCoalesce",
    "Stitching",
]
