"""The policies as type checkers and editors see them; the package itself finds them in its modules."""

from collections.abc import Mapping

from workbench.policies.malloc.aggregation import BlockAggregated as BlockAggregated
from workbench.policies.malloc.aggregation import PerThread as PerThread
from workbench.policies.malloc.aggregation import WarpAggregated as WarpAggregated
from workbench.policies.malloc.arenas import Arenas as Arenas
from workbench.policies.malloc.arenas import HashedArenas as HashedArenas
from workbench.policies.malloc.arenas import OneHeap as OneHeap
from workbench.policies.malloc.arenas import SizeArenas as SizeArenas
from workbench.policies.malloc.arenas import WarpArenas as WarpArenas
from workbench.policies.malloc.device_heap import DeviceHeap as DeviceHeap
from workbench.policies.malloc.heap import BitmapArena as BitmapArena
from workbench.policies.malloc.heap import BumpPointer as BumpPointer
from workbench.policies.malloc.heap import HeapPolicy as HeapPolicy
from workbench.policies.malloc.heap import SizeClasses as SizeClasses
from workbench.policies.malloc.lock import HeapLock as HeapLock
from workbench.policies.malloc.lock import LockFree as LockFree
from workbench.policies.malloc.lock import QueueLock as QueueLock
from workbench.policies.malloc.lock import TicketLock as TicketLock
from workbench.policies.malloc.lock import TrylockBackoff as TrylockBackoff
from workbench.policies.malloc.lock import TrylockSpin as TrylockSpin
from workbench.policies.malloc.lock import WordByWord as WordByWord
from workbench.policies.malloc.parallel.access import ParallelHeap as ParallelHeap
from workbench.policies.malloc.parallel.bins import HashedBins as HashedBins
from workbench.policies.malloc.parallel.blocks import BasicBlocks as BasicBlocks
from workbench.policies.malloc.parallel.pages import ScatteredPages as ScatteredPages
from workbench.policies.malloc.parallel.pointers import AtomicPointer as AtomicPointer
from workbench.policies.malloc.parallel.pointers import CircularList as CircularList
from workbench.policies.malloc.parallel.queues import ChunkQueue as ChunkQueue
from workbench.policies.malloc.parallel.queues import PageQueue as PageQueue
from workbench.policies.malloc.parallel.slabs import Slabs as Slabs
from workbench.policies.malloc.serve import Serve as Serve
from workbench.policies.malloc.serve import Served as Served
from workbench.policies.malloc.small_aggregation import SmallAggregated as SmallAggregated
from workbench.policies.policy import Policy

AS_FOUND: Mapping[str, Mapping[str, Policy]]
