"""Four ways to take memory from a bump pointer on a card: a lock or an atomic, for each thread or once a warp (spec 2).

A block of threads is one warp. The critical section reads and moves the pointer, nothing else, so that what is measured
is the lock. Tries in vain are counted by each thread and added up at its end, outside of what is contended.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import cuda as numba_cuda

from workbench.errors import WorkbenchError

cuda: Any = numba_cuda
"""Under this name, which the simulator puts its own module in the place of."""

WARP = 32
WAYS = ("per_thread_lock", "per_thread_bump", "warp_lock", "warp_bump")
TAKEN, VAIN = 0, 1
"""What is counted: locks (or atomics) taken, tries in vain."""


class Batch(NamedTuple):
    """What came of one launch."""

    address: np.ndarray
    """int64[threads], where each thread's piece begins."""
    top: int
    """The bump pointer afterwards."""
    taken: int
    """How often the lock was taken, or the pointer moved."""
    in_vain: int
    """Tries to take the lock that failed."""


@cuda.jit(device=True)
def _locked_add(top, lock, counts, size):  # type: ignore[no-untyped-def]
    """Take the lock, move the pointer, release the lock; the try-lock loop of ¶26."""
    start, vain, done = 0, 0, False
    while not done:
        # The lock is taken and released within one turn. Otherwise lanes that spin in lock step could keep its holder
        # from releasing it.
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            # The fences keep the reads and writes of the pointer between the two operations on the lock.
            cuda.threadfence()
            start = top[0]
            top[0] = start + size
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)
            done = True
        else:
            vain += 1
    cuda.atomic.add(counts, 0, 1)
    cuda.atomic.add(counts, 1, vain)
    return start


@cuda.jit(device=True)
def _atomic_add(top, lock, counts, size):  # type: ignore[no-untyped-def]
    """Move the pointer by one atomic operation."""
    cuda.atomic.add(counts, 0, 1)
    return cuda.atomic.add(top, 0, size)


def _per_thread(move: Any) -> Any:
    @cuda.jit
    def kernel(sizes, address, top, lock, counts):  # type: ignore[no-untyped-def]
        thread = cuda.grid(1)
        if thread < sizes.size:
            address[thread] = move(top, lock, counts, sizes[thread])

    return kernel


def _per_warp(move: Any) -> Any:
    @cuda.jit
    def kernel(sizes, address, top, lock, counts):  # type: ignore[no-untyped-def]
        thread, lane = cuda.grid(1), cuda.threadIdx.x
        # 32 sums, one a lane, and the start of the warp's block.
        sums = cuda.shared.array(33, np.int64)
        own = sizes[thread] if thread < sizes.size else 0
        sums[lane] = own
        cuda.syncthreads()
        step = 1
        while step < 32:
            # Every lane reads before any lane writes.
            below = sums[lane - step] if lane >= step else 0
            cuda.syncthreads()
            sums[lane] += below
            cuda.syncthreads()
            step *= 2
        if lane == 0:
            sums[32] = move(top, lock, counts, sums[31])
        cuda.syncthreads()
        if thread < sizes.size:
            address[thread] = sums[32] + sums[lane] - own

    return kernel


_KERNELS = dict(
    zip(
        WAYS,
        (_per_thread(_locked_add), _per_thread(_atomic_add), _per_warp(_locked_add), _per_warp(_atomic_add)),
        strict=True,
    )
)
"""They take sizes, addresses, the pointer, the lock and the counters."""


def launch(way: str, sizes: np.ndarray) -> Batch:
    """Let as many threads as there are sizes take memory once, and return what came of it.

    Raises
    ------
    WorkbenchError
        There is no card.
    """
    prepared = _prepared(way, sizes)
    prepared.launch()
    address, top, _, counts = (array.copy_to_host() for array in prepared.arrays)
    return Batch(address, int(top[0]), int(counts[TAKEN]), int(counts[VAIN]))


def milliseconds(way: str, sizes: np.ndarray, repeats: int) -> np.ndarray:
    """Measure the time of each of several launches by CUDA events, after one that compiles: float64[repeats].

    Raises
    ------
    WorkbenchError
        There is no card.
    """
    prepared = _prepared(way, sizes)
    prepared.launch()
    result = np.empty(repeats)
    for k in range(repeats):
        before, after = cuda.event(timing=True), cuda.event(timing=True)
        before.record()
        prepared.launch()
        after.record()
        after.synchronize()
        result[k] = cuda.event_elapsed_time(before, after)
    return result


class _Prepared(NamedTuple):
    arrays: tuple[Any, ...]
    """On the card: addresses, pointer, lock, counters."""
    launch: Callable[[], Any]


def _prepared(way: str, sizes: np.ndarray) -> _Prepared:
    needs_card()
    kernel = _KERNELS[way]
    arrays = tuple(
        cuda.to_device(np.zeros(count, kind))
        for count, kind in ((len(sizes), np.int64), (1, np.int64), (1, np.int32), (2, np.int64))
    )
    requested = cuda.to_device(sizes.astype(np.int64))
    blocks = -(-len(sizes) // WARP)
    return _Prepared(arrays, lambda: kernel[blocks, WARP](requested, *arrays))


def simulated() -> bool:
    """Return whether Numba's simulator stands for a card: NUMBA_ENABLE_CUDASIM=1 before anything was imported."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"


def needs_card() -> None:
    """Refuse to go on where nothing can run.

    Raises
    ------
    WorkbenchError
        There is no card.
    """
    if not simulated() and not cuda.is_available():
        raise WorkbenchError(
            "measuring on a card needs an NVIDIA GPU with its driver; there is none. NUMBA_ENABLE_CUDASIM=1 checks the "
            "kernels without one, but gives no times."
        )


def card_name() -> str:
    """Return the name that the card gives itself."""
    if simulated():
        return "Numba's CUDA simulator"
    needs_card()
    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)
