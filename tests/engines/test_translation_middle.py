"""The middle level of the engine `translation`: equal to its event-driven twin, by hand, and what is refused."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest

from tests.engines.test_translation_load import of_core, quick, same
from tests.engines.translation_cases import simulate
from tests.engines.translation_load_cases import differences, drawn_with_middle
from tests.slow import seeds
from workbench.engines.translation import prepare
from workbench.errors import InputError
from workbench.machine import TranslationMachine, preset
from workbench.metrics.translation import measure

SIZE = 10
"""Cases of one test."""


@pytest.mark.bounds
@pytest.mark.parametrize("part", seeds(2, 60))
def test_the_engine_and_its_twin_agree_where_groups_share_a_level(part: int) -> None:
    for seed in range(SIZE * part, SIZE * (part + 1)):
        result = differences(drawn_with_middle(seed))
        assert not result, (seed, sorted(result))


@pytest.mark.parametrize("seed", seeds(4, 240))
def test_neither_a_log_nor_a_short_way_changes_what_groups_that_share_a_level_record(seed: int) -> None:
    case = drawn_with_middle(seed)
    with mock.patch.object(prepare, "SKIPS", 0):
        plain = quick(case)
    same(quick(case), plain, besides=())
    same(plain, case.engine())


PLAIN = {"locate": "no_directory", "fill": "demand_always"}
MACHINE: dict[str, Any] = {
    "cores": 4,
    "private_entries": 2,
    "middle_entries": 4,
    "middle_cycles": 5,
    "shared_groups": "0 2 3, 1",
}


def latencies(rows: list[Any], core: int, **levers: Any) -> list[int]:
    record = simulate(rows, {**MACHINE, **levers}, PLAIN, events=True)
    return [latency for _, _, latency in of_core(record, core)]


def test_a_core_of_the_group_finds_what_another_asked_for_and_others_do_not() -> None:
    rows = [(0, 0, 7), (1000, 2, 7), (2000, 1, 7)]
    record = simulate(rows, MACHINE, PLAIN, events=True)
    assert [of_core(record, core)[0][2] for core in (0, 2, 1)] == [1 + 5 + 12 + 400, 1 + 5, 1 + 5 + 12]
    assert record.served.sum(axis=0).tolist() == [0, 0, 0, 1, 1, 1]
    assert (record.middle_accesses, record.shared_accesses) == (3, 2)
    result = measure(record)
    assert (result["middle_hit_rate"], result["middle_per_kilo"]) == (1 / 3, 1000)
    assert record.over_time[:, 8].sum() == 1


def test_there_are_no_measures_of_a_level_that_there_is_not() -> None:
    record = simulate([(0, 0, 7)], {"cores": 4}, PLAIN)
    assert record.middle_accesses is None
    assert record.served.shape == (4, 5)
    result = measure(record)
    assert result["middle_hit_rate"] != result["middle_hit_rate"]
    assert result["middle_per_kilo"] != result["middle_per_kilo"]


def test_a_port_of_the_group_is_waited_for() -> None:
    warm = [(0, 0, 7)]
    assert latencies([*warm, (1000, 2, 7), (1000, 3, 7)], 3, middle_ports=1) == [1 + 1 + 5]
    assert latencies([*warm, (1000, 2, 7), (1000, 3, 7)], 3) == [1 + 5]


def test_an_unmapping_takes_the_page_out_of_every_group() -> None:
    rows = [(0, 0, 7), (1000, 1, 7), (2000, 3, 7, True), (3000, 2, 7), (4000, 1, 7)]
    assert latencies(rows, 2) == [1 + 5 + 12 + 400]
    assert latencies(rows, 1)[1] == 1 + 5 + 12


def test_what_leaves_an_inclusive_shared_tlb_leaves_the_groups() -> None:
    machine = {**MACHINE, "shared_entries": 1}
    rows = [(0, 0, 7), (1000, 1, 8), (2000, 2, 7)]
    for inclusive, walks in ((False, 2), (True, 3)):
        assert simulate(rows, machine, PLAIN, inclusive=inclusive).walks == walks


def test_entries_of_a_level_cover_so_many_pages() -> None:
    rows = [(0, 0, 16), (1000, 2, 17), (2000, 3, 20), (3000, 1, 31), (4000, 1, 32)]
    assert latencies(rows, 2, middle_pages=4, shared_pages=16) == [1 + 5]
    assert latencies(rows, 3, middle_pages=4, shared_pages=16) == [1 + 5 + 12]
    assert latencies(rows, 1, middle_pages=4, shared_pages=16) == [1 + 5 + 12, 1 + 5 + 12 + 400]


@pytest.mark.parametrize("named", ["0 1 2", "0 1 2 3 3", "0 1, 2 4", "0 1; 2 3", "0 1,, 2 3", "0 1 2 x"])
def test_groups_name_each_core_once(named: str) -> None:
    message = "translation_machine.shared_groups must name each core from 0 to 3 once, such as 0 2 4, 1 3. Got "
    with pytest.raises(InputError, match=message):
        TranslationMachine(cores=4, shared_groups=named)


def test_groups_are_told_in_one_way() -> None:
    with pytest.raises(InputError, match=r"middle_cores must be 1 where shared_groups says which cores share. Got 2"):
        TranslationMachine(cores=2, middle_cores=2, shared_groups="0, 1")


@pytest.mark.parametrize(
    ("levers", "options", "message"),
    [
        ({"middle_pages": 2}, {"pages_an_entry": 2}, "middle_pages must be 1 where options.pages_an_entry"),
        ({"shared_pages": 2}, {"pages_an_entry": 2}, "shared_pages must be 1 where options.pages_an_entry"),
        ({"shared_pages": 2}, {"inclusive": True}, "shared_pages must be 1 where the shared TLB is inclusive"),
        (
            {"middle_entries": 1 << 20, "cores": 1024, "shared_groups": ""},
            {},
            "middle_entries must be at most 65,536 with 1,024 groups",
        ),
    ],
)
def test_a_reach_that_does_not_go_with_others_is_refused(
    levers: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        simulate([(0, 0, 7)], {**MACHINE, **levers}, PLAIN, **options)


K80 = preset("k80_tlb").machine().values()
BASE, BEHIND_1, BEHIND_2, BEHIND_3 = 1, 9, 55, 172
"""What a hit of level 1 takes, and what each level adds."""


def chase(
    core: int, first: int, stride: int, steps: int, rounds: int = 3, gap: int = 2000
) -> list[tuple[int, int, int]]:
    """Return a cyclic chase of a core over pages that lie so far apart."""
    return [(gap * at + core, core, first + stride * (at % steps)) for at in range(steps * rounds)]


@pytest.mark.parametrize(
    ("stride", "steps", "cycles"),
    [
        (1, 16, BASE),
        (1, 17, BASE + BEHIND_1),
        (16, 17, BASE + BEHIND_1),
        (16, 71, BASE + BEHIND_1),
        (16, 72, BASE + BEHIND_1 + BEHIND_2),
        (16, 1032, BASE + BEHIND_1 + BEHIND_2),
        (16, 1161, BASE + BEHIND_1 + BEHIND_2 + BEHIND_3),
    ],
)
def test_a_chase_on_the_k80_takes_what_its_footprint_says(stride: int, steps: int, cycles: int) -> None:
    """Level 1 holds 16 entries of 128 KiB, level 2 71 of 2 MiB, level 3 129 sets of 8; the last round is steady."""
    record = simulate(chase(3, 0, stride, steps), K80, PLAIN, events=True)
    assert {latency for _, _, latency in of_core(record, 3)[-steps:]} == {cycles}


@pytest.mark.parametrize(("other", "shares"), [(8, True), (11, True), (2, False), (12, False)])
def test_two_sms_of_the_k80_that_chase_at_once_cost_each_other_a_level_where_they_share_it(
    other: int, shares: bool
) -> None:
    rows = sorted([*chase(3, 0, 16, 48), *chase(other, 1 << 20, 16, 48)])
    record = simulate(rows, K80, PLAIN, events=True)
    steady = {latency for _, _, latency in of_core(record, 3)[-48:]}
    assert steady == {BASE + BEHIND_1 + (BEHIND_2 if shares else 0)}
