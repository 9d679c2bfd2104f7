"""Arrivals: whole cycles that never decrease, all at once or as a Poisson process, some by the load on a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.levers import Family, lever
from workbench.streams import Streams
from workbench.workloads.synthetic.portable_math import waiting

CYCLES_PER_KILOCYCLE = 1000
_LATEST = float(1 << 61)


class Offered(NamedTuple):
    """What all that arrives asks of a machine, over what the machine has: the measure of a load.

    A load of 1 comes so fast that the machine could just keep up if nothing of it ever lay idle.
    """

    work: int
    """Cycles that each takes times the amount that it takes, in all."""
    capacity: int
    """The amount that the machine has."""

    @classmethod
    def of(cls, amount: np.ndarray, duration: np.ndarray, capacity: int) -> Offered:
        """Return the load offered to one resource.

        Parameters
        ----------
        amount, duration : int64[count]
            How much each takes, and for how many cycles.

        Examples
        --------
        >>> Offered.of(np.array([3, 4]), np.array([10, 5]), 128)
        Offered(work=50, capacity=128)
        """
        return cls(_exact_sum(amount * duration), capacity)

    def above(self, other: Offered) -> bool:
        """Return whether it keeps its resource busy for longer than another keeps its own.

        >>> Offered(10, 2).above(Offered(40, 10)), Offered(10, 2).above(Offered(50, 10))
        (True, False)
        """
        return self.work * other.capacity > other.work * self.capacity

    def gap(self, count: int, load: float) -> float:
        """Return the cycles between arrivals, on average, at which so many offer a load."""
        return self.work / (self.capacity * count * load)


class Arrival(Family, noun="arrival", example="{poisson: 12}"):
    """The base of every way to arrive."""

    def cycles(self, count: int, offered: Callable[[], Offered], streams: Streams) -> np.ndarray:
        """Return the cycle at which each joins the queue: int64[count], from the stream `arrivals` alone.

        Parameters
        ----------
        count : int
            How many arrive one after the other: workgroups, or kernels with all their workgroups.
        offered : function
            Called by those who need it: what all of them ask of the machine.
        """
        raise NotImplementedError


class AllAtOnce(Arrival):
    """All at cycle 0: a queue to drain.

    References
    ----------
    spec 1, E16: 300 workgroups all queued at t = 0.
    """

    def cycles(self, count: int, offered: Callable[[], Offered], streams: Streams) -> np.ndarray:
        return np.zeros(count, np.int64)


class Poisson(Arrival):
    """A Poisson process from cycle 0 on, of a rate; each arrival is rounded down to its cycle.

    References
    ----------
    spec 1, section 6: arrival {all at 0, Poisson}.
    """

    brief = ("per_kilocycle",)
    per_kilocycle: float = lever(
        10.0,
        least=0.001,
        most=1e6,
        scale="log",
        unit="workgroups",
        description="how many arrive in 1,000 cycles on average",
    )

    def cycles(self, count: int, offered: Callable[[], Offered], streams: Streams) -> np.ndarray:
        return _poisson(CYCLES_PER_KILOCYCLE / self.per_kilocycle, count, streams)


class PoissonLoad(Arrival):
    """A Poisson process whose rate follows from the load that it offers to the machine.

    load = offered / available = work / (capacity x arrivals x mean gap), so the mean gap between arrivals is
    work / (capacity x arrivals x load), with the demands and durations that were drawn. For a shared memory work is
    sum(length x duration) and capacity its segments; for a dispatcher both are those of the resource that is asked for
    most, over all modules. At 1 the machine could just keep up if nothing of it ever lay idle; fragmentation and a
    blocked head of a queue make it less.
    """

    brief = ("load",)
    load: float = lever(0.8, least=0.001, most=1000, step=0.05, description="cycles offered over cycles available")

    def cycles(self, count: int, offered: Callable[[], Offered], streams: Streams) -> np.ndarray:
        return _poisson(offered().gap(count, self.load), count, streams)


class Bursts(Arrival):
    """A Poisson process of bursts: so many arrive in the same cycle, at the rate that offers a load.

    The mean gap between bursts is `size` times that of `poisson_load`. With `size` 1 it is `poisson_load`, to the bit.
    """

    brief = ("size", "load")
    size: int = lever(32, least=1, most=1_000_000, scale="log", description="how many arrive together")
    load: float = lever(0.8, least=0.001, most=1000, step=0.05, description="cycles offered over cycles available")

    def cycles(self, count: int, offered: Callable[[], Offered], streams: Streams) -> np.ndarray:
        starts = _poisson(self.size * offered().gap(count, self.load), -(-count // self.size), streams)
        return starts[np.arange(count) // self.size]


def _poisson(gap: float, count: int, streams: Streams) -> np.ndarray:
    times = np.cumsum(gap * waiting(streams.uniforms("arrivals", count)))
    if times[-1] > _LATEST:
        raise InputError(
            f"arrivals {gap:.3g} cycles apart run past cycle 2^61 after {count} of them; make them denser."
        )
    return times.astype(np.int64)


def _exact_sum(numbers: np.ndarray) -> int:
    """Return the sum of int64 numbers of at least 0, which may need more than 63 bits.

    >>> _exact_sum(np.array([2**62, 2**62, 2**62])) == 3 * 2**62
    True
    """
    return (int((numbers >> 32).sum()) << 32) + int((numbers & 0xFFFFFFFF).sum())
