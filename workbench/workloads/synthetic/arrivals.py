"""When do the workgroups come? Arrivals are whole cycles that never decrease."""

from __future__ import annotations

import numpy as np

from workbench.errors import InputError
from workbench.levers import Family, lever
from workbench.streams import Streams
from workbench.workloads.synthetic.logarithm import waiting

CYCLES_PER_KILOCYCLE = 1000
_LATEST = float(1 << 61)


class Arrival(Family, noun="arrival", example="{poisson: 12}"):
    """The base of every way to arrive."""

    def cycles(self, length: np.ndarray, duration: np.ndarray, segments: int, streams: Streams) -> np.ndarray:
        """The cycle at which each workgroup joins the queue: int64[workgroups], from the stream `arrivals` alone.

        Parameters
        ----------
        length, duration : int64[workgroups]
            Segments and cycles that each asks for.
        segments : int
            Segments of the machine.
        """
        raise NotImplementedError


class AllAtOnce(Arrival):
    """All at cycle 0: a queue to drain.

    References
    ----------
    spec 1, E16: 300 workgroups all queued at t = 0.
    """

    def cycles(self, length: np.ndarray, duration: np.ndarray, segments: int, streams: Streams) -> np.ndarray:
        return np.zeros(len(length), np.int64)


class Poisson(Arrival):
    """A Poisson process from cycle 0 on, of a rate; each arrival is rounded down to its cycle.

    References
    ----------
    spec 1, section 6: arrival {all at 0, Poisson}.
    """

    brief = ("per_kilocycle",)
    per_kilocycle: float = lever(
        10.0, least=0.001, most=1e6, scale="log", unit="workgroups", says="how many arrive in 1,000 cycles on average"
    )

    def cycles(self, length: np.ndarray, duration: np.ndarray, segments: int, streams: Streams) -> np.ndarray:
        return _poisson(CYCLES_PER_KILOCYCLE / self.per_kilocycle, len(length), streams)


class PoissonLoad(Arrival):
    """A Poisson process whose rate follows from the load that it offers to the machine.

    load = offered / available segment cycles = sum(length x duration) / (segments x workgroups x mean gap), so the mean
    gap between arrivals is sum(length x duration) / (segments x workgroups x load), with the lengths and durations that
    were drawn. At 1 the machine could just keep up if no segment ever lay idle; fragmentation and a blocked head of the
    queue make it less.
    """

    brief = ("load",)
    load: float = lever(0.8, least=0.001, most=1000, step=0.05, says="segment cycles offered over available")

    def cycles(self, length: np.ndarray, duration: np.ndarray, segments: int, streams: Streams) -> np.ndarray:
        work = _exact_sum(length * duration)
        return _poisson(work / (segments * len(length) * self.load), len(length), streams)


def _poisson(gap: float, count: int, streams: Streams) -> np.ndarray:
    times = np.cumsum(gap * waiting(streams.uniforms("arrivals", count)))
    if times[-1] > _LATEST:
        raise InputError(
            f"arrivals {gap:.3g} cycles apart run past cycle 2^61 after {count} workgroups; make them denser."
        )
    return times.astype(np.int64)


def _exact_sum(numbers: np.ndarray) -> int:
    """The sum of int64 numbers of at least 0, which may need more than 63 bits.

    >>> _exact_sum(np.array([2**62, 2**62, 2**62])) == 3 * 2**62
    True
    """
    return (int((numbers >> 32).sum()) << 32) + int((numbers & 0xFFFFFFFF).sum())
