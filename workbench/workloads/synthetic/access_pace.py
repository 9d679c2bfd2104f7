"""The pace of accesses: cycles never decrease, and every core has the same mean gap between its accesses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.levers import Family, lever
from workbench.streams import Streams
from workbench.workloads.synthetic.portable_math import waiting

Clock = Callable[[int], tuple[np.ndarray, np.ndarray]]
"""Gives the next so many accesses: int64[count] cycles and int32[count] cores."""


class Pace(Family, noun="pace", example="{bursts: 8}"):
    """The base of every pace."""

    def clock(self, cores: int, gap: float, streams: Streams) -> Clock:
        """Return a clock that starts at cycle 0; its cycles and cores do not depend on how it is read.

        Parameters
        ----------
        gap : float
            Mean cycles between two accesses of a core.
        """
        raise NotImplementedError


class Regular(Pace):
    """Every core accesses a page each `gap` cycles, all cores at once, the lowest first.

    >>> Regular().clock(2, 3.0, Streams(0))(5)
    (array([0, 0, 3, 3, 6]), array([0, 1, 0, 1, 0], dtype=int32))
    """

    def clock(self, cores: int, gap: float, streams: Streams) -> Clock:
        return _in_turn(cores, gap, 1)


def _in_turn(cores: int, gap: float, size: int) -> Clock:
    done = 0

    def read(count: int) -> tuple[np.ndarray, np.ndarray]:
        nonlocal done
        turn = np.arange(done, done + count)
        done += count
        cycle = (turn // (cores * size) * size * gap).astype(np.int64)
        return cycle, (turn % cores).astype(np.int32)

    return read


class Bursts(Pace):
    """Every core makes so many accesses in one cycle, then none for as many gaps."""

    brief = ("size",)
    size: int = lever(
        8, least=1, most=1 << 20, scale="log", unit="accesses", description="accesses of a core in one cycle"
    )

    def clock(self, cores: int, gap: float, streams: Streams) -> Clock:
        return _in_turn(cores, gap, self.size)


class Poisson(Pace):
    """Every core's accesses are a Poisson process, rounded down to cycles.

    Together they are one process of `cores` times the rate, in which each access is of any core with the same chance;
    so the streams `arrivals` and `cores` are all that is drawn.
    """

    def clock(self, cores: int, gap: float, streams: Streams) -> Clock:
        waits, which = streams.flow("arrivals"), streams.flow("cores")
        last = 0.0

        def read(count: int) -> tuple[np.ndarray, np.ndarray]:
            nonlocal last
            times = waiting(waits(count)) * (gap / cores)
            times[:1] += last
            times = np.cumsum(times)
            last = float(times[-1]) if count else last
            return times.astype(np.int64), (which(count) * cores).astype(np.int32)

        return read
