"""The worked examples of spec 5, section 4, and its decided ambiguities, through the engine `pool`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.engines.pool_cases import Case, Row, assert_access_times, assert_same, line
from tests.junk import refusal
from workbench.engines.pool import Pool
from workbench.errors import PolicyError
from workbench.machine import Board, Card, preset
from workbench.metrics.pool import cached, in_use, measure, reserved
from workbench.policies import placement
from workbench.policies.pool import (
    BandwidthThenMostFree,
    Bind,
    CacheFit,
    ExpandableSegments,
    HostOffload,
    IdleRelease,
    LeastBorrowed,
    LeastRecentlyUsed,
    LocalOnly,
    ManagedMemory,
    MaxBandwidth,
    MigrateBack,
    NoCache,
    Preferred,
    PytorchCaching,
    SmallestSufficient,
    SplitAndCoalesce,
    Stitching,
    Target,
)
from workbench.records.pool import OUTCOMES, PoolRecord
from workbench.structures.bitmaps import next_free

ALLOC, FREE, DIE = 0, 1, 2


def requests(*messages: tuple[Any, ...], card: int = 0) -> list[Row]:
    """`(handle, bytes)` allocates, `(handle,)` frees; one a nanosecond."""
    return [(k, 0, card, int(len(it) == 1), it[0], it[1] if len(it) > 1 else 0) for k, it in enumerate(messages)]


def one_card(size: int, *messages: tuple[Any, ...], **policies: Any) -> PoolRecord:
    return Case(requests(*messages), Board(cards=(Card(id="gpu0", memory_bytes=size),), links=()), policies).simulate()


def came_of(record: PoolRecord) -> list[str]:
    return [OUTCOMES[it] for it in record.outcome]


V6 = ((1, 96), (1,), (2, 64), (3, 32), (2,), (3,), (4, 96))


def test_v6_with_coalescing():
    record = one_card(1000, *V6)
    assert record.identifier[[0, 2, 3, 6]].tolist() == [0, 0, 64, 0]
    assert 1000 - reserved(record)[0][-1] == 904


def test_v6_without_coalescing():
    record = one_card(1000, *V6, cache=SplitAndCoalesce(coalesce=False))
    assert record.identifier[[0, 2, 3, 6]].tolist() == [0, 0, 64, 96]
    assert 1000 - reserved(record)[0][-1] == 808
    assert cached(record)[0][-1] == 96


@pytest.mark.parametrize(
    ("cached_sizes", "identifier", "source", "left"),
    [
        ((32, 64, 96, 128), 32, "cached", [32, 96, 128]),
        ((32, 96, 128), 32, "cached", [32, 32, 128]),
        ((32, 48), 80, "physical", [32, 48]),
        ((128, 96, 96), 128, "cached", [32, 96, 128]),
    ],
    ids=["v2", "v3", "v4", "v5"],
)
def test_a_request_of_64_finds_these_cached(cached_sizes, identifier, source, left):
    """What is left is asked for afterwards, each block by its size; the next byte comes from the driver."""
    made = [(k, size) for k, size in enumerate(cached_sizes)]
    again = [(20 + k, size) for k, size in enumerate(left)]
    record = one_card(1000, *made, *((k,) for k, _ in made), (10, 64), *again, (30, 1))
    granted_at = 2 * len(made)
    assert (record.identifier[granted_at], came_of(record)[granted_at]) == (identifier, source)
    assert came_of(record)[granted_at + 1 :] == ["cached"] * len(left) + ["physical"]


V7 = ((1, 20), (2, 20), (3, 30), (1,), (2,), (4, 35))


@pytest.mark.parametrize(
    ("metric", "flush", "outcome", "card"),
    [
        ("largest_cached_or_physical", False, "physical", 1),
        ("sum_cached_or_physical", False, "misjudged", -1),
        ("largest_cached_or_physical", True, "physical", 0),
        ("sum_all", True, "physical", 0),
    ],
)
def test_v7_what_counts_as_room(metric, flush, outcome, card):
    cache = SplitAndCoalesce(flush_before_remote=flush)
    record = Case(requests(*V7), line(100, 100), {"cache": cache}, {"free_metric": metric}).simulate()
    assert (came_of(record)[-1], record.card[-1]) == (outcome, card)
    if card == 0:
        assert 100 - reserved(record)[0][-1] == 100 - 30 - 35, "70 physical bytes after the flush, 35 of them taken"


@pytest.mark.parametrize("metric", ["bottleneck", "hop_penalised"])
@pytest.mark.parametrize(("tie", "card"), [("lowest_id", "gpu3"), ("most_free", "gpu6")])
def test_v12_two_cards_tie_by_either_metric(tie, card, metric):
    board = preset("figure_1").machine()
    cards = [it.but(memory_bytes=10, used_bytes=10 if it.id == "gpu0" else 2 * (it.id == "gpu3")) for it in board.cards]
    at = board.index("gpu0")
    options = {"target_tie": tie, "path_metric": metric}
    record = Case(requests((1, 5), card=at), board.but(cards=tuple(cards)), options=options).simulate()
    assert board.ids[record.card[0]] == card
    assert record.gbps[record.card[0], at] == 150


def test_r15_local_physical_comes_before_remote_cached():
    rows = [(0, 1, 1, ALLOC, 1, 50), (1, 1, 1, FREE, 1, 0), (2, 0, 0, ALLOC, 2, 50)]
    assert Case(rows, line(100, 100)).simulate().card.tolist() == [1, 1, 0]


def test_r24_no_card_has_room():
    record = Case(requests((1, 60), (2, 60), (3, 60), (3,)), line(100, 100)).simulate()
    assert came_of(record) == ["physical", "physical", "refused", "free_of_refused"]
    assert measure(record)["completed_rate"] == 2 / 3


def test_h51_local_only_fails_where_borrowing_does_not():
    rows = requests(*((k, 60) for k in range(3)))
    alone = Case(rows, line(100, 100, 100), {"target": LocalOnly()}).simulate()
    assert came_of(alone) == ["physical", "refused", "refused"]
    assert came_of(Case(rows, line(100, 100, 100)).simulate()) == ["physical"] * 3


def test_e6_whole_allocations_go_back_the_longest_cached_first():
    message = ((1, 64), (2, 128), (3, 256), (1,), (2,), (3,))
    record = one_card(1000, *message, idle_release=LeastRecentlyUsed(limit_bytes_a_card=200))
    assert record.calls[record.calls[:, 3] < 0].tolist() == [[5, 0, 0, -64], [5, 0, 64, -128], [5, 0, 192, -256]]
    record = one_card(1000, *message, idle_release=SmallestSufficient(limit_bytes_a_card=200))
    assert record.calls[record.calls[:, 3] < 0].tolist() == [[5, 0, 192, -256]]


def test_e5_a_part_of_an_allocation_does_not_go_back():
    record = one_card(100, (1, 90), (1,), (2, 30), idle_release=LeastRecentlyUsed(limit_bytes_a_card=0))
    assert cached(record)[0].tolist() == [0, 0, 0]
    record = one_card(100, (1, 90), (2, 10), (1,), (3, 30), (2,), idle_release=LeastRecentlyUsed(limit_bytes_a_card=95))
    assert in_use(record)[0].tolist() == [90, 100, 10, 40, 30]
    assert cached(record)[0].tolist() == [0, 0, 90, 60, 70]


@pytest.mark.parametrize(("threshold", "fallbacks"), [(48.0, 1), (16.5, 1), (16.0, 0)])
def test_e10_the_fallback_is_counted_and_a_path_at_the_threshold_is_none(threshold, fallbacks):
    """The path has 16 GB/s."""
    target = BandwidthThenMostFree(threshold_gbps=threshold)
    record = Case(requests((1, 90), (2, 90)), line(100, 100), {"target": target}).simulate()
    assert (record.card.tolist(), record.fallbacks) == ([0, 1], fallbacks)
    assert measure(record)["fallbacks"] == fallbacks


def test_e19_an_unknown_or_repeated_free_changes_nothing():
    record = one_card(100, (1, 40), (7,), (1,), (1,), (1, 10), (1,))
    assert came_of(record) == ["physical", "unknown_free", "released", "repeated_free", "cached", "released"]
    assert in_use(record)[0].tolist() == [40, 40, 0, 0, 10, 0]
    assert measure(record)["misused_frees"] == 2


def test_e19_a_handle_belongs_to_its_application():
    rows = [(0, 0, 0, ALLOC, 1, 10), (1, 1, 0, FREE, 1, 0)]
    assert came_of(Case(rows, line(100, 100)).simulate()) == ["physical", "unknown_free"]


@pytest.mark.parametrize(("window", "third"), [(0, 2), (2, 2), (1, 1)])
def test_e13_history_counts_the_latest_requests(window, third):
    """The own card is full; request 1 borrows from card 1, and request 3 is two requests later."""
    message = requests((0, 50), (1, 20), (0, 50), (2, 20))
    rows = [*message[:2], (2, 0, 0, FREE, 9, 0), message[3]]
    record = Case(rows, line(50, 100, 100), {"target": LeastBorrowed()}, {"history_window": window}).simulate()
    assert record.card.tolist() == [0, 1, -1, third]


def test_e17_regions_move_home_when_the_card_has_room_again():
    """Two regions are borrowed over 16 GB/s; each free on the own card makes room for one of them."""
    message = requests((1, 60), (2, 40), (3, 50), (4, 30), (1,), (2,), (3,))
    record = Case(message, line(100, 100), {"residency": MigrateBack()}).simulate()
    assert record.card.tolist() == [0, 0, 1, 1, 0, 0, 0]
    assert record.moves.tolist() == [[4, 2, 1, 0, 0, 50, 50, 4], [5, 3, 1, 0, 60, 30, 30, 7]]
    assert record.done.tolist() == [0, 1, 2, 3, 4 + 50 // 16, 7 + 30 // 16, 8]
    assert in_use(record)[0].tolist() == [60, 100, 100, 100, 90, 80, 30]
    assert in_use(record)[1].tolist() == [0, 0, 50, 80, 30, 0, 0]
    assert (record.identifier[6], record.taken[6]) == (0, 50), "freed where it lies by then"
    assert record.access_ns[2:4] == pytest.approx([2 / 6 * 50 / 16 + 1 / 24, 25 / 12])
    assert record.move_ns == pytest.approx([13 / 3, 61 / 24])
    assert Case(message, line(100, 100)).simulate().card.tolist() == [0, 0, 1, 1, 0, 0, 1]


@pytest.mark.parametrize(
    ("residency", "moved"),
    [(MigrateBack(), [1, 2, 3]), (MigrateBack(order="largest"), [2, 1, 3]), (MigrateBack(at_most=2), [1, 2])],
    ids=lambda value: value.short() if isinstance(value, MigrateBack) else "",
)
def test_e17_which_regions_move_home_and_how_many(residency, moved):
    message = requests((1, 100), (2, 20), (3, 30), (4, 20), (1,))
    record = Case(message, line(100, 100), {"residency": residency}).simulate()
    assert record.moves[:, [0, 1]].tolist() == [[4, row] for row in moved]


def test_e17_what_finds_no_one_block_at_home_lets_another_go_before():
    """At home 6 and 10 MiB are cached apart: room for 15 if they are stitched, which no move does, and for 8."""
    mib = 1 << 20
    message = ((1, 6 * mib), (2, 8 * mib), (3, 10 * mib), (4, 15 * mib), (5, 8 * mib), (1,), (3,))
    policies = {"cache": Stitching(), "residency": MigrateBack()}
    record = assert_same(Case(requests(*message), line(24 * mib, 40 * mib), policies))
    assert record.card.tolist() == [0, 0, 0, 1, 1, 0, 0]
    assert record.moves[:, :5].tolist() == [[6, 4, 1, 0, 14 * mib]]


def test_e17_nobody_reads_before_the_pointer_is_there():
    """Sent away at 1 and brought home at 11, freed at 21; its client has mapped it at 5, so 6 of 16 are away."""
    rows = requests((1, 60), (2, 60), (2,), (1,))
    rows = [(at, *row[1:]) for at, row in zip((0, 1, 11, 21), rows, strict=True)]
    options = {"pointer_mode": "mapped_pointer", "map_ns": 5}
    case = Case(rows, line(100, 100, cpus=(1,)), {"residency": ManagedMemory(back=True)}, options)
    record = case.simulate()
    assert (record.answered[0], record.moves[:, 7].tolist()) == (5, [1, 11])
    assert record.access_ns.tolist() == pytest.approx([6 / 16 * 60 / 16, 0, 0, 0])
    assert_access_times(case, record)


def test_a_newcomer_that_no_run_of_the_card_holds_moves_nobody():
    """Of 100 bytes the driver deals in one granule of 64."""
    policies = {"residency": ManagedMemory(), "driver": placement.FirstFit()}
    rows, board = requests((1, 60), (2, 90)), line(100, 300, cpus=(1,))
    record = Case(rows, board, policies, {"driver_granule": 64}).simulate()
    assert (record.card.tolist(), len(record.moves)) == ([0, 1], 0)


def test_a_guest_that_makes_room_goes_to_a_third_card():
    """Card 1's first region went to card 0, which has room for as many bytes more, but not for its own newcomer."""
    rows = [(0, 1, 1, ALLOC, 1, 40), (1, 1, 1, ALLOC, 2, 100), (2, 0, 0, ALLOC, 1, 70)]
    record = Case(rows, line(100, 100, 100), {"residency": ManagedMemory(to="target")}).simulate()
    assert record.card.tolist() == [1, 1, 0]
    assert record.moves[:, :4].tolist() == [[1, 0, 1, 0], [2, 0, 0, 2]]


def test_managed_memory_makes_room_by_moving_what_was_placed_longest_ago():
    """The oldest region goes to the CPU and the newcomer takes its block; a larger one needs the driver, and both."""
    policies = {"residency": ManagedMemory(), "target": LocalOnly()}
    message, board = requests((1, 60), (2, 40), (3, 50), (4, 70)), line(100, 200, cpus=(1,))
    record = Case(message, board, policies).simulate()
    assert came_of(record) == ["physical", "physical", "cached", "physical"] and record.card.tolist() == [0] * 4
    assert record.moves[:, :7].tolist() == [
        [2, 0, 0, 1, 0, 60, 60],
        [3, 1, 0, 1, 60, 40, 40],
        [3, 2, 0, 1, 100, 50, 50],
    ]
    back = [call for call in record.calls.tolist() if call[3] < 0]
    assert back == [[3, 0, 60, -40], [3, 0, 0, -60]], "whole driver allocations, as they become cached"
    assert record.done.tolist() == [0, 1, 2 + 60 // 16, 5 + 40 // 16 + 50 // 16]
    assert came_of(Case(message, line(100, 200), policies).simulate())[2:] == ["refused"] * 2, "no CPU has memory"


def test_more_moves_than_allocations():
    """A newcomer that needs the whole card sends ten regions away, each of three times, and they come back."""
    small, whole = [(k, 10) for k in range(10)], [it for k in range(3) for it in ((90 + k, 100), (90 + k,))]
    record = Case(
        requests(*small, *whole), line(100, 500, cpus=(1,)), {"residency": ManagedMemory(back=True)}
    ).simulate()
    assert record.moves[:, 0].tolist() == [row for row in range(10, 16) for _ in range(10)]
    assert (record.moves[:, 3] == np.repeat([1, 0] * 3, 10)).all()


def test_e18_the_regions_of_a_dead_application_come_back():
    rows = [(0, 0, 0, ALLOC, 1, 10), (1, 1, 0, ALLOC, 1, 20), (2, 0, 0, ALLOC, 2, 30), (3, 0, 0, FREE, 1, 0)]
    rows += [(4, 0, 0, ALLOC, 3, 5), (5, 0, 0, DIE, 0, 0), (6, 0, 0, FREE, 2, 0)]
    record = Case(rows, line(100, 100)).simulate()
    assert came_of(record)[5:] == ["released", "released", "repeated_free"]
    assert (record.handle[5:7].tolist(), record.asked[5:7].tolist()) == ([2, 3], [30, 5])
    assert in_use(record)[0][-1] == 20


def test_e20_e21_what_a_request_costs():
    options = {"ipc_ns": 5, "service_ns": 10, "driver_alloc_ns": 100, "driver_ns_per_mib": 7, "zero_gbps": 0.5}
    rows = [(0, 0, 0, ALLOC, 1, 3 << 20), (0, 0, 0, FREE, 1, 0), (500, 0, 0, ALLOC, 2, 1000)]
    record = Case(rows, line(1 << 23, 1), options=options).simulate()
    assert record.done.tolist() == [15 + 100 + 21, 151, 500 + 15 + 2000]
    assert measure(record)["latency_p99_ns"] == 2015


def test_e20_what_was_cached_is_zeroed_where_pages_are_added_to_it():
    """Pages of 10 MiB: 4 of the first are cached, so that 8 more take another page, of which 4 are new."""
    mib = 1 << 20
    rows, options = requests((1, 6 * mib), (2, 8 * mib), (3, 6 * mib)), {"zero_gbps": 1.0}
    record = Case(rows, line(60 * mib, 1), {"cache": ExpandableSegments(large_page=10 * mib)}, options).simulate()
    assert came_of(record) == ["physical", "physical", "cached"]
    assert record.done.tolist() == [0, 1 + 4 * mib, 1 + 4 * mib + 6 * mib]


def test_e20_what_the_driver_gave_for_a_region_that_moved_is_cached_for_the_next():
    """Pages of 10 MiB: region 2 moves to c0 for region 3, which does not fit nevertheless, as region 1 has no way to
    go; so region 3 goes to c0 as well, onto the 6 MiB that region 2 has left of its page, and 10 MiB that are new."""
    mib = 1 << 20
    rows = [(0, 2, 2, ALLOC, 1, 5 * mib), (1, 1, 1, ALLOC, 2, 4 * mib), (2, 1, 1, ALLOC, 3, 16 * mib)]
    policies = {"cache": ExpandableSegments(large_page=10 * mib), "residency": ManagedMemory(to="target")}
    options = {"zero_gbps": 1.0, "path_metric": "direct_only"}
    record = assert_same(Case(rows, line(40 * mib, 20 * mib, 1), policies, options))
    assert came_of(record) == ["physical", "cached", "physical"]
    assert record.card.tolist() == [1, 1, 0]
    assert record.identifier[2] == 4 * mib
    assert record.done.tolist() == [0, 1 + 4 * mib, 1 + 4 * mib + 4 * mib // 16 + 6 * mib]


def test_r25_r27_a_client_maps_what_it_gets_and_unmaps_what_it_gives():
    """The service is done at 10, 20, 30, 40, 50 and 60: mapping of one client does not keep another one waiting."""
    options = {"service_ns": 10, "map_ns": 300, "unmap_ns": 200}
    rows = [(0, 0, 0, ALLOC, 1, 60), (0, 0, 0, FREE, 1, 0), (0, 0, 0, ALLOC, 2, 60), (0, 0, 0, ALLOC, 3, 90)]
    rows += [(0, 0, 0, ALLOC, 4, 90), (0, 0, 0, FREE, 4, 0)]
    mapped = Case(rows, line(100, 100), options={**options, "pointer_mode": "mapped_pointer"}).simulate()
    assert came_of(mapped) == ["physical", "released", "cached", "physical", "refused", "free_of_refused"]
    assert mapped.done.tolist() == [10, 20, 30, 40, 50, 60]
    assert mapped.answered.tolist() == [310, 220, 330, 340, 50, 60]
    assert measure(mapped)["latency_mean_ns"] == (310 + 220 + 330 + 340 + 50 + 60) / 6
    identified = Case(rows, line(100, 100), options=options).simulate()
    assert identified.answered.tolist() == identified.done.tolist() == mapped.done.tolist()


def test_e24_whether_a_cpu_lends():
    rows, board = requests((1, 90), (2, 90)), line(100, 100, cpus=(1,))
    assert Case(rows, board, {"target": HostOffload()}).simulate().card.tolist() == [0, 1]
    assert came_of(Case(rows, board, options={"cpus_lend": False}).simulate())[1] == "refused"


@pytest.mark.parametrize(
    ("target", "cards"),
    [
        (Preferred(cards="c2"), [2, 0, 1, 3]),
        (Preferred(cards="c3 c1"), [1, 3, 0, 2]),
        (Bind(cards="c3 c1"), [1, 3, -1, -1]),
        (Bind(cards="c0"), [0, -1, -1, -1]),
    ],
)
def test_numa_policies_name_cards(target, cards):
    record = Case(requests(*((k, 60) for k in range(4))), line(100, 100, 100, 100), {"target": target}).simulate()
    assert record.card.tolist() == cards


def test_a_card_that_the_board_does_not_have_is_refused():
    case = Case(requests((1, 60)), line(100, 100), {"target": Bind(cards="c1 c7")})
    says = "policy.target.bind.cards: unknown card 'c7'; there are c0, c1. Did you mean c1?"
    assert refusal(Pool().validate, case.setup(), 1) == refusal(case.simulate) == says


def test_no_cache_calls_the_driver_at_every_request():
    record = one_card(100, (1, 40), (2, 40), (1,), (2,), cache=NoCache())
    assert measure(record)["driver_calls_per_request"] == 1
    assert cached(record)[0].max() == 0


def test_pytorch_constants_at_work():
    mib = 1 << 20
    record = one_card(100 * mib, (1, 100), (2, 3 * mib), (3, 30 * mib + 1), (4, 600), cache=PytorchCaching())
    assert record.calls[:, 3].tolist() == [2 * mib, 20 * mib, 32 * mib]
    assert record.taken.tolist() == [512, 3 * mib, 30 * mib + 512, 1024]


def test_stitching_serves_from_blocks_that_lie_apart():
    mib = 1 << 20
    message = ((1, 10 * mib), (2, 4 * mib), (3, 10 * mib), (1,), (3,), (4, 15 * mib), (4,), (5, 10 * mib))
    record = one_card(24 * mib, *message, cache=Stitching())
    assert came_of(record)[5:] == ["stitched", "released", "cached"]
    assert record.taken[5] == 15 * mib
    assert record.mappings.tolist() == [0, 0, 0, 0, 0, 5 + 1 + 3 + 1, 5 + 3, 0], "10 and 5 MiB, by chunks of 2 MiB"
    assert one_card(24 * mib, *message).outcome[5] == OUTCOMES.index("refused")


@pytest.mark.parametrize("metric", ["largest_cached_or_physical", "sum_cached_or_physical", "sum_all"])
def test_a_lender_stitches_too(metric):
    """Card 0 has 4 MiB; card 1 is left with two cached blocks of 10 MiB, and nobody has 15 MiB in one piece."""
    mib = 1 << 20
    rows = requests((1, 10 * mib), (2, 4 * mib), (3, 10 * mib), (1,), (3,), card=1)
    rows += requests((4, 15 * mib), (4,))
    rows = [(k, *row[1:]) for k, row in enumerate(rows)]
    options = {"free_metric": metric, "driver_map_ns": 7, "service_ns": 100}
    record = Case(rows, line(4 * mib, 24 * mib), {"cache": Stitching()}, options).simulate()
    assert (came_of(record)[5:], record.card[5]) == (["stitched", "released"], 1)
    assert record.mappings.tolist() == [0, 0, 0, 0, 0, 10, 8]
    assert (record.done[5:] - record.done[4:6]).tolist() == [100 + 70, 100 + 56]
    assert measure(record)["mapping_calls_per_request"] == 18 / 7


def test_segments_grow_at_their_end_and_give_pages_back_from_inside():
    """A card of three pages of 20 MiB. Where everything lies is worked out below, in MiB."""
    mib = 1 << 20
    messages = [(1, 30 * mib), (2, 12 * mib), (1,), (3, 100), (4, 25 * mib), (3,), (5, 25 * mib)]
    record = one_card(60 * mib, *messages, cache=ExpandableSegments())
    assert came_of(record) == ["physical", "physical", "released", "physical", "refused", "released", "physical"]
    span = 80 * mib  # nine eighths of 60 MiB in whole pages: there the small pool's addresses begin
    assert [(row, at / mib, size / mib) for row, _, at, size in record.calls.tolist()] == [
        (0, 0, 40),  # 0 to 30 in use, 30 to 40 cached
        (1, 40, 20),  # 30 to 42 in use, 42 to 60 cached
        (3, 0, -20),  # of 0 to 30, which is free, only the first page is wholly so
        (3, 80, 2),  # the small pool's first page
        (6, 80, -2),  # at request 4 a page of 20 is needed and 18 are free; now the small page is free as well
        (6, 0, 20),  # 0 to 20, of which with the 10 behind it 25 are in use
    ]
    assert record.identifier[[0, 1, 3, 6]].tolist() == [0, 30 * mib, span, 0]
    assert record.mappings.tolist() == [2 + 1, 1 + 1, 0, 1 + 1 + 1, 0, 0, 1 + 1 + 1]
    assert measure(record)["granted_bytes"] == (30 + 12 + 25) * mib + 100
    assert measure(record)["granted_bytes_rate"] == ((30 + 12 + 25) * mib + 100) / ((30 + 12 + 25 + 25) * mib + 100)


def test_a_segment_begins_where_no_addresses_have_room():
    """A card of 60 MiB, pages of 10, segments of 70: 30 to 40 stays in use, so that no 50 are left in the first one."""
    mib = 1 << 20
    messages = [(1, 30 * mib), (2, 10 * mib), (1,), (3, 50 * mib), (3,), (4, 100)]
    record = one_card(60 * mib, *messages, cache=ExpandableSegments(large_page=10 * mib))
    assert came_of(record) == ["physical", "physical", "released", "physical", "released", "physical"]
    assert [it // mib for it in record.identifier[[0, 1, 3, 5]].tolist()] == [0, 30, 70, 140]


def test_a_limit_unmaps_the_highest_free_pages():
    mib = 1 << 20
    messages = [(1, 30 * mib), (2, 30 * mib), (1,), (2,)]
    idle = LeastRecentlyUsed(limit_bytes_a_card=15 * mib)
    record = one_card(60 * mib, *messages, cache=ExpandableSegments(large_page=10 * mib), idle_release=idle)
    assert record.calls[2:, 2:].tolist() == [[10 * mib, -20 * mib], [30 * mib, -30 * mib]]
    assert cached(record)[0].tolist() == [0, 0, 10 * mib, 10 * mib]


HOLES = ((1, 4), (2, 2), (3, 2), (4, 2), (1,), (3,))
"""Of 10 bytes, from the bottom or from the top, 4 are free, 2 are not, 2 are free, 2 are not."""


@pytest.mark.parametrize(
    ("driver", "cards"),
    [
        (placement.ByteCounter(), [0, 0]),
        (placement.PagedMemory(), [0, 0]),
        (placement.FirstFit(), [0, 1]),
        (placement.BestFit(), [0, 0]),
        (placement.LastFit(), [0, 1]),
    ],
)
def test_a_drivers_allocation_lies_in_one_run(driver, cards):
    """Another 2 bytes, then 4, which are left in one run only if the 2 went into the smaller hole."""
    policies = {"cache": NoCache(), "driver": driver}
    rows = requests(*HOLES, (5, 2), (6, 4))
    record = Case(rows, line(10, 10), policies, {"driver_granule": 1}).simulate()
    assert record.card[6:].tolist() == cards


def test_a_driver_deals_in_granules_and_policies_round_as_they_do():
    message, options = requests((1, 5), (2, 9), (3, 1)), {"driver_granule": 4}
    first = Case(message, line(23), {"driver": placement.FirstFit()}, options).simulate()
    assert came_of(first) == ["physical", "physical", "refused"], "2 and 3 granules of 5"
    assert reserved(first)[0].tolist() == [5, 14, 14]
    more = [(9, 0, 0, ALLOC, 4, 5), (9, 0, 0, FREE, 2, 0), (9, 0, 0, ALLOC, 5, 16)]
    buddy = Case([*message, *more], line(35), {"cache": NoCache(), "driver": placement.Buddy()}, options).simulate()
    assert came_of(buddy) == ["physical"] * 3 + ["refused", "released", "physical"], "2, 4 and 1 granule of 8; 4 again"
    unrounded = Case([*message, *more[:1]], line(35), {"driver": placement.FirstFit()}, options).simulate()
    assert came_of(unrounded) == ["physical"] * 4, "2, 3, 1 and 2 of 8"


def test_a_driver_with_a_list_of_its_own_is_told_of_what_comes_back():
    """8 to 11 came back before 0 to 5: 4 go there, and the 6 stay whole for the last one."""
    message = requests((1, 6), (2, 2), (3, 4), (4, 4), (3,), (1,), (5, 4), (6, 6))
    policies = {"cache": NoCache(), "driver": placement.UnsortedFreeList()}
    assert came_of(Case(message, line(16), policies, {"driver_granule": 1}).simulate())[6:] == ["physical"] * 2
    policies = {"cache": NoCache(), "driver": placement.FirstFit()}
    assert came_of(Case(message, line(16), policies, {"driver_granule": 1}).simulate())[6:] == ["physical", "refused"]


def test_a_flush_makes_room_in_one_run():
    rows = requests((1, 4), (2, 4), (1,), (2,), (3, 8))
    policies = {"cache": SplitAndCoalesce(flush_before_remote=True), "driver": placement.FirstFit()}
    assert came_of(Case(rows, line(10), policies, {"driver_granule": 1}).simulate())[4] == "physical"


@pytest.mark.parametrize(
    ("policies", "says"),
    [
        (
            {"driver": placement.Compaction()},
            "policy.driver: compaction moves what is allocated, which a driver cannot",
        ),
        (
            {"driver": placement.FirstFit(), "cache": ExpandableSegments()},
            "policy.driver: first_fit places each allocation in one run, but expandable_segments maps pages wherever ",
        ),
    ],
)
def test_a_driver_that_makes_no_sense_is_refused_in_one_sentence(policies, says):
    case = Case(requests((1, 5)), line(10), policies)
    assert refusal(Pool().validate, case.setup(), 1) == refusal(case.simulate)
    assert refusal(case.simulate).startswith(says)


def test_links_are_shared_fairly():
    board = line(1, 100, 1, gbps=(10.0, 10.0))
    rows = [(0, 0, 0, ALLOC, 1, 50), (0, 1, 2, ALLOC, 2, 50), (0, 0, 0, ALLOC, 3, 25)]
    cards = [it.but(memory_bytes=2 if k != 1 else 200) for k, it in enumerate(board.cards)]
    record = Case(rows, board.but(cards=tuple(cards))).simulate()
    assert record.access_ns.tolist() == [7.5, 5.0, 5.0]
    assert record.access_alone_ns.tolist() == [5.0, 5.0, 2.5]
    ported = [it.but(port_gbps=10.0) if k == 1 else it for k, it in enumerate(cards)]
    assert Case(rows, board.but(cards=tuple(ported))).simulate().access_ns.tolist() == [12.5, 12.5, 7.5]


def test_a_channel_is_shared_by_its_links():
    board = line(2, 200, 2, gbps=(10.0, 10.0))
    rows = [(0, 0, 0, ALLOC, 1, 50), (0, 1, 2, ALLOC, 2, 50)]
    links = (board.links[0].but(between="c1 c0", channel="x"), board.links[1].but(channel="x"))
    assert Case(rows, board.but(links=links)).simulate().access_ns.tolist() == [10.0, 10.0]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ((0, 0, 0, ALLOC, 1, 101), "request 1 asks for 101 bytes; the largest card has 100."),
        ((0, 0, 0, ALLOC, 1, 0), "request 1 asks for 0 bytes; a region has at least 1."),
        ((0, 0, 2, ALLOC, 1, 1), "request 1 comes from card 2; the board's cards are 0 to 1."),
        ((-1, 0, 0, ALLOC, 1, 1), f"request 1: time must be a whole number from 0 to {2**56 - 1}. Got -1. Nearest: 0."),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_in_one_sentence(row, says):
    case = Case([(0, 0, 0, ALLOC, 0, 1), row], line(100, 50))
    assert refusal(Pool().validate, case.setup(), 1) == refusal(case.simulate) == says


class Impostor(CacheFit):
    """Names a block that is not there."""

    def answer(see):
        return see.first


class Squatter(placement.Placement):
    """Places everything at the first granule."""

    def answer(see):
        return 0


class Twice(placement.Placement):
    """The lowest free granules, two times; it counts how often it is asked."""

    def answer(see):
        see.memory[0] += 1
        return next_free(see.free, 0) if see.memory[0] <= 2 else -1


def test_a_driver_that_is_asked_whether_it_could_forgets_it():
    """Card 0 has its two; of card 1 it is asked first whether it has room at all."""
    rows = requests(*((k, 10) for k in range(5)))
    record = Case(rows, line(100, 100), {"driver": Twice()}, {"driver_granule": 1}).simulate()
    assert record.card.tolist() == [0, 0, 1, 1, -1]


class Ghost(IdleRelease):
    """Names what is no driver allocation."""

    def limit_bytes(self):
        return 0

    def answer(see):
        return see.oldest + 1


class Nobody(Target):
    """Scores that are no numbers."""

    def answer(see):
        for k in range(see.count):
            see.scores[k] = np.nan


@pytest.mark.parametrize(
    ("slot", "policy", "says"),
    [
        ("cache_fit", Impostor(), r"impostor \(cache_fit\) answered block 0, .* at request 1 \(9 bytes, from card 0\)"),
        ("idle_release", Ghost(), r"ghost \(idle_release\) answered 1, which is not a driver allocation"),
        (
            "driver",
            Squatter(),
            r"squatter \(driver\) answered 0, which is not the start of a free range.* at request 1 \(9 bytes",
        ),
        ("target", Nobody(), r"nobody \(target\) gave card 1 a score that is no number"),
    ],
)
def test_a_policy_that_breaks_its_contract_is_named(slot, policy, says):
    with pytest.raises(PolicyError, match=says):
        Case(requests((1, 5), (2, 9), (3, 90), (1,)), line(100, 100), {slot: policy}, {"driver_granule": 1}).simulate()


def test_users_policies_run_compiled():
    class Slowest(Target):
        """The narrowest path first."""

        def answer(see):
            for k in range(see.count):
                see.scores[k] = -see.gbps[see.cards[k]]

    board = line(100, 100, 100, gbps=(50.0, 20.0))
    assert Case(requests((1, 90), (2, 90)), board, {"target": Slowest()}).simulate().card.tolist() == [0, 2]
    assert Case(requests((1, 90), (2, 90)), board, {"target": MaxBandwidth()}).simulate().card.tolist() == [0, 1]
