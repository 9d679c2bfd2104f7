"""The memory of training, data parallel or pipelined: what stays throughout, and what each iteration takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.pool_requests import PoolRequests, gpus_of
from workbench.workloads.synthetic.laws import Law, LogUniform
from workbench.workloads.synthetic.memory_steps import (
    BLOCK_SIZES,
    Steps,
    blocks_of,
    check_law,
    requests_of,
    times_after,
)
from workbench.workloads.workload import Generator


class DataParallel(Generator):
    """Every GPU does the same: a rank allocates what stays, then in each iteration a block for every layer on the way
    forward and gives them back in reverse on the way back.

    All ranks ask for the same sizes in the same order; only the times between requests are each rank's own. Sizes come
    from the stream `kept` and `activations`, times from `gaps RANK`.

    References
    ----------
    spec 5, section 6: data-parallel training (uniform); sizes log-uniform 64 B..2 GB.

    Examples
    --------
    >>> from workbench.machine import Board
    >>> requests = DataParallel(iterations=2).pool_requests(Board(), Streams(1))
    >>> sorted(set(requests.card.tolist())), int(np.where(requests.action == 0, requests.bytes, -requests.bytes).sum())
    ([1, 2], 0)
    """

    footprint: float = lever(
        0.8, least=0.001, most=8, step=0.05, description="peak memory of a rank over that of its GPU"
    )
    kept: float = lever(
        0.4, least=0, most=0.99, step=0.05, description="how much of the footprint stays: weights and state"
    )
    iterations: int = lever(10, least=1, most=100_000, scale="log", description="how often activations come and go")
    size: Law = lever(BLOCK_SIZES, unit="bytes", description="how large the blocks are")
    gap: Law = lever(LogUniform(low=1_000, high=100_000), unit="ns", description="time between the requests of a rank")

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        check_law(self.size, machine, f"{path or self.name}.size", where)

    def pool_requests(self, machine: Any, streams: Streams) -> PoolRequests:
        self.check_machine(machine)
        return requests_of([self._rank(rank, card, machine, streams) for rank, card in enumerate(gpus_of(machine))])

    def _rank(self, rank: int, card: int, machine: Any, streams: Streams) -> Steps:
        peak = self.footprint * machine.cards[card].memory_bytes
        held = blocks_of(round(peak * self.kept), self.size, streams, "kept", f"{self.name}.size")
        passing = blocks_of(round(peak * (1 - self.kept)), self.size, streams, "activations", f"{self.name}.size")
        forward = np.arange(len(passing))
        one = np.concatenate([forward, forward[::-1]])
        signs = np.concatenate([np.ones_like(forward), -np.ones_like(forward)])
        rounds = np.arange(self.iterations)[:, None]
        block = np.concatenate([np.arange(len(held)), (len(held) + rounds * len(passing) + one).ravel()])
        size = np.concatenate([held, np.tile(passing[one] * signs, self.iterations)])
        return _closed(int(card), block, size, len(held), self.gap, streams, f"gaps {rank}")


class PipelineParallel(Generator):
    """A pipeline of as many stages as GPUs, of which the first holds the most: a stage keeps the activations of as many
    micro-batches as there are stages from it on (one forward, one backward).

    Stage s of S allocates what stays, then in each iteration takes min(S - s, micro-batches) before it gives the first
    one back; from then on it gives one back and takes one. What stays is the same for every stage, and `footprint` is
    the peak of stage 0. A footprint above 1 is a model whose first stages do not fit their cards while the last ones
    have space. Sizes come from the streams `kept` and `activations`, times from `gaps STAGE`.

    References
    ----------
    spec 5, section 6: pipeline-parallel and large-model work (skewed).
    """

    footprint: float = lever(
        1.2, least=0.001, most=8, step=0.05, description="peak memory of stage 0 over that of its GPU"
    )
    kept: float = lever(
        0.4, least=0, most=0.99, step=0.05, description="how much of stage 0's footprint stays, at each stage"
    )
    micro_batches: int = lever(16, least=1, most=1024, description="micro-batches of an iteration")
    iterations: int = lever(4, least=1, most=100_000, scale="log", description="how often all micro-batches pass")
    size: Law = lever(BLOCK_SIZES, unit="bytes", description="how large the blocks are")
    gap: Law = lever(LogUniform(low=1_000, high=100_000), unit="ns", description="time between the requests of a stage")

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        check_law(self.size, machine, f"{path or self.name}.size", where)

    def pool_requests(self, machine: Any, streams: Streams) -> PoolRequests:
        self.check_machine(machine)
        gpus = gpus_of(machine)
        return requests_of([self._stage(stage, len(gpus), card, machine, streams) for stage, card in enumerate(gpus)])

    def _stage(self, stage: int, stages: int, card: int, machine: Any, streams: Streams) -> Steps:
        peak = self.footprint * machine.cards[card].memory_bytes
        held = blocks_of(round(peak * self.kept), self.size, streams, "kept", f"{self.name}.size")
        micro = blocks_of(
            round(peak * (1 - self.kept) / stages), self.size, streams, "activations", f"{self.name}.size"
        )
        order = in_flight(self.micro_batches, min(stages - stage, self.micro_batches))
        number = np.abs(order) - 1
        blocks = number[:, None] * len(micro) + np.arange(len(micro))
        rounds = np.arange(self.iterations)[:, None] * self.micro_batches * len(micro)
        block = np.concatenate([np.arange(len(held)), (len(held) + rounds + blocks.ravel()).ravel()])
        size = np.concatenate([held, np.tile((np.sign(order)[:, None] * micro).ravel(), self.iterations)])
        return _closed(int(card), block, size, len(held), self.gap, streams, f"gaps {stage}")


def in_flight(count: int, most: int) -> np.ndarray:
    """Return in which order micro-batches come (+n) and go (-n), counted from 1, with so many there at once at most.

    >>> in_flight(3, 2)
    array([ 1,  2, -1,  3, -2, -3])
    """
    order = list(range(1, most + 1))
    for number in range(1, count + 1):
        order.append(-number)
        if number + most <= count:
            order.append(number + most)
    return np.array(order, np.int64)


def _closed(
    card: int, block: np.ndarray, size: np.ndarray, held: int, gap: Law, streams: Streams, stream: str
) -> Steps:
    """Return the steps with what stayed given back at the end, at their times."""
    block = np.concatenate([block, np.arange(held)])
    size = np.concatenate([size, -size[:held]])
    return Steps(card, times_after(0, gap, streams, stream, len(block)), block, size)
