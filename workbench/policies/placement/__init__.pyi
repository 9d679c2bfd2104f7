"""The policies as type checkers and editors see them; the package itself finds them in its modules."""

from collections.abc import Mapping

from workbench.policies.placement.allocator import Allocator as Allocator
from workbench.policies.placement.ends import AlternateEnds as AlternateEnds
from workbench.policies.placement.ends import NearestBoundary as NearestBoundary
from workbench.policies.placement.ends import SizeSegregatedEnds as SizeSegregatedEnds
from workbench.policies.placement.fit import BestFit as BestFit
from workbench.policies.placement.fit import ByteCounter as ByteCounter
from workbench.policies.placement.fit import Compaction as Compaction
from workbench.policies.placement.fit import FirstFit as FirstFit
from workbench.policies.placement.fit import LastFit as LastFit
from workbench.policies.placement.fit import NextFit as NextFit
from workbench.policies.placement.fit import PagedMemory as PagedMemory
from workbench.policies.placement.fit import RandomFit as RandomFit
from workbench.policies.placement.fit import WorstFit as WorstFit
from workbench.policies.placement.free_list import Buddy as Buddy
from workbench.policies.placement.free_list import RingBuffer as RingBuffer
from workbench.policies.placement.free_list import SegregatedFit as SegregatedFit
from workbench.policies.placement.free_list import UnsortedFreeList as UnsortedFreeList
from workbench.policies.placement.question import Placement as Placement
from workbench.policies.placement.queueing import AfterKCycles as AfterKCycles
from workbench.policies.placement.queueing import FifoHeadOnly as FifoHeadOnly
from workbench.policies.placement.queueing import FifoLookahead as FifoLookahead
from workbench.policies.placement.queueing import NextCycle as NextCycle
from workbench.policies.placement.queueing import OnRelease as OnRelease
from workbench.policies.placement.queueing import QueuePolicy as QueuePolicy
from workbench.policies.placement.queueing import RetryPolicy as RetryPolicy

AS_FOUND: Mapping[str, Placement]
