"""Where theory says what a part of a node must do, the engine does it (spec 6, R20).

Arrivals are a Poisson process, and all couplings are neutral but the one that is looked at. A queue is first compared
customer by customer with the recursion of Kiefer and Wolfowitz; then, in longer runs, its mean with the formula, which
must lie in the 99.9 % interval of the estimate, of batches that are long enough to be independent. Service at walkers
and heaps takes a constant time: there the formula is that of Pollaczek and Khinchine. A link is shared equally: the
mean time of a transfer is that of M/G/1 with processor sharing, whatever the law of the sizes.
"""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.slow import compiled_only
from workbench.engines.kit.engine import Setup
from workbench.engines.node.engine import Node
from workbench.export._node_slices import paired
from workbench.machine import Board, Card, Link, Machine, NodeMachine, TranslationMachine
from workbench.metrics.node import TIMES
from workbench.policies.policy import read_policy
from workbench.records.node import KIND, NodeRecord, messages_of
from workbench.statistics import mean_interval
from workbench.streams import Streams
from workbench.workloads.application import Allocate, Application, Applications, Kernel, Launch, Phase, Touch

pytestmark = pytest.mark.node

PAGE = 2 << 20
SWEEP = {"engine": "node", "workload": {"synthetic": "small_kernels"}, "measures": ["makespan_cycles"]}
INSTANT = {"private_cycles": 0, "shared_cycles": 0, "hop_cycles": 0, "walk_levels": 1}
FEW = 120
"""Customers where code is interpreted."""
BATCHES = 20


class Given:
    """Applications that are given."""

    name = "given"

    def __init__(self, *applications: Application) -> None:
        self._applications = applications

    def applications(self, machine: Any, streams: Streams) -> Applications:
        """Return them."""
        return self._applications


def simulated(*applications: Application, events: bool = False, **more: Any) -> NodeRecord:
    """Run applications on GPUs whose modules have room for so many waves; translation takes no time but for walks."""
    return Node().simulate(setup(*applications, **more), 1, events=events)


def setup(
    *applications: Application, modules: int = 1, room: int = 1024, gpus: int = 1,
    translation: dict[str, Any] | None = None, memory_bytes: tuple[int, ...] = (1 << 44, 1 << 44), **options: Any,
) -> Setup:  # fmt: skip
    """Return the setup of `simulated`."""
    cards = tuple(Card(id=f"g{k}", kind="gpu", memory_bytes=memory_bytes[k]) for k in range(gpus))
    links = tuple(Link(between=f"g0 g{k}", gbps=1, kind="nvlink") for k in range(1, gpus))
    card = Machine(compute_units=modules, simds_a_unit=1, waves_a_unit=room, workgroups_a_unit=room, wave_size=32)
    hierarchy = TranslationMachine(cores=modules, private_mshrs=4096, **INSTANT, **(translation or {}))
    machine = NodeMachine(board=Board(cards=cards, links=links), card=card, translation=hierarchy)
    usual = wb.plan(SWEEP).points[0].setup
    dispatch = usual.options.dispatch.but(dispatches_a_round=64)
    policies = {**usual.policies, "locate": read_policy(Node().question_of("locate"), "no_directory", "locate")}
    given = usual.options.but(dispatch=dispatch, **options)
    return usual._replace(machine=machine, workload=Given(*applications), options=given, policies=policies)


def kernel(cycles: np.ndarray, *touches: Touch, mallocs: tuple[int, ...] = ()) -> Launch:
    """Return the launch of a kernel of groups of one wave."""
    return Launch(Kernel(len(cycles), (Phase(cycles, touches, mallocs),), waves=1))


def exponential(mean: float, count: int, seed: int) -> np.ndarray:
    """Return whole numbers of at least 1 by an exponential law."""
    return np.ceil(np.random.default_rng(seed).exponential(mean, count)).astype(np.int64)


def poisson(gap: float, count: int, seed: int = 1) -> np.ndarray:
    """Return the arrivals of a Poisson process, cycles."""
    return np.cumsum(exponential(gap, count, seed))


def waits_of(arrivals: np.ndarray, services: np.ndarray, servers: int) -> list[int]:
    """Return the waits of a first-come queue: each takes the server that is free first (Kiefer, Wolfowitz)."""
    free, waits = [0] * servers, []
    for arrival, service in zip(arrivals.tolist(), services.tolist(), strict=True):
        begin = max(arrival, heapq.heappop(free))
        heapq.heappush(free, begin + service)
        waits.append(begin - arrival)
    return waits


def part(record: NodeRecord, name: str) -> np.ndarray:
    """Return a part of the groups' time."""
    return record.times[:, TIMES.index(name)]


def assert_mean(values: np.ndarray, expected: float) -> None:
    """The expected mean lies in the 99.9 % interval of the estimate; the first batch, from empty, is left out."""
    batches = values[: len(values) // BATCHES * BATCHES].reshape(BATCHES, -1).mean(axis=1)[1:]
    interval = mean_interval(batches, level=0.999)
    assert interval.low < expected < interval.high
    assert interval.high - interval.low < expected


def erlang_c_wait(servers: int, gap: float, service: float) -> float:
    """Return the mean wait in M/M/c."""
    load = service / gap
    terms = [load**k / math.factorial(k) for k in range(servers)]
    last = load**servers / math.factorial(servers) * servers / (servers - load)
    return last / (sum(terms) + last) * service / (servers - load)


def channel(count: int, servers: int, gap: float, service: float) -> tuple[NodeRecord, np.ndarray, np.ndarray]:
    """Let groups with a law of compute come to a module with room for so many, one an application."""
    arrivals, services = poisson(gap, count), exponential(service, count, 2)
    applications = [
        Application(((kernel(services[k : k + 1]),),), arrival=int(at)) for k, at in enumerate(arrivals.tolist())
    ]
    return simulated(*applications, room=servers), arrivals, services


@pytest.mark.parametrize("servers", [1, 3])
def test_groups_in_a_channel_wait_for_the_room_of_a_module(servers: int) -> None:
    record, arrivals, services = channel(FEW, servers, 1000 / servers, 800)
    assert part(record, "channel").tolist() == waits_of(arrivals, services, servers)


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize("servers", [1, 3])
def test_the_mean_wait_in_a_channel_is_that_of_m_m_c(servers: int) -> None:
    record, _, _ = channel(8_000, servers, 2000 / servers, 1200)
    assert_mean(part(record, "channel"), erlang_c_wait(servers, 2000 / servers, 1200))


def walks(count: int, walkers: int, gap: float, cycles: int) -> tuple[NodeRecord, np.ndarray]:
    """Let groups touch a page of their own each at the times of a Poisson process."""
    steps = (Allocate(0, count * PAGE), kernel(poisson(gap, count), Touch(0)))
    translation = {"walkers": walkers, "level_cycles": cycles}
    modules = -(-count // 1000)
    record = simulated(Application((steps,)), modules=modules, translation=translation, touches_hold="group")
    return record, record.began + part(record, "compute")


@pytest.mark.parametrize("walkers", [1, 3])
def test_walks_wait_for_walkers(walkers: int) -> None:
    record, arrivals = walks(FEW, walkers, 500 / walkers, 400)
    assert part(record, "walkers").tolist() == waits_of(arrivals, np.full(FEW, 400), walkers)


@pytest.mark.slow
@compiled_only
def test_the_mean_wait_for_a_walker_is_that_of_m_d_1() -> None:
    record, _ = walks(12_000, 1, 800, 400)
    assert_mean(part(record, "walkers"), 0.5 * 400 / (2 * (1 - 0.5)))


def sections(count: int, gap: float, cycles: int) -> tuple[NodeRecord, np.ndarray]:
    """Let groups ask a device heap at the times of a Poisson process."""
    setup = wb.plan(SWEEP).points[0].setup
    heap = setup.options.heap.but(heap_bytes=1 << 26, granule_bytes=64, split_cycles=0, scan_step_cycles=0)
    steps = (kernel(poisson(gap, count), mallocs=(64,)),)
    modules = -(-count // 1000)
    record = simulated(Application((steps,)), modules=modules, malloc="wait", heap=heap)
    return record, record.began + part(record, "compute")


@pytest.mark.slow
def test_calls_of_malloc_wait_for_the_lock() -> None:
    record, arrivals = sections(FEW, 500, 400)
    service = part(record, "malloc_service")
    assert set(service.tolist()) == {400}
    assert part(record, "malloc_lock").tolist() == waits_of(arrivals, service, 1)


@pytest.mark.slow
@compiled_only
def test_the_mean_wait_for_a_lock_is_that_of_m_d_1() -> None:
    record, _ = sections(12_000, 800, 400)
    assert_mean(part(record, "malloc_lock"), 0.5 * 400 / (2 * (1 - 0.5)))


def transfers(arrivals: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Let groups of a GPU fetch so many bytes of a tensor that had room on the other alone: a byte a cycle."""
    kernels = [kernel(arrivals[k : k + 1], Touch(0, bytes=int(sizes[k]))) for k in range(len(sizes))]
    streams = ((Allocate(0, PAGE), kernels[0]), *((one,) for one in kernels[1:]))
    record = simulated(
        Application(streams, home=1), memory_bytes=(1 << 40, PAGE // 2), gpus=2, modules=-(-len(sizes) // 1000),
        translation={"walkers": 4096, "level_cycles": 0}, remote="link", walk_bytes=0, memory="wait",
    )  # fmt: skip
    assert record.counts["remote_touches"] == record.counts["touches"] == len(sizes)
    return part(record, "link")


def shared_equally(arrivals: np.ndarray, sizes: np.ndarray) -> list[tuple[float, int]]:
    """Return the time of each transfer on a link of a byte a cycle that all under way share. The second value is the
    number that have ended by then since the link was idle."""
    left: dict[int, float] = {}
    result: dict[int, tuple[float, int]] = {}
    now, ended, coming = 0.0, 0, list(enumerate(arrivals.tolist()))
    while coming or left:
        first_end = now + min(left.values()) * len(left) if left else math.inf
        then = min(first_end, coming[0][1] if coming else math.inf)
        left = {number: rest - (then - now) / len(left) for number, rest in left.items()}
        now = then
        for number in [number for number, rest in left.items() if rest <= 1e-9]:
            ended += 1
            result[number] = (now - float(arrivals[number]), ended)
            del left[number]
        ended = ended if left else 0
        while coming and coming[0][1] <= now:
            number, _ = coming.pop(0)
            left[number] = float(sizes[number])
    return [result[number] for number in range(len(sizes))]


def test_transfers_share_a_link_equally() -> None:
    """An end is rounded up to a cycle, for which others have a smaller share: each makes all behind it a cycle later
    at most, until the link is idle."""
    arrivals, sizes = poisson(700, FEW), exponential(500, FEW, 2)
    took = transfers(arrivals, sizes).tolist()
    for cycles, (alone, ended) in zip(took, shared_equally(arrivals, sizes), strict=True):
        assert -1 < cycles - alone <= ended + 1


@pytest.mark.slow
@compiled_only
@pytest.mark.parametrize("law", ["exponential", "constant"])
def test_the_mean_time_of_a_transfer_is_that_of_processor_sharing(law: str) -> None:
    """Size / (1 - load), whatever the law."""
    count, size, gap = 8_000, 500, 1000
    sizes = exponential(size, count, 2) if law == "exponential" else np.full(count, size)
    assert_mean(transfers(poisson(gap, count), sizes), size / (1 - size / gap))


@pytest.mark.slow
def test_littles_law_between_every_pair_of_parts() -> None:
    """Mean number there x time is the sum of the times spent there, for all that begins and ends in the log."""
    touch, rng = Touch(0, "gather", count=5), np.random.default_rng(3)
    cycles = rng.integers(1, 200, 40)
    steps = (Allocate(0, 40 * PAGE), kernel(cycles, touch, mallocs=(64, 64)), kernel(cycles[:9], touch))
    record = simulated(
        Application((steps,)), room=6, modules=2, translation={"walkers": 2, "level_cycles": 90}, events=True,
        touches_hold="group", malloc="wait", memory="wait",
    )  # fmt: skip
    messages = messages_of(record)
    pairs = [
        (KIND.enter, KIND.dispatch), (KIND.dispatch, KIND.release), (KIND.request, KIND.answer),
        (KIND.call, KIND.malloc_answer), (KIND.pool_request, KIND.pool_answer), (KIND.put_forward, KIND.step),
    ]  # fmt: skip
    spent = {}
    for begin, end in pairs:
        cut = 4 if begin == KIND.put_forward else 8
        matched = list(paired(messages, begin, end, lambda it, cut=cut: it.who[1:cut]))
        begins, ends = ([one.cycle for one in messages if one.kind == kind] for kind in (begin, end))
        matching_ends = [pair.end.cycle for pair in matched]
        assert len(matched) == len(begins)
        spent[begin] = sum(pair.end.cycle - pair.begin.cycle for pair in matched)
        assert area(begins, matching_ends if begin == KIND.put_forward else ends) == spent[begin]
    assert spent[KIND.enter] == part(record, "channel").sum() > 0
    latencies = [message.values[3] for message in messages if message.kind == KIND.answer]
    assert spent[KIND.request] == sum(latencies) > 0
    walk_times = sum(part(record, name).sum() for name in ("malloc_lock", "malloc_service", "heap_chunk"))
    assert 0 < walk_times <= spent[KIND.call]


def area(begins: list[int], ends: list[int]) -> int:
    """Return the integral over time of how many are there."""
    steps = sorted([(at, 1) for at in begins] + [(at, -1) for at in ends])
    total = there = since = 0
    for at, step in steps:
        total += there * (at - since)
        there, since = there + step, at
    assert there == 0
    return total
