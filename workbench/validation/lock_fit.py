"""The lock of device malloc, fitted to launches of a card that were measured by its number of threads.

No measured curve of a lock is shipped; a curve names its card. `device_malloc` compares whole allocators with a survey.

A fit keeps a term only if it lowers the held-out error. Each point is left out once and predicted by a fit to the
others; its relative error counts. Candidates are launch + hold, and launch + hold + waiter. On a measured curve, launch
+ hold erred by 13.4 % at points that were not fitted, all terms by 11.1 %, and interpolation between points by 5.3 %.
So a fit says what a lock costs; times between measured points are better interpolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.engines.malloc.options import AtomicLatency, WithWaiters
from workbench.errors import InputError
from workbench.policies.malloc.lock import HeapLock
from workbench.policies.policy import read_policy

MOST_WAITERS = 1 << 20
"""All that wait count in a fit."""
MILLISECOND = 1000.0
"""Microseconds."""
FEWEST_POINTS = 4
"""One is left out, and three terms are fitted to the others."""
_ROUNDING = 1e-9
"""Relative errors that differ by less are equal: both terms then meet the curve, up to rounding."""


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
    """The figures of the lock model that come nearest to a curve, in the least squares sense, none below zero.

    What a waiter adds is zero unless that term lowers the held-out error.
    """

    launch_us: float
    """The time of a launch without waiters."""
    hold_us: float
    """What each critical section takes."""
    us_a_waiter: float
    """What each who waits adds to every critical section."""
    error: float
    """The held-out error: each point's relative error by a fit to the other points, as their root mean square."""

    def microseconds(self, contenders: np.ndarray) -> np.ndarray:
        """Compute what the model says: launch + c hold + c (c - 1) / 2 times what a waiter adds.

        >>> LockFit(5.0, 2.0, 0.5, 0.0).microseconds(np.array([1, 3]))
        array([ 7. , 12.5])
        """
        waits = contenders * (contenders - 1) / 2
        return self.launch_us + contenders * self.hold_us + waits * self.us_a_waiter

    def levers(self, clock_mhz: float) -> FittedLevers:
        """Return the options of the engine `malloc` with these figures, in whole cycles of a clock; a launch has no
        lever there.

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
    """Fit the lock model to a measured curve; each point counts by its relative error.

    The fit is a launch and a hold. It has a waiter's term too if that lowers the root mean square of the held-out
    errors. Each of these is the error of a point by a fit to all others.

    Raises
    ------
    InputError
        There are fewer than four points, or a time is not above zero.
    """
    times = np.asarray(curve.microseconds, float)
    if len(times) < FEWEST_POINTS or times.min() <= 0:
        raise InputError(f"a fit needs at least four points with times above zero. Got {times.tolist()}.")
    c = np.asarray(curve.contenders, float)
    relative = np.stack([np.ones(len(c)), c, c * (c - 1) / 2], axis=1) / times[:, None]
    line, every = relative[:, :2], relative
    errors = _held_out_error(line), _held_out_error(every)
    keeps = errors[1] < errors[0] - _ROUNDING
    launch, hold, waiter = _nearest(every) if keeps else (*_nearest(line), 0.0)
    return LockFit(float(launch), float(hold), float(waiter), errors[keeps])


def _held_out_error(relative: np.ndarray) -> float:
    """Return the root mean square of each point's relative error by a fit to the other points."""
    others = ~np.eye(len(relative), dtype=bool)
    predicted = [point @ _nearest(relative[rest]) for point, rest in zip(relative, others, strict=True)]
    return float(np.sqrt(np.mean((np.array(predicted) - 1) ** 2)))


def _nearest(relative: np.ndarray) -> np.ndarray:
    """Return the factors, none below zero, with which the terms of each point, over its time, come nearest to one."""
    from scipy.optimize import nnls

    return np.asarray(nnls(relative, np.ones(len(relative)))[0])
