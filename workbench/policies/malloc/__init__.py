"""How do the threads of a GPU get dynamic memory? (spec 2)"""

from workbench.policies.malloc.arenas import Arenas, HashedArenas, OneHeap, SizeArenas, WarpArenas
from workbench.policies.malloc.as_found import AS_FOUND
from workbench.policies.malloc.device_heap import DeviceHeap
from workbench.policies.malloc.heap import BitmapArena, BumpPointer, HeapPolicy, SizeClasses
from workbench.policies.malloc.lock import HeapLock, LockFree, QueueLock, TicketLock, TrylockBackoff, TrylockSpin
from workbench.policies.malloc.serve import BlockAggregated, PerThread, Serve, Served, WarpAggregated

__all__ = [
    "AS_FOUND",
    "Arenas",
    "BitmapArena",
    "BlockAggregated",
    "BumpPointer",
    "DeviceHeap",
    "HashedArenas",
    "HeapLock",
    "HeapPolicy",
    "LockFree",
    "OneHeap",
    "PerThread",
    "QueueLock",
    "Serve",
    "Served",
    "SizeArenas",
    "SizeClasses",
    "TicketLock",
    "TrylockBackoff",
    "TrylockSpin",
    "WarpAggregated",
    "WarpArenas",
]
