"""Jobs that ask for memory: of many sizes, as on a shared server, and one card that is asked for more than it has.

`mixed_jobs` come and go; in `full_card` the other cards have space, the case that borrowing is for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.levers import lever, remembered
from workbench.streams import Streams
from workbench.workloads.pool_requests import PoolRequests, gpus_of
from workbench.workloads.synthetic.arrivals import Arrival, Offered, PoissonLoad
from workbench.workloads.synthetic.laws import Empirical, Law, LogUniform, Uniform
from workbench.workloads.synthetic.memory_steps import (
    BLOCK_SIZES,
    Steps,
    blocks_of,
    check_law,
    requests_of,
    times_after,
)
from workbench.workloads.workload import Generator

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
    >>> requests = MixedJobs(jobs=5).pool_requests(Board(), Streams(1))
    >>> len(set(requests.app.tolist())), bool((np.diff(requests.time) >= 0).all())
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
        which = _cards(len(gpus), self.skew).draw(streams.uniforms("cards", self.jobs)) - 1
        percent = self.footprint.draw(streams.uniforms("footprints", self.jobs))
        lasting = self.duration.draw(streams.uniforms("durations", self.jobs))
        total = np.maximum(memory[which] // 100 * percent, 1)
        capacity = max(int(memory.sum()) // _MIB, 1)
        start = self.arrival.cycles(
            self.jobs, lambda: Offered.of(np.maximum(total // _MIB, 1), lasting, capacity), streams
        )
        rows = zip(gpus[which].tolist(), total.tolist(), start.tolist(), lasting.tolist(), strict=True)
        return requests_of([self._job(number, *row, streams) for number, row in enumerate(rows)])

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


@remembered
def _cards(gpus: int, skew: float) -> Empirical:
    """Return the GPU on which a job runs, counted from 1."""
    numbers = tuple(range(1, gpus + 1))
    return Empirical(outcomes=numbers, weights=tuple(number**-skew for number in numbers))


class FullCard(Generator):
    """The first GPU's application asks for `footprint` of its card; those of the others hold `others` of theirs.

    First all others allocate what they hold, then the first fills up. Then it gives back and takes again `renewed`
    blocks, one after the other, as a cache or a queue of requests would. Then the others request `later` more of their
    cards, which shows the cost of lending to the lender. In the end all give back everything. Sizes come from the
    stream `sizes GPU` (and `later GPU`), what is renewed from `renewed`, times from `gaps GPU`.

    References
    ----------
    spec 5, H5.1 (GPU0 footprint 100-300 % of its memory), H5.5, H5.10; ¶60.

    Examples
    --------
    >>> from workbench.machine import Board
    >>> requests = FullCard(footprint=1.5, others=0.0).pool_requests(Board(), Streams(1))
    >>> requests.bytes[requests.action == 0].sum() / Board().cards[1].memory_bytes
    np.float64(1.5)
    """

    footprint: float = lever(2.0, least=0.001, most=32, step=0.25, description="what GPU 0 asks for over its memory")
    others: float = lever(0.3, least=0, most=1, step=0.05, description="what every other GPU's own application holds")
    later: float = lever(
        0.0, least=0, most=1, step=0.05, description="what the others ask for once GPU 0 has filled up"
    )
    renewed: int = lever(
        0, least=0, most=10_000_000, scale="log", description="blocks that GPU 0 gives back and takes again"
    )
    size: Law = lever(BLOCK_SIZES, unit="bytes", description="how large the blocks are")
    gap: Law = lever(
        LogUniform(low=1_000, high=100_000), unit="ns", description="time between the requests of an application"
    )

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        check_law(self.size, machine, f"{path or self.name}.size", where)

    def pool_requests(self, machine: Any, streams: Streams) -> PoolRequests:
        self.check_machine(machine)
        first, *others = gpus_of(machine).tolist()
        held = [self._blocks(self.others, card, machine, streams, f"sizes {k}") for k, card in enumerate(others, 1)]
        more = [self._blocks(self.later, card, machine, streams, f"later {k}") for k, card in enumerate(others, 1)]
        full, renewed = self._full(first, machine, streams)
        own = [self._times(0, len(blocks), streams, f"gaps {k}") for k, blocks in enumerate(held, 1)]
        start = _end(own)
        filling = self._times(start, len(full) + len(renewed), streams, "gaps 0")
        asking = [
            self._times(_end([filling]), len(blocks), streams, f"later gaps {k}") for k, blocks in enumerate(more, 1)
        ]
        end = _end([filling, *asking])
        plans = [_until(first, [filling], [full + renewed], end, self.gap, streams, 0)]
        for k, card in enumerate(others, 1):
            steps = [_taken(held[k - 1], 0), _taken(more[k - 1], len(held[k - 1]))]
            plans.append(_until(card, [own[k - 1], asking[k - 1]], steps, end, self.gap, streams, k))
        return requests_of(plans)

    def _blocks(self, share: float, card: int, machine: Any, streams: Streams, stream: str) -> np.ndarray:
        total = round(share * machine.cards[card].memory_bytes)
        return blocks_of(total, self.size, streams, stream, f"{self.name}.size") if total else np.zeros(0, np.int64)

    def _full(self, card: int, machine: Any, streams: Streams) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Return the steps (block, bytes) with which the card fills up, and those with which blocks are renewed."""
        sizes = self._blocks(self.footprint, card, machine, streams, "sizes 0").tolist()
        live = list(range(len(sizes)))
        steps: list[tuple[int, int]] = []
        for rank in streams.uniforms("renewed", self.renewed).tolist():
            place = int(rank * len(live))
            gone, live[place] = live[place], len(sizes)
            sizes.append(sizes[gone])
            steps += [(gone, -sizes[gone]), (live[place], sizes[gone])]
        return _taken(np.array(sizes[: len(live)], np.int64), 0), steps

    def _times(self, start: int, count: int, streams: Streams, stream: str) -> np.ndarray:
        return times_after(start, self.gap, streams, stream, count)


def _taken(sizes: np.ndarray, first: int) -> list[tuple[int, int]]:
    return [(first + k, size) for k, size in enumerate(sizes.tolist())]


def _end(times: list[np.ndarray]) -> int:
    """Return the time after all of these."""
    return max((int(column[-1]) + 1 for column in times if len(column)), default=0)


def _until(
    card: int,
    times: list[np.ndarray],
    steps: list[list[tuple[int, int]]],
    end: int,
    gap: Law,
    streams: Streams,
    number: int,
) -> Steps:
    """Return the steps of an application, and the release of all that is live from the end on."""
    done = [step for part in steps for step in part]
    live = {block: size for block, size in done if size > 0}
    for gone in [block for block, size in done if size < 0]:
        del live[gone]
    done += [(block, -size) for block, size in live.items()]
    time = [*times, times_after(end, gap, streams, f"end gaps {number}", len(live))]
    block, size = (np.array(column, np.int64) for column in (zip(*done, strict=True) if done else ((), ())))
    return Steps(card, np.concatenate(time), block, size)
