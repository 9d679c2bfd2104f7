"""The vectors of spec 7, as the specification writes them: what stands between queue and unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.engines.between_twin import RefusesEven
from tests.engines.dispatch_cases import Case, Row
from workbench.engines.dispatch.lot import lot_of, when_forward
from workbench.errors import InputError
from workbench.machine.progress import Capacity, Law, Linear, SharedRate
from workbench.policies.dispatch import (
    ChannelRoundRobin,
    ContiguousDies,
    Exclusive,
    FirstModule,
    NoPriority,
    PartitionByChannel,
    RoundRobin,
    RoundRobinDies,
    ShareByChannel,
    StaticPriority,
    StrictBlocking,
)
from workbench.workloads.workload import Groups

NO_LIMIT = 64
"""Dispatches in a round."""


def played(rows: list[Row], modules: int = 1, slots: int = 1, dies: tuple[int, ...] = (), **more: Any) -> Any:
    """The record of groups that take wave slots of modules of one unit; `first_module`, no limit of a round."""
    policies: dict[str, Any] = {"choice": FirstModule(), "selection": ChannelRoundRobin(), "priority": NoPriority()}
    options = {"dispatches_a_round": NO_LIMIT, **more.pop("options", {})}
    policies |= more.pop("policies", {})
    return Case(rows, modules, slots=slots, dies=dies, policies=policies, options=options).engine()


def starts(record: Any) -> list[int]:
    """The start of each group, in the order of the groups; -1 = never."""
    return _by_group(record, record.starts())


def ends(record: Any) -> list[int]:
    return _by_group(record, record.ends())


def modules(record: Any) -> list[int]:
    return _by_group(record, record.module)


def _by_group(record: Any, column: np.ndarray) -> list[int]:
    result = np.full(record.waves.size, -1)
    result[record.group] = column
    return result.tolist()


SMALL_AND_LARGE = [Row(waves=w, barrier=0, duration=10) for w in (1, 1, 2, 2, 2)]


def test_v1_a_spreading_choice_hangs_where_a_packing_one_does_not():
    spread = played(SMALL_AND_LARGE, 4, 2, policies={"choice": RoundRobin()})
    assert spread.between.hung_at_cycle == 0
    assert len(spread.between.never_started) == 1
    assert len(spread.between.at_barrier) == 4
    packed = played(SMALL_AND_LARGE, 4, 2)
    assert (modules(packed), ends(packed)) == ([0, 0, 1, 2, 3], [10] * 5)
    one_by_one = {"dispatches_a_round": 1}
    spread = played(SMALL_AND_LARGE, 4, 2, policies={"choice": RoundRobin()}, options=one_by_one)
    assert (starts(spread), spread.between.hung_at_cycle) == ([0, 1, 2, 3, -1], 3)
    packed = played(SMALL_AND_LARGE, 4, 2, options=one_by_one)
    assert (starts(packed), ends(packed)) == ([0, 1, 2, 3, 4], [14] * 5)


@pytest.mark.parametrize(
    ("dies", "clusters"),
    [
        ((18, 18, 18, 16, 16, 16, 16, 14), 15),
        ((18, 18, 16, 16, 16, 16, 16, 16), 16),
        ((18, 18, 18, 18, 18, 14, 14, 14), 13),
    ],
)
def test_v2_clusters_of_eight_on_the_dies_of_an_h100(dies, clusters):
    record = played([Row(cluster=8, duration=5) for _ in range(136)], 132, 1, dies)
    assert starts(record).count(0) == 8 * clusters


def test_v3_a_group_waits_for_its_die_or_takes_the_next():
    rows = [Row(duration=d) for d in (100, 10, 10)]
    assert starts(played(rows, 2, 1, (1, 1), policies={"die": RoundRobinDies()})) == [0, 0, 100]
    assert starts(played(rows, 2, 1, (1, 1), policies={"die": RoundRobinDies(binding="skip")})) == [0, 0, 10]


@pytest.mark.parametrize(
    ("die", "dies"),
    [
        (RoundRobinDies(chunk=2), [0, 0, 1, 1, 0, 0]),
        (ContiguousDies(), [0, 0, 0, 1, 1, 1]),
        (RoundRobinDies(), [0, 1, 0, 1, 0, 1]),
    ],
)
def test_v4_numbers_of_groups_and_their_dies(die, dies):
    record = played([Row() for _ in range(6)], 8, 1, (4, 4), policies={"die": die})
    assert [m // 4 for m in modules(record)] == dies


def test_v5_a_duration_begins_when_the_last_of_the_barrier_has_started():
    record = played([Row(barrier=0, duration=10), Row(barrier=0, duration=10, arrival=30)], 1, 2)
    assert (starts(record), ends(record)) == ([0, 30], [40, 40])


def test_v7_a_share_of_the_modules():
    rows = [Row(duration=10) for _ in range(8)] + [Row(channel=1, duration=10) for _ in range(4)]
    record = played(rows, 8, 1, policies={"admission": ShareByChannel(share=0.5)})
    assert starts(record) == [0] * 4 + [10] * 4 + [0] * 4
    for share, at_once in ((ShareByChannel(share=0.3), 2), (ShareByChannel(share=0.3, round="up"), 3)):
        assert starts(played(rows[:8], 8, 1, policies={"admission": share})).count(0) == at_once


@pytest.mark.parametrize("channel", [0, 1])
def test_v10_kernels_in_order(channel):
    rows = [Row(duration=10, channel=channel) for _ in range(3)] + [Row(duration=10, channel=channel + 1)]
    assert starts(played(rows, 2, 1, options={"concurrency": "leftover"})) == [0, 0, 10, 10]
    assert starts(played(rows, 2, 1, options={"concurrency": "serialise"})) == [0, 0, 10, 20]
    apart = [Row(duration=10), Row(duration=10, arrival=20), Row(duration=10, arrival=5, channel=1)]
    assert starts(played(apart, 2, 1, options={"concurrency": "leftover"})) == [0, 20, 20]


def test_v11_each_die_has_a_memory_of_its_own():
    policies = {"die": RoundRobinDies(), "choice": RoundRobin()}
    assert modules(played([Row() for _ in range(4)], 4, 2, (2, 2), policies=policies)) == [0, 2, 1, 3]


@pytest.mark.parametrize(
    ("die", "dies"), [(RoundRobinDies(), [0, 0, 1, 1, 0, 0]), (ContiguousDies(), [0, 0, 0, 0, 1, 1])]
)
def test_v12_a_cluster_has_one_number(die, dies):
    record = played([Row(cluster=2) for _ in range(6)], 8, 1, (4, 4), policies={"die": die})
    assert [m // 4 for m in modules(record)] == dies


@pytest.mark.parametrize(
    ("die", "expected"),
    [
        (RoundRobinDies(by="all"), [0, 100, 0]),
        (RoundRobinDies(by="kernel"), [0, 0, 100]),
        (RoundRobinDies(by="all", binding="skip"), [0, 10, 0]),
    ],
)
def test_v13_what_numbers_the_groups(die, expected):
    rows = [Row(duration=100), Row(duration=10), Row(duration=10, channel=1)]
    assert starts(played(rows, 2, 1, (1, 1), policies={"die": die})) == expected


def test_v14_a_queue_in_front_of_a_module():
    record = played([Row(duration=30) for _ in range(4)], 2, 1, options={"pending_depth": 1})
    assert (modules(record), starts(record), record.cycle.tolist()) == ([0, 0, 1, 1], [0, 30, 0, 30], [0] * 4)


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("kernels", ["full_overlap", "leftover"])
def test_e9_a_placement_that_remembers_is_asked_in_every_round_in_a_queue_too(kernels, depth):
    """Every second request is refused: that of group 1 at 30, of group 2 at 70 and of group 3 at 100 and 101."""
    rows = [Row(arrival=at, duration=30, need={"vgpr": 16}) for at in (0, 0, 70, 100)]
    options = {"pending_depth": depth, "concurrency": kernels}
    record = played(rows, 1, 2, policies={"placement": RefusesEven()}, options=options)
    assert starts(record) == [0, 31, 71, 102]


def test_v15_endless_groups_end_with_the_others():
    rows = [Row(duration=30), Row(endless=True), Row(duration=10, arrival=50)]
    record = played(rows, 2, 1)
    assert (starts(record), ends(record)) == ([0, 0, 50], [30, 60, 60])
    hung = played([Row(endless=True), Row(waves=2)], 1, 2)
    assert hung.between.hung_at_cycle == 0


def test_v16_a_cluster_that_fits_nowhere_blocks_or_does_not():
    pair = [Row(channel=0, priority=2, cluster=2, duration=10) for _ in range(2)]
    rows = [*pair, Row(channel=1, priority=3, duration=10), Row(channel=2, priority=1, duration=20)]
    shared = {"priority": StaticPriority()}
    assert starts(played(rows, 2, 1, policies={**shared, "selection": StrictBlocking()})) == [20, 20, 30, 0]
    assert starts(played(rows, 2, 1, policies=shared)) == [20, 20, 0, 0]


def test_r18_says_what_each_group_lacks():
    record = played([Row(barrier=0, waves=2), Row(barrier=0, waves=1)], 1, 2)
    lacking = record.between.lacking
    assert (lacking.group.tolist(), lacking.module.tolist(), lacking.amount.tolist()) == ([1], [0], [1])
    assert record.resources[lacking.resource[0]] == "waves"
    shut_out = {"admission": PartitionByChannel(parts="0-1 | ", others="nowhere")}
    shut = played([Row(), Row(channel=1)], 2, 1, policies=shut_out)
    assert (shut.between.hung_at_cycle, shut.between.lacking.why.tolist()) == (1, [1])


def test_r18_says_it_of_groups_that_are_alike_and_of_those_that_are_not():
    """Groups behind the first are of 4 waves, where 3 slots are free, or of fewer: these wait for their turn alone."""
    waves = [4, 3, 3, 2, 2, 4, 4, 3]
    rows = [Row(barrier=0, waves=1), *(Row(barrier=0, waves=each) for each in waves)]
    lacking = played(rows, 1, 4).between.lacking
    assert (lacking.group.tolist(), lacking.amount.tolist()) == ([*range(1, 9)], [int(each == 4) for each in waves])


def test_a_cluster_of_many_groups_comes_forward_with_its_last():
    count = 1 << 16
    each, none = np.ones(count, np.int64), np.zeros((count, 6), np.int64)
    arrival = np.arange(count)
    groups = Groups(arrival, 0 * each, each, each, each > 1, each, {}, none, cluster=count * each)
    assert when_forward(arrival, lot_of(groups)).tolist() == [count - 1] * count


def test_a_rate_of_0_is_refused_before_anything_runs(tmp_path: Path):
    """It was a failed row of every seed, in a results folder of its own (R25)."""
    rates = {"shared_rate": {"law": {"rate_table": {"rates": [1, 0.5, 1e-9]}}}}
    sweep = {"engine": "dispatch", "machine": {}, "workload": {"regime": "mixed"}, "options": {"progress": rates}}
    with pytest.raises(InputError, match="the rate of 3 residents is 0, so they would never end"):
        wb.run(sweep, tmp_path / "out", workers=0)
    assert not (tmp_path / "out").exists()


def test_exclusive_keeps_other_kernels_away():
    rows = [Row(duration=10), Row(duration=5, channel=1)]
    assert starts(played(rows, 1, 2, policies={"admission": Exclusive()})) == [0, 10]


@pytest.mark.parametrize(
    ("rows", "options", "says"),
    [
        ([Row(cluster=2)] * 3, {}, "no multiple of its cluster of 2"),
        ([Row(cluster=2), Row(channel=1, cluster=2)], {}, "kernel|channel"),
        ([Row(cluster=2), Row(cluster=2, priority=2)], {}, "group 1: priority must be the same"),
        ([Row(endless=True)], {}, "every group is endless"),
        ([Row(cluster=2)] * 2, {"pending_depth": 1}, "pending_depth must be 0"),
        (
            [Row(kernel=1), Row(channel=1, kernel=2, arrival=3), Row(channel=1, kernel=1, arrival=4)],
            {"concurrency": "leftover"},
            "stands in channel 1 before group 2 of kernel 1",
        ),
    ],
)
def test_what_is_refused(rows, options, says):
    with pytest.raises(InputError, match=says):
        played(rows, 4, 2, options=options)


def shared(law: Law, of: str = "groups") -> dict[str, Any]:
    return {"options": {"progress": SharedRate(law=law, of=of)}}


def test_v8_shared_rates():
    rows = [Row(duration=100), Row(duration=100)]
    late = [Row(duration=100), Row(duration=100, arrival=50)]
    assert ends(played(rows, 1, 2, **shared(Linear(slope=1.0)))) == [200, 200]
    assert ends(played(late, 1, 2, **shared(Linear(slope=1.0)))) == [150, 200]
    assert ends(played(late, 1, 2, **shared(Capacity(full_rate=2.0)))) == [100, 150]


def test_v17_rates_are_whole_numbers_and_waiting_groups_count():
    rows = [Row(duration=60), Row(duration=60)]
    assert ends(played(rows, 1, 2, **shared(Linear(slope=2.0)))) == [181, 181]
    of_waves = [Row(duration=60, waves=4), Row(duration=60, waves=2)]
    assert ends(played(of_waves, 1, 6, **shared(Capacity(full_rate=4.0), "waves"))) == [91, 91]
    waiting = [Row(duration=100), Row(duration=30, barrier=0), Row(duration=30, barrier=0, arrival=50)]
    assert ends(played(waiting, 1, 3, **shared(Linear(slope=1.0)))) == [186, 141, 141]
