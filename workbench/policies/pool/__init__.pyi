"""The policies as type checkers and editors see them; the package itself finds them in its modules."""

from workbench.policies.pool.cache import Cache as Cache
from workbench.policies.pool.cache import CacheRules as CacheRules
from workbench.policies.pool.caching_allocators import Bfc as Bfc
from workbench.policies.pool.caching_allocators import BinaryBuddies as BinaryBuddies
from workbench.policies.pool.caching_allocators import ExpandableSegments as ExpandableSegments
from workbench.policies.pool.caching_allocators import NoCache as NoCache
from workbench.policies.pool.caching_allocators import PytorchCaching as PytorchCaching
from workbench.policies.pool.caching_allocators import RmmPool as RmmPool
from workbench.policies.pool.caching_allocators import SizeClasses as SizeClasses
from workbench.policies.pool.caching_allocators import SplitAndCoalesce as SplitAndCoalesce
from workbench.policies.pool.caching_allocators import Stitching as Stitching
from workbench.policies.pool.fit import BestFit as BestFit
from workbench.policies.pool.fit import CacheFit as CacheFit
from workbench.policies.pool.fit import ExactFit as ExactFit
from workbench.policies.pool.fit import FirstFit as FirstFit
from workbench.policies.pool.fit import LimitedFit as LimitedFit
from workbench.policies.pool.fit import WorstFit as WorstFit
from workbench.policies.pool.fit import best_fit_split as best_fit_split
from workbench.policies.pool.frames import Frames as Frames
from workbench.policies.pool.frames import Longest as Longest
from workbench.policies.pool.frames import Lowest as Lowest
from workbench.policies.pool.idle import IdleRelease as IdleRelease
from workbench.policies.pool.idle import KeepAll as KeepAll
from workbench.policies.pool.idle import Largest as Largest
from workbench.policies.pool.idle import LeastRecentlyUsed as LeastRecentlyUsed
from workbench.policies.pool.idle import Limited as Limited
from workbench.policies.pool.idle import SmallestSufficient as SmallestSufficient
from workbench.policies.pool.residency import ManagedMemory as ManagedMemory
from workbench.policies.pool.residency import MigrateBack as MigrateBack
from workbench.policies.pool.residency import Residency as Residency
from workbench.policies.pool.residency import ResidencyRules as ResidencyRules
from workbench.policies.pool.residency import Stay as Stay
from workbench.policies.pool.target import *
