"""Where in shared memory does a workgroup go? (spec 1)"""

from workbench.policies.placement.allocator import Allocator
from workbench.policies.placement.alternate_ends import AlternateEnds
from workbench.policies.placement.as_found import AS_FOUND
from workbench.policies.placement.best_fit import BestFit
from workbench.policies.placement.buddy import Buddy
from workbench.policies.placement.byte_counter import ByteCounter
from workbench.policies.placement.compaction import Compaction
from workbench.policies.placement.first_fit import FirstFit
from workbench.policies.placement.last_fit import LastFit
from workbench.policies.placement.nearest_boundary import NearestBoundary
from workbench.policies.placement.next_fit import NextFit
from workbench.policies.placement.paged_memory import PagedMemory
from workbench.policies.placement.question import Placement
from workbench.policies.placement.random_fit import RandomFit
from workbench.policies.placement.ring_buffer import RingBuffer
from workbench.policies.placement.segregated_fit import SegregatedFit
from workbench.policies.placement.size_segregated_ends import SizeSegregatedEnds
from workbench.policies.placement.unsorted_free_list import UnsortedFreeList
from workbench.policies.placement.worst_fit import WorstFit

__all__ = [
    "AS_FOUND",
    "Allocator",
    "AlternateEnds",
    "BestFit",
    "Buddy",
    "ByteCounter",
    "Compaction",
    "FirstFit",
    "LastFit",
    "NearestBoundary",
    "NextFit",
    "PagedMemory",
    "Placement",
    "RandomFit",
    "RingBuffer",
    "SegregatedFit",
    "SizeSegregatedEnds",
    "UnsortedFreeList",
    "WorstFit",
]
