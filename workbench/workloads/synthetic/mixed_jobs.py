"""Jobs of many sizes that come and go, as on a shared server."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.pool_cards import gpus_of
from workbench.workloads.pool_requests import PoolRequests
from workbench.workloads.synthetic.arrivals import Arrival, Offered, PoissonLoad
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.laws import Empirical, Law, LogUniform, Uniform
from workbench.workloads.synthetic.memory_plan import BLOCK_SIZES, Steps, blocks_of, check_law, requests_of, times_after

_MIB = 1 << 20


class MixedJobs(Generator):
    """Jobs that arrive at random, each an application of its own on one GPU: it allocates its blocks, keeps them for a
    while, and gives them back, the latest first.

    With an arrival by load, 1 is as much memory over time as all GPUs have; times are nanoseconds. Job n takes the n-th
    rank of the streams `cards`, `footprints` and `durations`; its sizes come from `sizes N`, times from `gaps N`.

    References
    ----------
    spec 5, section 6: mixed jobs arriving by Poisson; sizes log-uniform 64 B..2 GB.

    Examples
    --------
    >>> from workbench.machine import Board
    >>> asked = MixedJobs(jobs=5).pool_requests(Board(), Streams(1))
    >>> len(set(asked.app.tolist())), bool((np.diff(asked.time) >= 0).all())
    (5, True)
    """

    jobs: int = lever(100, least=1, most=100_000, scale="log", unit="jobs", description="how many there are")
    arrival: Arrival = lever(PoissonLoad(load=0.8), description="when they come")
    footprint: Law = lever(Uniform(low=5, high=60), unit="percent", description="a job's memory, of its GPU's")
    duration: Law = lever(
        LogUniform(low=10_000_000, high=1_000_000_000), unit="ns", description="how long a job keeps its memory"
    )
    skew: float = lever(
        0.0, least=0, most=10, step=0.25, description="GPU k gets jobs in proportion to 1 / (k + 1)^skew; 0 = all alike"
    )
    size: Law = lever(BLOCK_SIZES, unit="bytes", description="how large the blocks are")
    gap: Law = lever(LogUniform(low=1_000, high=100_000), unit="ns", description="time between the requests of a job")

    def check(self) -> None:
        for needed in ("footprint", "duration"):
            getattr(self, needed).check_least(f"{self.name}.{needed}")

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        check_law(self.size, machine, f"{path or self.name}.size", where)

    def pool_requests(self, machine: Any, streams: Streams) -> PoolRequests:
        self.check_machine(machine)
        gpus = gpus_of(machine)
        memory = np.array([machine.cards[card].memory_bytes for card in gpus], np.int64)
        which = self._cards(len(gpus)).draw(streams.uniforms("cards", self.jobs)) - 1
        percent = self.footprint.draw(streams.uniforms("footprints", self.jobs))
        lasting = self.duration.draw(streams.uniforms("durations", self.jobs))
        total = np.maximum(memory[which] // 100 * percent, 1)
        capacity = max(int(memory.sum()) // _MIB, 1)
        start = self.arrival.cycles(
            self.jobs, lambda: Offered.of(np.maximum(total // _MIB, 1), lasting, capacity), streams
        )
        rows = zip(gpus[which].tolist(), total.tolist(), start.tolist(), lasting.tolist(), strict=True)
        return requests_of([self._job(number, *row, streams) for number, row in enumerate(rows)])

    def _cards(self, gpus: int) -> Empirical:
        """Return which GPU a job runs on, counted from 1."""
        numbers = tuple(range(1, gpus + 1))
        return Empirical(outcomes=numbers, weights=tuple(number**-self.skew for number in numbers))

    def _job(self, number: int, card: int, total: int, start: int, lasting: int, streams: Streams) -> Steps:
        sizes = blocks_of(total, self.size, streams, f"sizes {number}", f"{self.name}.size")
        block = np.arange(len(sizes))
        taking = times_after(start, self.gap, streams, f"gaps {number}", len(sizes))
        giving = times_after(int(taking[-1]) + lasting, self.gap, streams, f"end gaps {number}", len(sizes))
        return Steps(
            card,
            np.concatenate([taking, giving]),
            np.concatenate([block, block[::-1]]),
            np.concatenate([sizes, -sizes[::-1]]),
        )
