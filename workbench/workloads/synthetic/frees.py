"""When do threads give back what they got? A family of the generator of calls of `malloc`."""

from __future__ import annotations

import numpy as np

from workbench.levers import Family, lever
from workbench.streams import Streams
from workbench.workloads.synthetic.laws import Constant, Law, Uniform

NEVER = -1


class Frees(Family, noun="way to free", example="{freed_by_thread: {share: 0.5}}"):
    """The base of every way to free."""

    def times(self, arrival: np.ndarray, warp: np.ndarray, streams: Streams) -> np.ndarray:
        """Return when each call gives up what it got: int64[calls], -1 for never.

        Parameters
        ----------
        arrival, warp : int64[calls]
            When each thread called, and its warp.
        """
        raise NotImplementedError


class NeverFreed(Frees):
    """Nobody gives anything back.

    >>> NeverFreed().times(np.array([3, 4]), np.array([0, 0]), Streams(1))
    array([-1, -1])
    """

    def times(self, arrival: np.ndarray, warp: np.ndarray, streams: Streams) -> np.ndarray:
        return np.full(len(arrival), NEVER)


class FreedByThread(Frees):
    """A share of all threads give back what they got, each a lifetime of its own after its call.

    References
    ----------
    spec 2, H2.10: random per-thread frees.

    Examples
    --------
    >>> FreedByThread(lifetime=10).times(np.array([3, 4]), np.array([0, 0]), Streams(1))
    array([13, 14])
    """

    share: float = lever(1.0, least=0, most=1, step=0.05, description="how much of all threads give anything back")
    lifetime: Law = lever(Uniform(low=1, high=100_000), unit="cycles", description="from the call to the return")

    def times(self, arrival: np.ndarray, warp: np.ndarray, streams: Streams) -> np.ndarray:
        lifetime = self.lifetime.draw(streams.uniforms("lifetimes", len(arrival)))
        freed = streams.uniforms("freed", len(arrival)) < self.share
        return np.where(freed, arrival + lifetime, NEVER)


class FreedByWarp(Frees):
    """A share of all warps give back what they got, all threads of a warp at once, counted from its last call.

    References
    ----------
    issue 6, the benchmark `malloc_warp`: half of the warps are freed.

    Examples
    --------
    >>> FreedByWarp(share=1.0, lifetime=10).times(np.array([3, 4, 9]), np.array([0, 0, 1]), Streams(1))
    array([14, 14, 19])
    """

    share: float = lever(0.5, least=0, most=1, step=0.05, description="how much of all warps give anything back")
    lifetime: Law = lever(Constant(value=100_000), unit="cycles", description="from a warp's last call to its return")

    def times(self, arrival: np.ndarray, warp: np.ndarray, streams: Streams) -> np.ndarray:
        names, number = np.unique(warp, return_inverse=True)
        last = np.zeros(len(names), np.int64)
        np.maximum.at(last, number, arrival)
        until = last + self.lifetime.draw(streams.uniforms("lifetimes", len(names)))
        freed = streams.uniforms("freed", len(names)) < self.share
        return np.where(freed, until, NEVER)[number]
