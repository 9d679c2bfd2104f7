"""The slots and levers of the engine `malloc`."""

from __future__ import annotations

from typing import NamedTuple

from workbench.engines.kit import Given, slot
from workbench.errors import wrong_value
from workbench.levers import Family, Spec, lever
from workbench.machine import Machine
from workbench.policies.malloc.arenas import Arenas
from workbench.policies.malloc.heap import HeapPolicy
from workbench.policies.malloc.lock import HeapLock
from workbench.policies.malloc.serve import Serve

MOST_GRANULES = 1 << 28


class AtomicLatency(Family, noun="atomic latency", example="{with_waiters: [20, 2, 1000]}"):
    """What the heap's atomic operation adds to the critical section; it meets the tries of those who wait."""

    def figures(self) -> tuple[int, int, int]:
        """Return the cycles alone, cycles on top for each who waits, and up to how many of them count."""
        raise NotImplementedError


class FixedLatency(AtomicLatency):
    """The same however many wait.

    >>> AtomicLatency.read({"fixed_latency": 20}).figures()
    (20, 0, 0)
    """

    brief = ("cycles",)
    cycles: int = lever(0, least=0, most=100_000, unit="cycles", description="of every atomic operation on the heap")

    def figures(self) -> tuple[int, int, int]:
        return self.cycles, 0, 0


class WithWaiters(AtomicLatency):
    """More for each who waits, up to a number: their tries are served by the same unit of the cache.

    >>> WithWaiters().figures()
    (20, 1, 4096)
    """

    brief = ("cycles", "cycles_a_waiter", "waiters")
    cycles: int = lever(20, least=0, most=100_000, unit="cycles", description="with nobody waiting")
    cycles_a_waiter: int = lever(1, least=0, most=1000, unit="cycles", description="on top for each who waits")
    waiters: int = lever(
        4096, least=0, most=1 << 20, scale="log", unit="requests", description="up to how many of them count"
    )

    def figures(self) -> tuple[int, int, int]:
        return self.cycles, self.cycles_a_waiter, self.waiters


class MallocOptions(Spec):
    """What the engine `malloc` leaves open."""

    heap_bytes: int = lever(
        1 << 24, least=64, most=1 << 36, scale="log", unit="bytes", description="the heap that the driver set aside"
    )
    granule_bytes: int = lever(
        16, least=1, most=1 << 20, scale="power_of_two", unit="bytes", description="what the heap gives at the least"
    )
    base_address: int = lever(0, least=0, most=1 << 48, description="the address of the heap's first byte")
    occupancy: float = lever(
        0.0, least=0, most=0.99, step=0.05, description="how much of the heap is taken at the start"
    )
    occupied_run_bytes: int = lever(
        4096, least=1, most=1 << 30, scale="log", unit="bytes", description="mean length of what is taken at the start"
    )
    scan_step_cycles: int = lever(
        4, least=0, most=10_000, unit="cycles", description="a step of the sum and the prefix sum over the lanes"
    )
    split_cycles: int = lever(20, least=0, most=100_000, unit="cycles", description="dividing a block among its lanes")
    launch_cycles: int = lever(
        0,
        least=0,
        most=1_000_000,
        unit="cycles",
        description="from the launch to a call's first try; a card shows 3 to 6 us (spec 2, R31)",
    )
    block_threads: int = lever(
        256,
        least=1,
        most=1 << 16,
        unit="threads",
        description="of a thread block; blocks go round the compute units (spec 2, R31)",
    )
    barrier_step_cycles: int = lever(
        30, least=0, most=10_000, unit="cycles", description="a step of the barrier that gathers a thread block"
    )
    atomics: AtomicLatency = lever(
        AtomicLatency.read("fixed_latency"), description="what the atomic operation on the heap adds to a section"
    )
    try_instructions: int = lever(1, least=0, most=1000, unit="instructions", description="a try to take the lock")
    heap_instructions: int = lever(8, least=0, most=1000, unit="instructions", description="an operation on the heap")
    step_instructions: int = lever(
        1, least=0, most=1000, unit="instructions", description="a step of the sum over the lanes"
    )
    split_instructions: int = lever(2, least=0, most=1000, unit="instructions", description="dividing a block")

    def check(self) -> None:
        granules = self.heap_bytes // self.granule_bytes
        if not 1 <= granules <= MOST_GRANULES:
            expected = f"must be from one to {MOST_GRANULES} granules of {self.granule_bytes} bytes (granule_bytes)"
            nearest = self.granule_bytes * min(max(granules, 1), MOST_GRANULES)
            raise wrong_value("", f"{self.name}.heap_bytes", expected, self.heap_bytes, nearest)


class Slots(NamedTuple):
    """What is decided."""

    serve: Serve = slot("warp_aggregated")
    heap: HeapPolicy = slot("bitmap_arena")
    lock: HeapLock = slot("trylock_spin")
    arenas: Arenas = slot("one_heap")


Case = Given[Slots, MallocOptions, Machine]
