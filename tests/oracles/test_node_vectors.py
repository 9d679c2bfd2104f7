"""The vectors of specification 6, section 9, under its slow twin."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.node.description import KIB, MIB
from tests.oracles.node.measures import makespan
from tests.oracles.node.node import Simulation
from tests.oracles.node.pages import AddressSpace, Run, page_sizes
from tests.oracles.node.small import card, ends, groups_of, kernel, run, tensor


def vector(pages: int = 0, walkers: int = 1, hold: str = "none", a_round: int = 2) -> Simulation:
    """Run four groups in room for two; each touches its slice of a tensor of so many pages."""
    touches = ({"tensor": "a"},) if pages else ()
    steps = [*([tensor("a", pages)] if pages else []), kernel(4, {"compute": 100, "touches": touches})]
    machine = card(translation={"walkers": walkers}, dispatch={"dispatches_a_round": a_round})
    return run([machine], [{"streams": steps}], {"touches_hold": hold})


@pytest.mark.parametrize(("a_round", "makespan_cycles"), [(2, 200), (1, 201)])
def test_v1_waves_of_groups(a_round: int, makespan_cycles: int) -> None:
    assert makespan(vector(a_round=a_round)) == makespan_cycles


def walks(result: Simulation) -> list[tuple[int, int]]:
    rows = [row.cycle for row in result.log.of("translation", "walk")]
    return list(zip(rows, (row.cycle for row in result.log.of("translation", "walked"))))


def test_v2_one_walker_holds_the_groups() -> None:
    result = vector(pages=4, hold="group")
    assert walks(result) == [(100, 500), (500, 900), (900, 1300), (1300, 1700)]
    assert ends(result) == [500, 900, 1300, 1700]
    assert [group.parts[0].dispatched_at for group in groups_of(result)] == [0, 0, 500, 900]
    asked = [row.cycle for row in result.log.of("translation", "request")]
    assert asked == [100, 100, 600, 1000]


def test_v2_two_walkers() -> None:
    assert ends(vector(pages=4, walkers=2, hold="group")) == [500, 500, 1000, 1000]


def test_v2_one_page_is_walked_once() -> None:
    result = vector(pages=1, hold="group")
    assert ends(result) == [500, 500, 600, 600]
    served = [row.value("served_by") for row in result.log.of("translation", "answer")]
    assert served == ["walk", "merged", "private", "private"]


def test_v3_groups_leave_before_their_walks_end() -> None:
    result = vector(pages=4)
    assert [row.cycle for row in result.log.of("dispatch", "release")] == [100, 100, 200, 200]
    assert [end for _, end in walks(result)] == [500, 900, 1300, 1700]
    assert makespan(result) == 1700


def of_size(sizes: list[int], size: int) -> int:
    return sizes.count(size)


def test_v4_pages_of_a_run() -> None:
    assert page_sizes(Run(0, 2 * MIB, 8 * MIB), "largest") == [2 * MIB] * 4
    shifted = page_sizes(Run(0, 2 * MIB + 64 * KIB, 8 * MIB), "largest")
    assert shifted == [64 * KIB] * 31 + [2 * MIB] * 3 + [64 * KIB]
    assert len(shifted) == 35
    assert len(page_sizes(Run(0, 0, 8 * MIB), "4k")) == 2048


def test_v4_virtual_addresses_are_congruent() -> None:
    space = AddressSpace(3)
    space.mapped([Run(0, 0, 12 * KIB)], "largest")
    pages = space.mapped([Run(1, 2 * MIB + 64 * KIB, 8 * MIB)], "largest")
    assert pages[0].address % (2 * MIB) == 64 * KIB
    assert [page.size for page in pages] == page_sizes(Run(1, 2 * MIB + 64 * KIB, 8 * MIB), "largest")
    assert all(page.address % page.size == 0 for page in pages)


def test_v4_in_a_run() -> None:
    """A first tensor of 64 KiB shifts the second by as much."""
    steps = [{"allocate": "first", "bytes": 64 * KIB}, {"allocate": "a", "bytes": 8 * MIB}, kernel(tensors=("a",))]
    coupled = {"memory": "wait", "pages": "largest"}
    result = run([card(memory_bytes=16 * MIB)], [{"streams": steps}], coupled)
    rows = [row for row in result.log.of("node", "map") if row.value("tensor") == "a"]
    assert [len(row.value("pages")) for row in rows] == [35]


def shot_down(**couplings: Any) -> Simulation:
    """Free at cycle 413 a tensor of four pages that modules 0 and 1 of four hold; at 420 a group on each touches."""
    touch = {"compute": 10, "touches": ({"tensor": "a", "pattern": "shared"},)}
    late = {"compute": 420, "touches": ({"tensor": "b"},)}
    first = [tensor("a", 4), kernel(2, touch), {"free": "a"}]
    machine = card(room=2, modules=4, translation={"walkers": 4})
    streams = [first, [tensor("b", 4), kernel(4, late)]]
    policies = {"choice": "balanced"}
    return run(
        [machine], [{"streams": streams}], {"shootdown_cycles": 50, "touches_hold": "group"} | couplings, policies
    )


def issued(result: Simulation) -> list[int]:
    """Return when the groups of the second stream issued their touch, by module."""
    groups = [group for group in groups_of(result) if group.key.stream == 1]
    accesses = [group.parts[0].phases[0].items[0].access for group in groups]
    return [access.issued_at for access in sorted(accesses, key=lambda access: access.core)]


def test_v5_a_shootdown_stalls_the_holders_once() -> None:
    result = shot_down()
    stalls = [core.stalls[:1] for core in result.translations[0].cores]
    assert stalls[:2] == [[(413, 463)], [(413, 463)]]
    assert issued(result) == [463, 463, 420, 420]


def test_v5_to_all() -> None:
    assert issued(shot_down(shootdown_to="all")) == [463, 463, 463, 463]


def test_v5_neutral() -> None:
    assert issued(shot_down(shootdown_cycles=0)) == [420, 420, 420, 420]
