"""Translation by hand: registers, pace, full queues, copies, unmappings (spec 4, T1 to T13; spec 6, R11, E1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Policies, Translation
from tests.oracles.node.log import Log
from tests.oracles.node.pages import Page
from tests.oracles.node.touch import Access
from tests.oracles.node.translation import Translation as Part

pytestmark = pytest.mark.slow

PLAIN = {"private_cycles": 1, "shared_entries": 0, "hop_cycles": 0, "directory_cycles": 0}
SIZE = 4096


class Bench:
    """A translation system alone, with accesses (cycle, core, page) and their latencies."""

    def __init__(self, cores: int, policies: dict[str, Any] | None = None, **machine: Any) -> None:
        self.calendar = Calendar()
        self.log = Log(self.calendar)
        machine = PLAIN | machine
        self.part = Part(self.calendar, 0, cores, Translation(**machine), Policies(**(policies or {})), self.log)
        self.pages: dict[int, Page] = {}
        self.latencies: dict[int, int] = {}
        self.served: dict[int, str] = {}

    def page(self, number: int) -> Page:
        return self.pages.setdefault(number, Page(0, number * SIZE, SIZE, 0))

    def access(self, serial: int, cycle: int, core: int, number: int) -> None:
        def answered(source: str) -> None:
            self.latencies[serial] = self.calendar.now - cycle
            self.served[serial] = source

        access = Access(self.page(number), core, Key(touch=serial), lambda: None, answered)
        self.calendar.at(cycle, Rank.TRANSLATION_REQUEST, access.key, lambda: self.part.request(access))

    def unmap(self, cycle: int, number: int) -> None:
        self.calendar.at(cycle, Rank.FREE, Key(), lambda: self.part.unmap([self.page(number)]))

    def run(self, *accesses: tuple[int, int, int]) -> list[int]:
        for serial, row in enumerate(accesses):
            self.access(serial, *row)
        self.calendar.run()
        return [self.latencies[serial] for serial in range(len(accesses))]

    @property
    def walks(self) -> int:
        return len(self.log.of("translation", "walk"))


def test_t13_a_register_is_waited_for() -> None:
    bench = Bench(2, registers=1, walkers=2)
    rows = [(0, 0, 1), (1, 0, 2), (2, 0, 5), (3, 0, 6), (4, 1, 3), (5, 1, 4)]
    assert bench.run(*rows)[4:] == [401, 800]


def test_t13_walks_under_way_are_joined() -> None:
    bench = Bench(4, shared_entries=1, walkers=1)
    bench.run((0, 0, 1), (1, 1, 2), (2, 2, 1), (3, 3, 2))
    assert bench.walks == 2


def test_an_access_joins_a_miss_of_its_core() -> None:
    bench = Bench(1)
    assert bench.run((0, 0, 1), (400, 0, 1), (401, 0, 1)) == [401, 1, 1]
    assert bench.served == {0: "walk", 1: "merged", 2: "private"}


def test_a_blocked_core_issues_nothing() -> None:
    """The third access would hit, but waits behind the second, for which no register is free."""
    bench = Bench(1, registers=1, walkers=4)
    assert bench.run((0, 0, 7), (500, 0, 1), (501, 0, 2), (502, 0, 7)) == [401, 401, 800, 400]


def test_a_blocked_access_looks_again_when_a_register_is_freed() -> None:
    """Core 1 gets a copy of page 1 while it waits for a register: the access hits then, not before."""
    policies = {"locate": "directory", "fill": lambda core, page, held: [1] if core == 0 else []}
    bench = Bench(2, policies, registers=1, walkers=4)
    assert bench.run((300, 1, 9), (100, 0, 1), (350, 1, 1), (600, 1, 9)) == [401, 401, 351, 102]


def test_a_full_queue_keeps_the_order() -> None:
    bench = Bench(4, walkers=1, walk_queue=1, walk_cycles=100)
    assert bench.run((0, 0, 1), (1, 1, 2), (2, 2, 3), (3, 3, 4)) == [101, 200, 299, 398]


def test_one_that_waits_outside_looks_into_the_shared_tlb_again() -> None:
    bench = Bench(4, walkers=1, walk_queue=1, walk_cycles=100, shared_entries=4, shared_cycles=10)
    latencies = bench.run((0, 0, 1), (1, 1, 2), (2, 2, 3), (3, 3, 3))
    assert latencies == [111, 210, 309, 308]
    assert bench.walks == 3


def test_the_shared_tlb_answers_after_its_latency() -> None:
    bench = Bench(2, shared_entries=4, shared_cycles=12)
    assert bench.run((0, 0, 1), (1000, 1, 1)) == [1 + 12 + 400, 1 + 12]


def test_a_peer_answers_over_the_network() -> None:
    bench = Bench(4, {"locate": "directory"}, directory_cycles=2, hop_cycles=3, network="ring", shared_entries=4)
    assert bench.run((0, 0, 1), (1000, 2, 1)) == [1 + 2 + 12 + 400, 1 + 2 + 6 + 1 + 6]
    assert bench.served[1] == "peer"


def test_a_stale_holder_refuses() -> None:
    """Between the look-up (1,001) and the arrival at core 0 (1,013) page 3 takes the place of page 1 there."""
    bench = Bench(2, {"locate": "directory"}, private_entries=1, directory_cycles=2, hop_cycles=10, walkers=4)
    rows = [(0, 0, 1), (610, 0, 3), (1000, 1, 1)]
    assert bench.run(*rows)[2] == 1 + 2 + 10 + 1 + 10 + 400
    assert [row.value("held") for row in bench.log.of("translation", "peer")] == [False]


def test_a_page_that_is_unmapped_under_way_is_answered_and_fills_nothing() -> None:
    bench = Bench(1, shared_entries=4)
    bench.unmap(50, 1)
    assert bench.run((0, 0, 1)) == [413]
    assert [tlb.tags for tlb in bench.part.tlbs] == [[], []]
    assert not bench.log.of("translation", "fill")


def test_nobody_joins_what_was_unmapped() -> None:
    """Core 0 asks again after the unmapping, then core 1: the two share a walk of their own."""
    bench = Bench(2, shared_entries=4, registers=2, walkers=2)
    bench.unmap(50, 1)
    assert bench.run((0, 0, 1), (60, 0, 1), (70, 1, 1)) == [413, 413, 403]
    assert bench.served == {0: "walk", 1: "walk", 2: "walk"}
    assert bench.walks == 2


def test_an_unmapped_miss_keeps_its_register() -> None:
    bench = Bench(1, registers=1, walkers=2)
    bench.unmap(50, 1)
    assert bench.run((0, 0, 1), (60, 0, 1)) == [401, 741]


def test_without_a_directory_nobody_knows_what_others_hold() -> None:
    """Both cores hold pages 1 and 2; the most recent goes where no degree is known, the one that is its core's own
    where a directory tells."""
    rows = [(0, 0, 1), (0, 1, 1), (500, 0, 3), (1000, 0, 2), (1000, 1, 2), (1500, 0, 4)]
    for locate, left in (("no_directory", [1, 3, 4]), ("directory", [1, 2, 4])):
        policies = {"locate": locate, "eviction": "sharing_aware"}
        bench = Bench(2, policies, private_entries=3, walkers=2)
        bench.run(*rows)
        assert sorted(tag for tag in bench.part.cores[0].tlb.tags) == left


def test_a_copy_of_a_page_that_is_unmapped_under_way_fills_nothing() -> None:
    bench = Bench(2, {"locate": "directory", "fill": lambda core, page, held: [1 - core]}, hop_cycles=20)
    bench.unmap(410, 1)
    bench.run((0, 0, 1))
    assert [core.tlb.tags for core in bench.part.cores] == [[], []]


def test_mru_keeps_the_old() -> None:
    bench = Bench(1, {"eviction": "mru"}, private_entries=2, walk_cycles=10)
    bench.run((0, 0, 1), (20, 0, 2), (40, 0, 3))
    assert bench.part.cores[0].tlb.tags == [bench.page(1).tag, bench.page(3).tag]


def test_sets() -> None:
    bench = Bench(1, private_entries=4, private_ways=1, walk_cycles=10)
    bench.run((0, 0, 1), (20, 0, 5), (40, 0, 2))
    assert bench.part.cores[0].tlb.tags == [bench.page(5).tag, bench.page(2).tag]


def test_overlapping_stalls_end_with_the_later() -> None:
    bench = Bench(1)
    for cycle, length in ((100, 50), (120, 10), (130, 50)):
        bench.calendar.at(cycle, Rank.SHOOTDOWN, Key(), lambda length=length: bench.part.stall(0, length))
    assert bench.run((110, 0, 1)) == [70 + 401]
    assert bench.part.cores[0].stalls == [(100, 150), (150, 180)]
