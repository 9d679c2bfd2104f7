"""Dispatch by hand: priorities, fragmentation, splitting, rounds, affinity, history (spec 3; spec 6, R6, R15, R16)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.node.history import History
from tests.oracles.node.node import Simulation
from tests.oracles.node.policies import rotated, windows
from tests.oracles.node.small import card, ends, groups_of, kernel, run, tensor

pytestmark = pytest.mark.slow


def modules_of(result: Simulation) -> list[int]:
    return [row.value("module") for row in result.log.of("dispatch", "dispatch")]


def test_the_urgent_go_first() -> None:
    applications = [{"priority": priority, "streams": [kernel()]} for priority in (3, 1, 2)]
    assert ends(run([card(1)], applications)) == [300, 100, 200]


def test_who_fits_nowhere_blocks_nobody() -> None:
    """The urgent group needs four slots of which one is taken; the other passes it (spec 3, R8)."""
    applications = [
        {"streams": [kernel(1, {"compute": 50})]},
        {"arrival": 1, "streams": [kernel(waves=4)]},
        {"arrival": 1, "priority": 2, "streams": [kernel()]},
    ]
    assert ends(run([card(4)], applications)) == [50, 201, 101]


def test_shared_memory_must_be_one_run() -> None:
    """First fit leaves 0-3 and 8-11 taken, so that six of the eight free segments wait; nearest boundary 0-7."""
    sizes, times = [4, 4, 4, 4], [300, 100, 300, 100]
    streams = [[kernel(1, {"compute": time}, shared_segments=size)] for size, time in zip(sizes, times)]
    machine = card(16, dispatch={"shared_segments": 16})
    late = {"arrival": 150, "streams": [kernel(shared_segments=6)]}
    result = run([machine], [{"streams": streams}, late])
    assert groups_of(result)[-1].parts[0].dispatched_at == 300
    near = run([machine], [{"streams": streams}, late], policies={"shared": "nearest_boundary"})
    taken = [row.value("start") for row in near.log.of("dispatch", "take") if row.value("resource") == "shared"]
    assert taken[:4] == [0, 12, 4, 8]
    assert groups_of(near)[-1].parts[0].dispatched_at == 150


def test_units_take_turns() -> None:
    """The vectors of the corrected tail pointer (spec 3, section 4)."""
    pointer, counts = 0, []
    for waves in (3, 2, 1, 4, 5, 6, 1):
        split, pointer = rotated(waves, 4, pointer)
        counts.append((split, pointer))
    assert counts[:3] == [([0, 1, 1, 1], 3), ([1, 1, 0, 0], 1), ([0, 0, 1, 0], 2)]
    assert [sum(column) for column in zip(*(split for split, _ in counts))] == [5, 6, 6, 5]


def test_pointers_turn_with_what_is_placed() -> None:
    """One wave goes to unit 1; three fit nowhere and are asked after in vain; the next two go to units 2 and 0."""
    applications = [
        {"streams": [kernel(1, {"compute": 500})]},
        {"arrival": 5, "streams": [kernel(1, {"compute": 10}, waves=6)]},
        {"arrival": 9, "priority": 2, "streams": [kernel(1, {"compute": 10}, waves=2)]},
    ]
    result = run([card(2, dispatch={"units": 3})], applications)
    taken = [(row.cycle, row.value("unit")) for row in result.log.of("dispatch", "take")]
    assert taken[:3] == [(0, 1), (9, 0), (9, 2)]


@pytest.mark.parametrize(
    ("cycle", "order"),
    [(0, [1, 2, 3, 4]), (256, [2, 1, 3, 4]), (448, [3, 1, 2, 4]), (639, [4, 1, 2, 3]), (640, [1, 2, 3, 4])],
)
def test_windows(cycle: int, order: list[int]) -> None:
    assert windows([1, 2, 3, 4], cycle) == order


def test_rounds_keep_their_distance() -> None:
    result = run([card(9, dispatch={"round_cycles": 7, "dispatches_a_round": 2})], [{"streams": [kernel(5)]}])
    assert ends(result) == [100, 100, 107, 107, 114]


def test_a_release_is_seen_by_the_next_round() -> None:
    """Rounds fail at 7, 14, ...; the release at 100 is seen at 105."""
    result = run([card(1, dispatch={"round_cycles": 7})], [{"streams": [kernel(2)]}])
    assert ends(result) == [100, 205]


def split(threshold: int) -> Simulation:
    """Let four independent waves wait for room for four while one slot is taken until 1,000."""
    applications = [
        {"streams": [kernel(1, {"compute": 1000})]},
        {"arrival": 10, "streams": [kernel(1, {"compute": 100}, waves=4, independent=True)]},
    ]
    return run([card(4)], applications, policies={"stuck": "split_when_stuck", "stuck_threshold": threshold})


def test_a_stuck_group_is_split_after_more_failed_rounds_than_the_threshold() -> None:
    """Rounds fail from 10 on, one a cycle: the 257th at 266; a round later three waves start, the fourth at 367."""
    result = split(256)
    (row,) = result.log.of("dispatch", "split")
    assert (row.cycle, row.value("parts")) == (266, 4)
    assert [part.dispatched_at for part in groups_of(result)[1].parts] == [267, 267, 267, 367]
    assert ends(result) == [1000, 467]


def test_a_group_that_is_not_split_waits() -> None:
    assert ends(split(5000)) == [1000, 1100]


def test_affinity_follows_the_pages() -> None:
    """Groups of the second kernel go where the pages of their slice are, whatever the first choice was."""
    touch = {"compute": 10, "touches": ({"tensor": "a"},)}
    steps = [
        tensor("a", 4),
        kernel(4, touch),
        kernel(2, {"compute": 10, "touches": ({"tensor": "a"},)}),
        kernel(4, touch),
    ]
    machine = card(1, modules=4, translation={"walkers": 4})
    result = run([machine], [{"streams": steps}], {"touches_hold": "group"}, {"choice": "affinity"})
    assert modules_of(result)[:4] == [0, 1, 2, 3] == modules_of(result)[-4:]
    held = [row.value("pages") for row in result.log.of("translation", "held")]
    assert held[4:6] == [(1, 1, 0, 0), (0, 0, 1, 1)]
    recency = [core.tlb.tags for core in result.translations[0].cores]
    assert recency == [[], [], [], []], "an application that has ended holds no page"


def test_affinity_by_the_group_before() -> None:
    touch = {"compute": 10, "touches": ({"tensor": "a"},)}
    steps = [tensor("a", 4), kernel(4, touch), kernel(4, touch)]
    machine = card(1, modules=4, translation={"walkers": 4})
    couplings = {"touches_hold": "group", "pages_known": "group_before"}
    result = run([machine], [{"streams": steps}], couplings, {"choice": "affinity"})
    held = [row.value("pages") for row in result.log.of("translation", "held")]
    assert held[4:] == [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)]


def test_a_window_of_history() -> None:
    """One instruction at each of the cycles 1, 2, 3, 6; the last four cycles before 7 are 3 to 6 (spec 3, V35)."""
    history = History()
    for cycle in (1, 2, 3, 6):
        history.enter(cycle, cycle + 1, "s", 1)
    assert history.counts(3, 7) == {"s": 2}
    assert history.energy(3, 7, {"s": 2.0}) == 4.0


def stalled(**couplings: Any) -> Simulation:
    """Let 100 instructions run on module 0 and a group stall for 400 cycles on module 1; then choose for a third."""
    touch = {"compute": 10, "touches": ({"tensor": "a"},)}
    busy = {"compute": 400, "instructions": {"load": 100}}
    first = [[tensor("a"), kernel(1, touch)], [kernel(1, busy)]]
    late = {"arrival": 420, "streams": [kernel(1, {"compute": 1})]}
    return run(
        [card(1, modules=2)],
        [{"streams": first}, late],
        {"touches_hold": "group"} | couplings,
        {"choice": "least_energy"},
    )


def test_stalls_may_enter_the_history() -> None:
    assert modules_of(stalled()) == [0, 1, 1]
    assert modules_of(stalled(history=True)) == [0, 1, 0]


def test_lock_waits_may_enter_the_history() -> None:
    phase = {"compute": 10, "mallocs": (4,)}
    machine = card(8, heap={"hold_cycles": 30, "split_cycles": 0})
    result = run([machine], [{"streams": [kernel(1, phase, waves=3)]}], {"malloc": "wait", "history": True})
    spans = [span for span in result.dispatchers[0].histories[0].spans if span.kind == "lock_wait"]
    assert [(span.begin, span.end, span.amount) for span in spans] == [(10, 40, 30), (10, 70, 60)]


def test_a_kernel_may_run_where_most_of_its_bytes_lie() -> None:
    steps = [tensor("a", 2), tensor("b", 3), kernel(tensors=("a", "b"))]
    cards = [card(memory_bytes=2**22), card(memory_bytes=2**23)]
    couplings = {"memory": "wait", "kernel_card": "most_bytes"}
    result = run(cards, [{"streams": steps}], couplings, machine={"links": [{"cards": (0, 1)}]})
    assert groups_of(result)[0].key.card == 1
