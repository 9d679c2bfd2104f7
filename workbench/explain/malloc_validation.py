"""The models of device malloc beside measurements: the lock on a real card, and a survey's published times.

No figure of any card is shipped: none was at hand when this was written. Measured, a curve names its card.

The published times are compared in direction, not in size, with what policy-level models take. They are those that the
survey's repository holds as CSV: GPUMemManSurvey (M. Winter and others, "Are Dynamic Memory Managers on GPUs Slow?",
PPoPP 2021), results of 2020-05-19, 10,000 threads, mixed sizes, mean milliseconds of an allocation kernel. The file
does not name the GPU; the repository's front page speaks of a TITAN V. CUDA's own `malloc` is closed; one lock for all
threads stands for it, which is the document's picture of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.engines.kit.engine import Setup
from workbench.engines.malloc import Malloc, MallocOptions
from workbench.engines.malloc.options import AtomicLatency, WithWaiters
from workbench.errors import InputError
from workbench.machine import read_machine
from workbench.metrics.malloc import measure
from workbench.policies.malloc import AS_FOUND
from workbench.policies.malloc.lock import HeapLock
from workbench.policies.policy import read_policy
from workbench.workloads.malloc_calls import RandomMallocs

if TYPE_CHECKING:
    import pandas as pd


MOST_WAITERS = 1 << 20
"""All that wait count in a fit."""
MILLISECOND = 1000.0
"""Microseconds."""


class Curve(NamedTuple):
    """One way to take memory, against the number of threads."""

    card: str
    way: str
    threads: np.ndarray
    """int64[points], increasing."""
    contenders: np.ndarray
    """int64[points], who competes for the lock: threads, or warps."""
    microseconds: np.ndarray
    """float64[points], the median launch."""


class FittedLevers(NamedTuple):
    """What a fit says in the words of a sweep."""

    lock: HeapLock
    """For `policy.lock`: the try-lock with its hold."""
    atomics: AtomicLatency
    """For `options.atomics`: what each who waits adds to a section."""


class LockFit(NamedTuple):
    """The figures of the lock model that come nearest to a curve, in the least squares sense, none below zero."""

    launch_us: float
    """What a launch takes with nobody waiting."""
    hold_us: float
    """What each critical section takes."""
    us_a_waiter: float
    """What each who waits adds to every critical section."""
    error: float
    """The root mean square of the relative differences."""

    def microseconds(self, contenders: np.ndarray) -> np.ndarray:
        """Compute what the model says: launch + c hold + c (c - 1) / 2 times what a waiter adds.

        >>> LockFit(5.0, 2.0, 0.5, 0.0).microseconds(np.array([1, 3]))
        array([ 7. , 12.5])
        """
        waits = contenders * (contenders - 1) / 2
        return self.launch_us + contenders * self.hold_us + waits * self.us_a_waiter

    def levers(self, clock_mhz: float) -> FittedLevers:
        """Return what has these figures in the engine `malloc`, in whole cycles of a clock; a launch has no lever
        there.

        With c contenders at once the sections then take c hold + c (c - 1) / 2 times what a waiter adds.

        Raises
        ------
        InputError
            A figure is above what its lever may be.

        >>> result = LockFit(5.0, 0.2, 0.002, 0.0).levers(1500.0)
        >>> result.lock.hold_cycles, result.atomics.figures()
        (300, (0, 3, 1048576))
        """
        lock = read_policy("lock", {"trylock_spin": {"hold_cycles": max(round(self.hold_us * clock_mhz), 1)}})
        assert isinstance(lock, HeapLock)
        each = round(self.us_a_waiter * clock_mhz)
        return FittedLevers(lock, WithWaiters(cycles=0, cycles_a_waiter=each, waiters=MOST_WAITERS))


def measured(way: str, threads: Sequence[int], repeats: int = 15, size: int = 16) -> Curve:
    """Measure one way on the card that is there, with CUDA events.

    Parameters
    ----------
    way : {"per_thread_lock", "per_thread_bump", "warp_lock", "warp_bump"}
    threads : sequence of int
        How many take memory at once, point by point.
    repeats : int
        Launches a point, of which the median counts.

    Raises
    ------
    WorkbenchError
        There is no card.
    """
    from workbench.compiled.cuda import WARP, card_name, milliseconds

    counts = np.array(sorted(threads))
    microseconds = [np.median(milliseconds(way, np.full(n, size), repeats)) * MILLISECOND for n in counts]
    contenders = -(-counts // WARP) if way.startswith("warp") else counts
    return Curve(card_name(), way, counts, contenders, np.array(microseconds))


def fitted(curve: Curve) -> LockFit:
    """Fit the lock model to a measured curve; each point counts by its relative difference.

    Raises
    ------
    InputError
        There are fewer than three points, or a time is not above zero.
    """
    times = np.asarray(curve.microseconds, float)
    if len(times) < 3 or times.min() <= 0:
        raise InputError(f"a fit needs at least three points with times above zero. Got {times.tolist()}.")
    from scipy.optimize import nnls

    c = np.asarray(curve.contenders, float)
    terms = np.stack([np.ones(len(c)), c, c * (c - 1) / 2], axis=1)
    (launch, hold, waiter), distance = nnls(terms / times[:, None], np.ones(len(c)))
    return LockFit(float(launch), float(hold), float(waiter), float(distance / np.sqrt(len(c))))


THREADS, HEAP_BYTES = 10_000, 1 << 28
DESIGNS = {"CUDA": "one lock, per thread", "Halloc": "Halloc", "ScatterAlloc": "ScatterAlloc", "XMalloc": "XMalloc"}
"""The survey's columns and the designs that stand for them."""
PUBLISHED_MS = {
    4: (1.390, 0.0244, 0.0073, 0.0399),
    64: (1.337, 0.0262, 0.0073, 0.0361),
    1024: (17.96, 0.0281, 0.0131, 3.80),
    2048: (64.0, 0.0655, 0.0185, 4.21),
    8192: (10.9, 2.02, 13.07, 3.81),
}
"""The largest size in bytes (the smallest is 4) -> milliseconds, in the order of `DESIGNS`."""


def survey_table(seeds: int = 3) -> pd.DataFrame:
    """Return each design's time over CUDA's, published and modelled, and whether the two lie on the same side of 1.

    Columns: largest_bytes, design, published_ms, published_ratio, modelled_cycles, modelled_ratio, same_direction.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for largest, published in PUBLISHED_MS.items():
        modelled = [_cycles(label, largest, seeds) for label in DESIGNS.values()]
        for name, theirs, ours in zip(DESIGNS, published, modelled, strict=True):
            ratios = theirs / published[0], ours / modelled[0]
            rows.append(
                {
                    "largest_bytes": largest,
                    "design": name,
                    "published_ms": theirs,
                    "published_ratio": ratios[0],
                    "modelled_cycles": ours,
                    "modelled_ratio": ratios[1],
                    "same_direction": (ratios[0] < 1) == (ratios[1] < 1),
                }
            )
    return pd.DataFrame(rows)


def _cycles(label: str, largest: int, seeds: int) -> float:
    """Compute the mean makespan of a design over some seeds."""
    workload = RandomMallocs.read({"threads": THREADS, "size": {"uniform": [4, largest]}})
    options = MallocOptions.read({"heap_bytes": HEAP_BYTES})
    setup = Setup("malloc", read_machine("h100"), workload, AS_FOUND[label], options)
    return float(np.mean([measure(Malloc().simulate(setup, seed))["makespan_cycles"] for seed in range(seeds)]))
