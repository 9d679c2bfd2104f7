"""Rules of specification 7 without a vector under its slow twin: small cases by hand, and laws over random cases."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any

import pytest

from tests.oracles.between_cases import cases, kernel_sets, mig_requests, uses
from tests.oracles.between_coresident import RULES, coresident
from tests.oracles.between_mig import COMPUTE_SLICES, PROFILES, place
from tests.oracles.between_queue_and_unit import Result, play
from tests.oracles.between_state import Case, Group, Levers, Machine, Resource, refusals
from tests.oracles.between_undefined import UNDEFINED
from tests.oracles.test_between_queue_and_unit import ends, group, in_chunks, machine, modules, run, shared, starts


def test_most_free_die_sums_over_the_modules_of_a_die() -> None:
    die = {"name": "most_free_die", "resource": "slots"}
    assert modules(run(machine([1, 2]), [group()] * 3, die=die)) == [1, 0, 2]


def test_most_free_die_counts_all_free_blocks_of_a_contiguous_resource() -> None:
    blocks = Machine([1, 2], [Resource("slots", 4, kind="contiguous")])
    die = {"name": "most_free_die", "resource": "slots"}
    assert modules(run(blocks, [group(4), group(2), group(2), group(2)], die=die)) == [1, 0, 2, 0]


def test_contiguous_resources_fit_only_in_one_run() -> None:
    blocks = Machine([1], [Resource("slots", 4, kind="contiguous")])
    groups = [group(1, 10), group(1, 30), group(1, 10), group(1, 30), group(2)]
    assert starts(run(blocks, groups)) == [0, 0, 0, 0, 30]


@pytest.mark.parametrize(("spread", "expected"), [(False, [0, 0, 1, 1]), (True, [0, 1, 0, 1])])
def test_spread_takes_no_module_twice(spread: bool, expected: list[int]) -> None:
    assert modules(run(machine([2], 2), [group()] * 4, {0: 2}, spread=spread)) == expected


def test_a_cluster_that_does_not_fit_leaves_the_memory_of_the_choice() -> None:
    groups = [group(kernel=1, channel=1), *[group()] * 6, group(kernel=2, channel=2)]
    result = run(machine([4]), groups, {0: 6}, choice="round_robin", selection="strict_priority")
    assert (modules(result), result.outcome) == ([0, None, None, None, None, None, None, 1], "hung")


def test_exclusive_waits_for_an_empty_module() -> None:
    groups = [group(1, 30), group(kernel=1, channel=1)]
    assert starts(run(machine([1], 2), groups, admission={"name": "exclusive"})) == [0, 30]


@pytest.mark.parametrize(("others", "expected"), [("everywhere", [1, 0]), ("nowhere", [1, None])])
def test_partitions_list_modules(others: str, expected: list[int | None]) -> None:
    admission = {"name": "partition_by_channel", "modules": {0: [1]}, "others": others}
    result = run(machine([2]), [group(), group(channel=1)], admission=admission)
    assert modules(result) == expected
    assert [lack.why for lack in result.lacks] == (["not_admitted"] if others == "nowhere" else [])


def test_a_head_that_was_told_to_wait_names_its_die() -> None:
    result = run(machine([1, 1]), [group(endless=True), group(endless=True, channel=1), group()], die=in_chunks(3))
    assert (result.outcome, starts(result)) == ("hung", [0, None, None])
    assert [(lack.group, lack.why, lack.die) for lack in result.lacks] == [
        (1, "told_to_wait", 0),
        (2, "told_to_wait", 0),
    ]


def test_sub_groups_keep_one_number() -> None:
    """The rounds of cycles 1 to 3 fail and the third splits. Both sub-groups have number 1, the next group number 2."""
    waves = Machine([2, 2], [Resource("slots", 1), Resource("wave_slots", 1, "unit")])
    demand = {"slots": 1, "wave_slots": 1}
    groups = [Group(demand, 20, channel=1), Group(demand, 5, waves=2, independent=True), Group(demand, 5)]
    result = run(waves, groups, die=in_chunks(1, "all"), split_threshold=2, selection="strict_priority")
    assert [(row.part, row.start, row.module) for row in result.parts] == [(0, 4, 2), (1, 4, 3)]
    assert (starts(result), modules(result)) == ([0, 4, 4], [0, None, 1])
    assert result.failed_rounds == 3


def test_instructions_follow_the_rate_and_wait_at_a_barrier() -> None:
    groups = [group(1, 4, instructions=40), group(1, 4, instructions=40, barrier=0, arrival=1)]
    groups += [group(1, 4, barrier=0, arrival=3)]
    result = run(machine([2], 2), groups, progress=shared("linear", "1"))
    assert ends(result) == [7, 9, 7]
    assert [int(result.issued[0, cycle]) for cycle in range(9)] == [10, 5, 5, 10, 10, 10, 10, 10, 10]


def test_every_open_point_says_what_the_twin_does() -> None:
    assert all(name and text.endswith(".") for name, text in UNDEFINED.items())


@pytest.fixture(scope="module")
def played() -> list[tuple[Case, Result]]:
    """Return random cases and what the twin does with them."""
    return [(case, play(case)) for case in cases(120, 7)]


def test_cases_are_the_same_from_the_same_seed(played: list[tuple[Case, Result]]) -> None:
    assert [case for case, _ in played[:20]] == list(cases(20, 7))
    assert all(not refusals(case) for case, _ in played)


def test_cases_end_in_both_ways_and_use_every_lever(played: list[tuple[Case, Result]]) -> None:
    outcomes = Counter(result.outcome for _, result in played)
    assert min(outcomes["finished"], outcomes["hung"]) >= len(played) // 6
    used = {name for case, _ in played for name in uses(case)}
    levers = {"choice": 4, "selection": 4, "concurrency": 3, "die": 10, "admission": 7, "progress": 7}
    assert {key: sum(name.split()[0] == key for name in used) for key in levers} == levers


def test_modules_never_hold_more_than_they_have(played: list[tuple[Case, Result]]) -> None:
    for case, result in played:
        for rows in _rows_by_module(result).values():
            for cycle in {row.start for row in rows}:
                held = [row for row in rows if row.start <= cycle and (row.end is None or row.end > cycle)]
                _check_totals(case, held)


def _rows_by_module(result: Result) -> dict[int, list[Any]]:
    rows = defaultdict(list)
    for row in [*result.groups, *result.parts]:
        if row.module is not None and row.start is not None:
            rows[row.module].append(row)
    return rows


def _check_totals(case: Case, held: list[Any]) -> None:
    waves = [1 if row.part >= 0 else case.groups[row.group].waves for row in held]
    for resource in case.machine.resources:
        amounts = [case.groups[row.group].demand.get(resource.name, 0) for row in held]
        if resource.level == "unit":
            amounts = [count * amount for count, amount in zip(waves, amounts)]
        assert sum(amounts) <= resource.total * (case.machine.units if resource.level == "unit" else 1)
    if case.machine.barriers_a_module:
        assert sum(count > 1 for count in waves) <= case.machine.barriers_a_module


def test_channels_keep_their_order(played: list[tuple[Case, Result]]) -> None:
    for case, result in played:
        last: dict[int, float] = {}
        for row, each in zip(result.groups, case.groups):
            time = math.inf if row.dispatched is None else row.dispatched
            assert time >= max(last.get(each.channel, 0), each.arrival)
            last[each.channel] = time


def test_clusters_start_as_one(played: list[tuple[Case, Result]]) -> None:
    started = 0
    for case, result in played:
        for kernel, size in case.clusters.items():
            rows = [row for row, each in zip(result.groups, case.groups) if each.kernel == kernel]
            for first in range(0, len(rows), size):
                cluster = rows[first : first + size]
                assert len({row.start for row in cluster}) == 1
                if cluster[0].start is not None:
                    started += 1
                    assert len({case.machine.die_of(row.module) for row in cluster}) == 1
                    assert not case.levers.spread or len({row.module for row in cluster}) == size
    assert started > 20


def test_durations_begin_when_the_barrier_passes(played: list[tuple[Case, Result]]) -> None:
    for case, result in played:
        if case.levers.progress["name"] != "constant":
            continue
        for row, each in zip(result.groups, case.groups):
            if row.end is None or each.endless or row.module is None:
                continue
            members = [result.groups[n].start for n, other in enumerate(case.groups) if other.barrier == each.barrier]
            begin = row.start if each.barrier == -1 else max(members)
            assert row.end == begin + each.duration


def test_hung_runs_name_what_every_waiting_group_lacks(played: list[tuple[Case, Result]]) -> None:
    for case, result in played:
        waiting = {row.group for row in result.groups if row.start is None}
        if result.outcome == "hung":
            assert {lack.group for lack in result.lacks} == waiting
            assert result.groups_never_started == len(waiting)
            times = [
                time for row in [*result.groups, *result.parts] for time in (row.start, row.end) if time is not None
            ]
            assert result.hung_at_cycle >= max([*times, *(each.arrival for each in case.groups)])
        else:
            assert all(case.groups[row].endless for row in waiting)


def test_co_residence_of_random_kernels() -> None:
    answers = [coresident(case) for case in kernel_sets(60, 3)]
    hanging = [sum(answer.hangs.values()) for answer in answers]
    assert set(hanging) >= {0, 1, 2, len(RULES)}
    assert {None, 0, 1} <= {answer.closed_modules for answer in answers}
    assert all((answer.closed_modules == 0) == (not any(answer.hangs.values())) for answer in answers)


def test_mig_instances_do_not_overlap() -> None:
    for requests in mig_requests(200, 5):
        for choose in (min, max):
            placed = [(name, start) for name, start in zip(requests, place(requests, choose)) if start is not None]
            slices = [slice_ for name, start in placed for slice_ in range(start, start + PROFILES[name][0])]
            assert len(slices) == len(set(slices))
            assert sum(PROFILES[name][1] for name, _ in placed) <= COMPUTE_SLICES


@pytest.mark.parametrize(
    ("groups", "clusters", "levers", "requirement"),
    [
        ([group()] * 3, {0: 2}, {}, "R10"),
        ([group(), group(priority=2)], {0: 2}, {}, "R10"),
        ([group(), group(kernel=1), group()], {0: 2}, {}, "R10"),
        ([group()] * 2, {0: 2}, {"pending_depth": 1}, "R14"),
        ([group(endless=True)], {}, {}, "R16"),
        ([group(), group(kernel=1), group()], {}, {"concurrency": "leftover"}, "R21"),
        ([group()] * 2, {}, {"progress": shared("linear", "9999999")}, "R25"),
        ([group()], {}, {"progress": shared("capacity", "0.5")}, "R24"),
    ],
)
def test_refusals(groups: list[Group], clusters: dict[int, int], levers: dict[str, Any], requirement: str) -> None:
    faults = refusals(Case(machine([2]), groups, Levers(**levers), clusters))
    assert faults and faults[0].startswith(requirement)
