"""The vectors of specification 7 under its slow twin, with the figures of the page."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.between_coresident import coresident, hangs
from tests.oracles.between_mig import modules_of, place
from tests.oracles.between_queue_and_unit import Result, play
from tests.oracles.between_state import Case, Group, Levers, Machine, Resource, groups_a_module


def machine(dies: list[int], slots: int = 1, **more: Any) -> Machine:
    """Return modules with one countable resource."""
    return Machine(dies, [Resource("slots", slots)], **more)


def group(slots: int = 1, duration: int = 10, **more: Any) -> Group:
    return Group({"slots": slots}, duration, **more)


def run(machine: Machine, groups: list[Group], clusters: dict[int, int] | None = None, **levers: Any) -> Result:
    return play(Case(machine, groups, Levers(**levers), clusters or {}))


def starts(result: Result) -> list[int | None]:
    return [row.start for row in result.groups]


def ends(result: Result) -> list[int | None]:
    return [row.end for row in result.groups]


def modules(result: Result) -> list[int | None]:
    return [row.module for row in result.groups]


def dies_of(result: Result, machine: Machine) -> list[int]:
    return [machine.die_of(row.module) for row in result.groups if row.module is not None]


NEEDED = [group(1, barrier=0)] * 2 + [group(2, barrier=0, kernel=1)] * 3


def test_v1_round_robin_hangs() -> None:
    result = run(machine([4], 2), NEEDED, choice="round_robin")
    assert modules(result) == [0, 1, 2, 3, None]
    assert (result.outcome, result.hung_at_cycle) == ("hung", 0)
    assert (result.groups_never_started, result.groups_at_barrier) == (1, 4)
    assert [(lack.group, lack.why, lack.module, lack.missing) for lack in result.lacks] == [
        (4, "lacks", 0, {"slots": 1})
    ]


def test_v1_first_module_ends() -> None:
    result = run(machine([4], 2), NEEDED)
    assert modules(result) == [0, 0, 1, 2, 3]
    assert (result.outcome, ends(result)) == ("finished", [10] * 5)


def test_v1_with_one_dispatch_a_round() -> None:
    result = run(machine([4], 2), NEEDED, choice="round_robin", dispatches_a_round=1)
    assert (starts(result), result.hung_at_cycle) == ([0, 1, 2, 3, None], 3)
    result = run(machine([4], 2), NEEDED, dispatches_a_round=1)
    assert (starts(result), ends(result)) == ([0, 1, 2, 3, 4], [14] * 5)


@pytest.mark.parametrize(
    ("dies", "clusters"),
    [([18, 18, 18, 16, 16, 16, 16, 14], 15), ([18, 18, 16, 16, 16, 16, 16, 16], 16), ([18] * 5 + [14] * 3, 13)],
)
def test_v2_clusters_of_eight(dies: list[int], clusters: int) -> None:
    assert sum(dies) == 132
    result = run(machine(dies), [group()] * 136, {0: 8})
    assert starts(result).count(0) == 8 * clusters
    assert {15: 120, 16: 128, 13: 104}[clusters] == 8 * clusters


@pytest.mark.parametrize(("binding", "expected"), [("bound", [0, 0, 100]), ("skip", [0, 0, 10])])
def test_v3_binding(binding: str, expected: list[int]) -> None:
    die = {"name": "round_robin_dies", "by": "kernel", "chunk": 1, "binding": binding}
    assert starts(run(machine([1, 1]), [group(1, 100), group(), group()], die=die)) == expected


def in_chunks(chunk: int, by: str = "kernel", binding: str = "bound") -> dict[str, Any]:
    return {"name": "round_robin_dies", "by": by, "chunk": chunk, "binding": binding}


CONTIGUOUS = {"name": "contiguous_dies"}


@pytest.mark.parametrize(
    ("die", "expected"),
    [
        (in_chunks(2), [0, 0, 1, 1, 0, 0]),
        (CONTIGUOUS, [0, 0, 0, 1, 1, 1]),
        (in_chunks(1), [0, 1, 0, 1, 0, 1]),
    ],
)
def test_v4_which_die(die: dict[str, Any], expected: list[int]) -> None:
    two = machine([4, 4])
    assert dies_of(run(two, [group()] * 6, die=die), two) == expected


def test_v5_barrier_and_late_arrival() -> None:
    result = run(machine([1], 2), [group(barrier=0), group(barrier=0, arrival=30)])
    assert (starts(result), ends(result)) == ([0, 30], [40, 40])


def test_v6_groups_a_module() -> None:
    answers = [groups_a_module(waves, wave_slots=32, barriers_a_module=16) for waves in (1, 2, 3)]
    assert [answer[0] for answer in answers] == [32, 16, 10]
    assert answers[1][2] == ["wave_slots", "barriers"]


@pytest.mark.parametrize(("waves", "count"), [(1, 32), (2, 16), (3, 10)])
def test_v6_in_a_run(waves: int, count: int) -> None:
    slots = Machine([1], [Resource("wave_slots", 32, "unit")], barriers_a_module=16)
    result = run(slots, [Group({"wave_slots": 1}, 10, waves=waves)] * 40)
    assert starts(result).count(0) == count


@pytest.mark.parametrize(("share", "round_", "count"), [("0.5", "down", 4), ("0.3", "down", 2), ("0.3", "up", 3)])
def test_v7_share_by_channel(share: str, round_: str, count: int) -> None:
    admission = {"name": "share_by_channel", "share": share, "round": round_}
    groups = [group()] * 9 + [group(channel=1)] * 9
    result = run(machine([8]), groups, admission=admission, selection="strict_priority")
    assert starts(result)[:9].count(0) == count
    assert starts(result)[9:].count(0) == count


@pytest.mark.parametrize("round_", ["down", "up"])
def test_v7_decimals_are_exact(round_: str) -> None:
    admission = {"name": "share_by_channel", "share": "0.07", "round": round_}
    assert starts(run(machine([100]), [group()] * 9, admission=admission)).count(0) == 7


def shared(law: str, value: Any, of: str = "groups") -> dict[str, Any]:
    return {"name": "shared_rate", "law": law, "value": value, "of": of}


@pytest.mark.parametrize(
    ("progress", "second", "expected"),
    [
        (shared("linear", "1"), 0, [200, 200]),
        (shared("linear", "1"), 50, [150, 200]),
        (shared("capacity", "2"), 50, [100, 150]),
        (shared("table", ["1", "0.5"]), 50, [150, 200]),
    ],
)
def test_v8_shared_rates(progress: dict[str, Any], second: int, expected: list[int]) -> None:
    result = run(machine([1], 2), [group(1, 100), group(1, 100, arrival=second)], progress=progress)
    assert ends(result) == expected


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        (["3g", "3g", "4g"], [0, 4, None]),
        (["4g", "3g"], [0, 4]),
        (["2g", "2g", "2g", "1g"], [0, 2, 4, 6]),
        (["1g"] * 8, [0, 1, 2, 3, 4, 5, 6, None]),
    ],
)
def test_v9_mig(requests: list[str], expected: list[int | None]) -> None:
    assert place(requests) == expected


def test_v9_mig_from_the_highest_start() -> None:
    assert place(["3g", "4g"], max) == [4, 0]
    assert modules_of(["3g", "4g", "4g"], [4, 0, None], {"3g": 42, "4g": 56}) == [42, 56, 0]


@pytest.mark.parametrize("channel", [0, 1])
@pytest.mark.parametrize(("concurrency", "expected"), [("leftover", [0, 0, 10, 10]), ("serialise", [0, 0, 10, 20])])
def test_v10_kernels_in_turn(channel: int, concurrency: str, expected: list[int]) -> None:
    groups = [group()] * 3 + [group(kernel=1, channel=channel)]
    assert starts(run(machine([2]), groups, concurrency=concurrency)) == expected


def test_v10_a_kernel_that_arrives_in_pieces() -> None:
    groups = [group(), group(kernel=1, channel=1, arrival=5), group(arrival=20)]
    assert starts(run(machine([2]), groups, concurrency="leftover")) == [0, 20, 20]


def test_v11_round_robin_remembers_each_die() -> None:
    result = run(machine([2, 2], 2), [group()] * 4, choice="round_robin", die=in_chunks(1))
    assert modules(result) == [0, 2, 1, 3]


@pytest.mark.parametrize(("die", "expected"), [(in_chunks(1), [0, 0, 1, 1, 0, 0]), (CONTIGUOUS, [0, 0, 0, 0, 1, 1])])
def test_v12_clusters_have_one_number(die: dict[str, Any], expected: list[int]) -> None:
    two = machine([4, 4])
    assert dies_of(run(two, [group()] * 6, {0: 2}, die=die), two) == expected


@pytest.mark.parametrize(
    ("die", "expected"),
    [
        (in_chunks(1, "all"), [0, 100, 0]),
        (in_chunks(1, "kernel"), [0, 0, 100]),
        (in_chunks(1, "all", "skip"), [0, 10, 0]),
    ],
)
def test_v13_numbers_of_two_channels(die: dict[str, Any], expected: list[int]) -> None:
    groups = [group(1, 100), group(), group(kernel=1, channel=1)]
    assert starts(run(machine([1, 1]), groups, die=die)) == expected


def test_v14_queues_of_modules() -> None:
    result = run(machine([2]), [group(1, 30)] * 4, pending_depth=1)
    assert (modules(result), starts(result)) == ([0, 0, 1, 1], [0, 30, 0, 30])
    assert [row.dispatched for row in result.groups] == [0] * 4


def test_v15_endless() -> None:
    result = run(machine([2]), [group(1, 30), group(endless=True), group(arrival=50)])
    assert (starts(result), ends(result)) == ([0, 0, 50], [30, 60, 60])
    result = run(machine([1], 2), [group(endless=True), group(2)])
    assert (result.outcome, result.hung_at_cycle) == ("hung", 0)


@pytest.mark.parametrize(
    ("selection", "expected"), [("strict_blocking", [0, 20, 20, 30]), ("strict_priority", [0, 20, 20, 0])]
)
def test_v16_blocking_cluster(selection: str, expected: list[int]) -> None:
    groups = [
        group(1, 20, channel=2),
        *[group(channel=0, priority=2, kernel=1)] * 2,
        group(channel=1, priority=3, kernel=2),
    ]
    assert starts(run(machine([2]), groups, {1: 2}, selection=selection)) == expected


@pytest.mark.parametrize(
    ("progress", "groups", "expected"),
    [
        (shared("linear", "2"), [group(1, 60)] * 2, [181, 181]),
        (shared("capacity", "4", "waves"), [group(1, 60, waves=4), group(1, 60, waves=2)], [91, 91]),
        (
            shared("linear", "1"),
            [group(1, 100), group(1, 30, barrier=0), group(1, 30, barrier=0, arrival=50)],
            [186, 141, 141],
        ),
    ],
)
def test_v17_rates(progress: dict[str, Any], groups: list[Group], expected: list[int]) -> None:
    assert ends(run(machine([1], 3), groups, progress=progress)) == expected


def test_v18_co_residence() -> None:
    case = Case(machine([4], 2), NEEDED, Levers(choice_resource="slots"))
    answer = coresident(case)
    assert answer.hangs == {"first_module": False, "best_fit": False, "round_robin": True, "most_free": True}
    assert answer.closed_modules == 2


def test_v18_in_one_channel() -> None:
    case = Case(machine([4], 2), NEEDED, Levers(choice_resource="slots"))
    rules = ("first_module", "best_fit", "round_robin", "most_free")
    assert [any(hangs(case, rule, m) for rule in rules) for m in range(4)] == [True, True, True, False]
