"""Measures by hand, and blame by removal (spec 6, section 7)."""

from __future__ import annotations

import pytest

from tests.oracles.node.blame import blame, without
from tests.oracles.node.calendar import Calendar
from tests.oracles.node.conservation import broken
from tests.oracles.node.description import Node
from tests.oracles.node.gauge import Gauge
from tests.oracles.node.measures import measures, power_windows, speeds
from tests.oracles.node.node import simulate
from tests.oracles.node.random_nodes import random_node
from tests.oracles.node.small import card, groups_of, kernel, run, tensor
from tests.oracles.node.times import PARTS, parts_of

pytestmark = pytest.mark.slow


def test_of_a_queue_of_groups() -> None:
    result = measures(run([card(2)], [{"streams": [kernel(5)]}]))
    assert result["makespan_cycles"] == 300
    assert result["groups_per_second"] == pytest.approx(5 / 300e-9)
    assert (result["group_p50_cycles"], result["group_p99_cycles"]) == (200, 300)
    assert result["group_p99_parts"]["channel"] == 200


def test_fragmentation_is_a_mean_over_time() -> None:
    """Of 16 segments 4-7 and 12-15 are free for 200 of 300 cycles: half of what is free is in no longest run."""
    streams = [[kernel(1, {"compute": time}, shared_segments=4)] for time in (300, 100, 300, 100)]
    result = run([card(16, dispatch={"shared_segments": 16})], [{"streams": streams}])
    assert measures(result)["fragmentation_shared"] == pytest.approx(0.5 * 200 / 300)


def test_reserved_over_live() -> None:
    """Half of the time 2 MiB are in use, all of the time they are reserved."""
    result = run([card()], [{"streams": [tensor("a"), kernel(tensors=("a",)), {"free": "a"}, kernel()]}])
    assert measures(result)["reserved_over_live"] == pytest.approx(2.0)


def test_remote_share() -> None:
    steps = [tensor("a"), tensor("b"), kernel(2, {"touches": ({"tensor": "a"}, {"tensor": "b"}, {"tensor": "b"})})]
    cards = [card(memory_bytes=2**21), card(memory_bytes=2**21)]
    result = run(cards, [{"streams": steps}], {"memory": "wait"}, machine={"links": [{"cards": (0, 1)}]})
    assert measures(result)["remote_share"] == pytest.approx(2 / 3)


def test_shootdowns_are_counted_once_a_module() -> None:
    """Two groups on two modules hold four pages each; the free is one shoot-down that stalls two modules."""
    touch = {"touches": ({"tensor": "a", "pattern": "shared"},)}
    result = run([card(1, modules=2)], [{"streams": [tensor("a", 4), kernel(2, touch), {"free": "a"}]}])
    assert (measures(result)["shootdowns"], measures(result)["stalled_modules"]) == (1, 2)


def test_power() -> None:
    """One module of two executes 1,536 instructions of 2 pJ at 1,000 MHz, in a window and a half of 1,024 cycles."""
    phase = {"compute": 1536, "instructions": {"load": 1536}}
    result = run([card(1, modules=2)], [{"streams": [kernel(1, phase)]}])
    assert power_windows(result, 1024, {"load": 2.0}, 0.5) == [[0.502, 0.5], [0.502, 0.5]]


def test_a_mean_ends_with_the_makespan() -> None:
    """A value of 1 until cycle 30, then 3: the mean of 50 cycles is (30 + 60) / 50, whatever comes at 70."""
    calendar = Calendar()
    gauge = Gauge(calendar, 1)
    for calendar.now, value in ((30, 3), (70, 9)):
        gauge.set(value)
    assert (gauge.mean(50), gauge.mean(100)) == (1.8, (30 + 120 + 270) / 100)


def test_speeds() -> None:
    applications = [{"streams": [kernel()]}, {"priority": 2, "streams": [kernel()]}]
    result = run([card(1)], applications)
    assert speeds(result) == [1.0, 0.5]


def queueing() -> Node:
    touch = {"compute": 100, "touches": ({"tensor": "a"},)}
    return run([card(4)], [{"streams": [tensor("a", 4), kernel(4, touch)]}], {"touches_hold": "group"}).node


def test_blame_of_one_walker() -> None:
    """Four walks of 400 cycles one after the other: with many walkers the last group ends 1,200 cycles sooner."""
    result = blame(queueing())
    assert result["walkers"] == 1200
    assert result["translation"] == 1600
    assert result["compute"] == 100
    assert {name for name in PARTS if not result[name]} == {
        *("memory", "channel", "issue", "link", "malloc lock", "malloc service", "heap chunk", "shoot-down")
    }


REMOVED = ("channel", "compute", "walkers", "link", "malloc lock", "malloc service", "heap chunk", "shoot-down")


@pytest.mark.parametrize("part", REMOVED)
@pytest.mark.parametrize("seed", [2, 5, 12])
def test_what_is_removed_is_gone(seed: int, part: str) -> None:
    result = simulate(without(Node.of(random_node(seed)), part))
    ended = [group for group in groups_of(result) if group.ended_at is not None]
    assert [parts_of(result, group)[part] for group in ended] == [0] * len(ended)
    assert [law for law in broken(result) if "parts" in law] == []
