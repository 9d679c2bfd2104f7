"""The pool and its frames by hand: vectors of specification 5 and what the node adds (spec 6, R10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.oracles.node.calendar import Calendar, Key
from tests.oracles.node.description import Card, Link, Machine, Policies
from tests.oracles.node.description import Pool as Service
from tests.oracles.node.frames import Frames, longest, lowest, part_of
from tests.oracles.node.links import Links
from tests.oracles.node.log import Log
from tests.oracles.node.policies import best_fit_block, max_bandwidth, most_free
from tests.oracles.node.pool import Pool, PoolCard, Region

pytestmark = pytest.mark.slow


class Bench:
    """A pool alone, in granules of one byte, without time."""

    def __init__(self, *sizes: int, links: tuple[Link, ...] = (), **service: Any) -> None:
        self.calendar = Calendar()
        log = Log(self.calendar)
        machine = Machine(tuple(Card(memory_bytes=size) for size in sizes), links, Service(**service))
        bandwidth = Links(self.calendar, machine, log).bandwidth
        self.pool = Pool(
            self.calendar,
            machine,
            1,
            Policies(),
            log,
            bandwidth,
            None,
            lambda region, block: None,
        )

    def allocate(self, size: int, card: int = 0) -> Region | None:
        answers: list[Region | None] = []
        self.pool.allocate(Key(card), card, size, answers.append)
        self.calendar.run()
        return answers[0]

    def free(self, region: Region | None) -> None:
        assert region is not None
        self.pool.release(region, Key(), lambda: None)
        self.calendar.run()

    def cached(self, card: int = 0) -> list[int]:
        return sorted(block.size for block in self.pool.cards[card].cached)


def test_v2_to_v5_best_fit() -> None:
    assert best_fit_block([32, 64, 96, 128], 64) == 1
    assert best_fit_block([32, 96, 128], 64) == 1
    assert best_fit_block([32, 48], 64) is None
    assert best_fit_block([128, 96, 96], 64) == 1


def test_v3_a_larger_block_is_split() -> None:
    bench = Bench(1000)
    for region in [bench.allocate(size) for size in (32, 96, 128)]:
        bench.free(region)
    assert bench.allocate(64).identifier == (0, 32)
    assert bench.cached() == [32, 32, 128]


def test_v6_neighbours_of_one_allocation_join() -> None:
    bench = Bench(1000)
    bench.free(bench.allocate(96))
    first, second = bench.allocate(64), bench.allocate(32)
    assert (first.identifier, second.identifier) == ((0, 0), (0, 64))
    bench.free(first)
    bench.free(second)
    assert bench.allocate(96).identifier == (0, 0)
    assert bench.pool.cards[0].physical == 904


def test_v7_neither_record_alone_has_room() -> None:
    """Cached 20 + 20, in use 30, physical 30: 35 go to the other card."""
    bench = Bench(100, 100, links=(Link((0, 1)),))
    small = [bench.allocate(20), bench.allocate(20)]
    bench.allocate(30)
    for region in small:
        bench.free(region)
    assert bench.allocate(35).card == 1


def test_a_card_without_a_path_does_not_lend() -> None:
    assert Bench(10, 100).allocate(35) is None


CARDS = [(3, 40, 150.0), (6, 60, 150.0), (5, 200, 16.0), (0, 52, 16.0)]


def test_targets() -> None:
    assert max_bandwidth(20, CARDS) == 3
    assert most_free(20, CARDS) == 5
    assert max_bandwidth(20, []) is None


def test_idle_release_takes_the_longest_unused() -> None:
    bench = Bench(4000, idle_limit_bytes=1000)
    regions = [bench.allocate(size) for size in (64, 128, 256, 512, 1024)]
    for region in regions:
        bench.free(region)
    assert bench.cached() == []
    assert bench.pool.cards[0].physical == 4000
    bench = Bench(4000, idle_limit_bytes=700)
    for region in [bench.allocate(size) for size in (512, 128, 256)]:
        bench.free(region)
    assert bench.cached() == [128, 256]


@pytest.mark.parametrize(
    ("answer", "count", "runs"),
    [
        (lowest, 3, [(2, 2), (6, 1)]),
        (lowest, 2, [(2, 2)]),
        (longest, 2, [(2, 2)]),
        (longest, 3, [(6, 3)]),
        (longest, 7, [(10, 6), (6, 1)]),
    ],
)
def test_frames(answer: Callable[..., Any], count: int, runs: list[tuple[int, int]]) -> None:
    frames = Frames(16, lowest)
    frames.take(16)
    frames.give([(2, 2), (6, 3), (10, 6)])
    frames._answer = answer
    assert frames.take(count) == runs
    assert frames.free_granules == 11 - count
    frames.give(runs)
    assert frames.free == [(2, 2), (6, 3), (10, 6)]


def test_a_part_of_runs() -> None:
    assert part_of([(2, 2), (6, 3), (10, 6)], 1, 5) == [(3, 1), (6, 3), (10, 1)]


def test_a_card_pages_memory() -> None:
    """Whatever is free can be had, in several runs."""
    card = PoolCard(0, 10, 1, Policies())
    blocks = [card.take(2)[0] for _ in range(5)]
    for block in blocks[::2]:
        card.give(block, 1)
    card.trim(0)
    assert card.qualifies(6)
    assert card.runs_of(card.take(6)[0]) == [(0, 2), (4, 2), (8, 2)]


def test_without_a_cache_memory_goes_back_at_once() -> None:
    card = PoolCard(0, 10, 1, Policies(cache="no_cache"))
    block, _ = card.take(4)
    card.give(block, 1)
    assert [one.size for one in card.trim(None)] == [4]
    assert card.physical == 10


def test_who_waits_takes_the_time_of_a_request_once() -> None:
    """Two of 10 ns each, of which the second waits for the release of the first, 3 ns; then it takes no time more."""
    bench = Bench(10, when_full="wait", request_ns=10, release_ns=3)
    first = bench.allocate(8)
    answers: list[tuple[int, Region | None]] = []
    bench.pool.allocate(Key(0), 0, 8, lambda region: answers.append((bench.calendar.now, region)))
    bench.calendar.run()
    assert (bench.calendar.now, answers) == (20, [])
    bench.free(first)
    ((cycle, region),) = answers
    assert (cycle, region.identifier) == (23, (0, 0))
