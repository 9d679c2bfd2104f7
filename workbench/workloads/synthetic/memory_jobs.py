"""Programs that ask for memory: jobs that come and go, training, one card that is full, and two reports.

`mixed_jobs` are jobs of many sizes that come and go, as on a shared server; `data_parallel` and `pipeline_parallel` the
memory of training: what stays through all of it, and what each iteration takes and gives back; in `full_card` one card
is asked for more than it has while the others have room, the case that borrowing is for. `growing_cycle` and
`awaited_block` are programs of two open reports about PyTorch's allocator, small enough to see why it does what it
does.

What one application does with memory is `Steps`; `requests_of` makes several applications' steps the requests to a
board.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from workbench.errors import InputError, at
from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.pool_requests import (
    ALLOC,
    ALLOC_TENSOR,
    COMPLETE_TENSOR,
    DEFER_TENSOR,
    FREE,
    FREE_TENSOR,
    PoolRequests,
    TensorRequests,
    gpus_of,
    largest_memory,
    program_of,
)
from workbench.workloads.synthetic.arrivals import Arrival, Offered, PoissonLoad
from workbench.workloads.synthetic.laws import Empirical, Law, LogUniform, Uniform
from workbench.workloads.workload import Generator

_MIB = 1 << 20

BLOCK_SIZES = LogUniform(low=64, high=2_000_000_000)
"""What the document's blocks range over: 64 B to 2 GB (spec 5, section 6)."""


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
    >>> asked = DataParallel(iterations=2).pool_requests(Board(), Streams(1))
    >>> sorted(set(asked.card.tolist())), int(np.where(asked.action == 0, asked.bytes, -asked.bytes).sum())
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
    have room. Sizes come from the streams `kept` and `activations`, times from `gaps STAGE`.

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


class FullCard(Generator):
    """The first GPU's application asks for `footprint` of its card; those of the others hold `others` of theirs.

    First all others allocate what they hold, then the first fills up, then it gives back and takes anew `renewed`
    blocks, one after the other, as a cache or a queue of requests would; then the others ask for `later` more of their
    cards, which tells what lending costs the lender; in the end all give back everything. Sizes come from the stream
    `sizes GPU` (and `later GPU`), what is renewed from `renewed`, times from `gaps GPU`.

    References
    ----------
    spec 5, H5.1 (GPU0 footprint 100-300 % of its memory), H5.5, H5.10; ¶60.

    Examples
    --------
    >>> from workbench.machine import Board
    >>> asked = FullCard(footprint=1.5, others=0.0).pool_requests(Board(), Streams(1))
    >>> asked.bytes[asked.action == 0].sum() / Board().cards[1].memory_bytes
    np.float64(1.5)
    """

    footprint: float = lever(2.0, least=0.001, most=32, step=0.25, description="what GPU 0 asks for over its memory")
    others: float = lever(0.3, least=0, most=1, step=0.05, description="what every other GPU's own application holds")
    later: float = lever(
        0.0, least=0, most=1, step=0.05, description="what the others ask for once GPU 0 has filled up"
    )
    renewed: int = lever(
        0, least=0, most=10_000_000, scale="log", description="blocks that GPU 0 gives back and takes anew"
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


class GrowingCycle(Generator):
    """Two blocks come and go in each cycle beside one that stays; a small one of each cycle stays behind them.

    The two that went are merged to 136.5 MiB. With `max_split_size` at or below that the merged block serves no
    smaller request, and what stays behind it keeps an expandable segment from growing there.

    References
    ----------
    pytorch/pytorch#123548: reserved memory grows from 220 to 14,060 MiB in 101 cycles.
    """

    random: ClassVar[bool] = False
    counted_by: ClassVar[str] = "cycles"
    cycles: int = lever(101, least=1, most=100_000, scale="log", description="how often the blocks come and go")
    first_bytes: int = lever(91 * _MIB, least=1, most=1 << 40, unit="bytes", description="the first block of a cycle")
    second_bytes: int = lever(91 * _MIB // 2, least=1, most=1 << 40, unit="bytes", description="the second one")
    kept_bytes: int = lever(
        2 * _MIB, least=0, most=1 << 40, unit="bytes", description="what stays of each cycle; 0 = nothing"
    )

    def tensor_requests(self, machine: Any, streams: Streams) -> TensorRequests:
        rows = [(ALLOC_TENSOR, 0, 64 * _MIB)]
        for cycle in range(self.cycles):
            first = 1 + 3 * cycle
            rows += [(ALLOC_TENSOR, first, self.first_bytes), (ALLOC_TENSOR, first + 1, self.second_bytes)]
            rows += [(ALLOC_TENSOR, first + 2, self.kept_bytes)] if self.kept_bytes else []
            rows += [(FREE_TENSOR, first, 0), (FREE_TENSOR, first + 1, 0)]
        return program_of(rows)


class AwaitedBlock(Generator):
    """A block that a stream still uses would serve the next request, and the card has no room for another segment.

    The allocator waits for the stream, which frees the block, and asks the driver once more; it does not look for the
    block that it has just freed.

    References
    ----------
    pytorch/pytorch#189504: out of memory with a fitting block in the pool.
    """

    random: ClassVar[bool] = False
    counted_by: ClassVar[str] = "requests"
    requests: int = lever(1, least=1, most=10_000, scale="log", description="how often it happens, each time anew")
    block_bytes: int = lever(20 * _MIB, least=10 * _MIB, most=1 << 40, unit="bytes", description="of each block")

    def tensor_requests(self, machine: Any, streams: Streams) -> TensorRequests:
        rows = [(ALLOC_TENSOR, 0, 2 * self.block_bytes), (FREE_TENSOR, 0, 0)]
        for number in range(self.requests):
            kept, awaited, requested = (1 + 3 * number + k for k in range(3))
            rows += [
                (ALLOC_TENSOR, kept, self.block_bytes),
                (ALLOC_TENSOR, awaited, self.block_bytes),
                (DEFER_TENSOR, awaited, 0),
            ]
            rows += [
                (ALLOC_TENSOR, requested, self.block_bytes),
                (COMPLETE_TENSOR, awaited, 0),
                (FREE_TENSOR, kept, 0),
                (FREE_TENSOR, requested, 0),
            ]
        return program_of(rows)


MOST_BLOCKS = 1_000_000
"""Of one application at a time."""
_FIRST = 64


class Steps(NamedTuple):
    """The steps of one application, in order."""

    card: int
    """The place of its card among the board's."""
    time: np.ndarray
    """int64[steps], ns."""
    block: np.ndarray
    """int64[steps], which of its blocks; each is allocated once, and released once or never."""
    size: np.ndarray
    """int64[steps], bytes, negative for a release."""


def blocks_of(total: int, law: Law, streams: Streams, stream: str, path: str) -> np.ndarray:
    """Return the blocks of a law's sizes that are so many bytes together, the last one cut to fit: int64[blocks].

    Block n has the n-th rank of the stream, however many are needed.

    Raises
    ------
    InputError
        The sizes are so small that it would take more than a million of them.

    Examples
    --------
    >>> from workbench.workloads.synthetic.laws import Constant
    >>> blocks_of(250, Constant(value=100), Streams(0), "sizes", "x")
    array([100, 100,  50])
    """
    count = _FIRST
    while True:
        sizes = law.draw(streams.uniforms(stream, count))
        ends = np.cumsum(sizes)
        if ends[-1] >= total or count >= MOST_BLOCKS:
            break
        count *= 4
    if ends[-1] < total:
        raise InputError(
            f"{path} must draw larger blocks: {total} bytes would take more than {MOST_BLOCKS} of {law.short()}."
        )
    needed = int(np.searchsorted(ends, total)) + 1
    sizes = sizes[:needed].copy()
    sizes[-1] -= ends[needed - 1] - total
    return sizes[sizes > 0]


def check_law(law: Law, machine: Any, path: str, where: str = "") -> None:
    """Refuse a law that may draw a block that no card of the board could ever hold."""
    law.check_least(path)
    _, high = law.span()
    most = largest_memory(machine)
    if high > most:
        near = law.nearest_within(most)
        cure = f" Nearest: {near}." if near else ""
        expected = f"{path} must draw at most {most} bytes, which the largest card has"
        raise InputError(at(where, f"{expected}. Got up to {high}.{cure}"))


def times_after(start: int, law: Law, streams: Streams, stream: str, count: int) -> np.ndarray:
    """Return the times of so many steps, gaps drawn from a law apart: int64[count], ns, the first at the start."""
    if not count:
        return np.zeros(0, np.int64)
    gaps = law.draw(streams.uniforms(stream, count))
    return np.int64(start) + np.concatenate([np.zeros(1, np.int64), np.cumsum(gaps[:-1])])


def requests_of(plans: Sequence[Steps]) -> PoolRequests:
    """Return the steps of all applications by time; at one time those of the lower number come first.

    >>> steps = Steps(1, np.array([0, 9]), np.array([0, 0]), np.array([64, -64]))
    >>> asked = requests_of([steps, steps])
    >>> asked.app.tolist(), asked.handle.tolist(), asked.action.tolist(), asked.bytes.tolist()
    ([0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [64, 64, 64, 64])
    """
    first = np.cumsum([0, *(int(plan.block.max(initial=-1)) + 1 for plan in plans)])
    lengths = [len(plan.time) for plan in plans]
    time = np.concatenate([plan.time for plan in plans])
    size = np.concatenate([plan.size for plan in plans])
    block = np.concatenate([plan.block + start for plan, start in zip(plans, first.tolist(), strict=False)])
    order = np.argsort(time, kind="stable")
    return PoolRequests(
        time=time[order],
        app=np.repeat(np.arange(len(plans)), lengths)[order],
        card=np.repeat(np.array([plan.card for plan in plans], np.int64), lengths)[order],
        action=np.where(size > 0, ALLOC, FREE).astype(np.int8)[order],
        handle=block[order].astype(np.int64),
        bytes=np.abs(size)[order],
    )
