"""Transfers over links by hand: equal shares, whole units, ends rounded up (spec 6, R13)."""

from __future__ import annotations

import pytest

from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Card, Link, Machine
from tests.oracles.node.links import Links, cycles_of
from tests.oracles.node.log import Log
from tests.oracles.node.small import card, ends, groups_of, kernel, run
from tests.oracles.node.times import parts_of

pytestmark = pytest.mark.slow

MACHINE = Machine(cards=(Card(), Card(), Card()), links=(Link((0, 1), 4.0), Link((1, 2), 1.0, latency_ns=30)))


def arrivals(*transfers: tuple[int, int, int, int], machine: Machine = MACHINE) -> list[int]:
    """Return when transfers (cycle, source, target, bytes) arrive, in their order."""
    calendar = Calendar()
    links = Links(calendar, machine, Log(calendar))
    ended: dict[int, int] = {}

    def begin(number: int, source: int, target: int, size: int) -> None:
        links.send(source, target, size, Key(touch=number), lambda: ended.update({number: calendar.now}))

    for number, (cycle, *way) in enumerate(transfers):
        calendar.at(cycle, Rank.STEP, Key(touch=number), lambda n=number, w=way: begin(n, *w))
    calendar.run()
    return [ended[number] for number in range(len(transfers))]


def test_one_transfer() -> None:
    assert arrivals((10, 0, 1, 400)) == [110]
    assert arrivals((10, 0, 1, 401)) == [111]


def test_two_share_until_one_ends() -> None:
    assert arrivals((0, 0, 1, 400), (0, 0, 1, 800)) == [200, 300]


def test_one_that_joins_slows_the_other() -> None:
    """At 50 the first has 200 bytes left, which take 100 cycles at half the rate."""
    assert arrivals((0, 0, 1, 400), (50, 0, 1, 400)) == [150, 200]


def test_directions_are_apart() -> None:
    assert arrivals((0, 0, 1, 400), (0, 1, 0, 400)) == [100, 100]


def test_the_remainder_goes_to_the_earliest() -> None:
    """4 bytes a cycle are 262,144 units: 87,381 for each of three, and one more for the earliest."""
    size = 87_382
    assert arrivals((0, 0, 1, size), (0, 0, 1, size), (0, 0, 1, size)) == [65_536, 65_537, 65_537]


def test_a_path_has_its_latencies_and_its_narrowest_link() -> None:
    assert arrivals((0, 0, 2, 100)) == [130]
    assert arrivals((0, 0, 2, 100), (30, 0, 1, 300)) == [130, 130 + 25]


def test_nothing_takes_the_latency_alone() -> None:
    assert arrivals((0, 1, 2, 0)) == [30]


def test_parallel_links_add_up() -> None:
    machine = Machine(cards=(Card(), Card()), links=(Link((0, 1), 2.0), Link((0, 1), 2.0)))
    assert arrivals((0, 0, 1, 400), machine=machine) == [100]


@pytest.mark.parametrize(
    ("nanoseconds", "clock_mhz", "cycles"), [(1, 1000, 1), (1, 1410, 2), (100, 1410, 141), (0, 7, 0)]
)
def test_nanoseconds_are_rounded_up(nanoseconds: int, clock_mhz: int, cycles: int) -> None:
    assert cycles_of(nanoseconds, clock_mhz) == cycles


def test_walks_and_data_of_a_remote_page_pass_the_link() -> None:
    """Card 0 is full after 2 MiB, so b lies on card 1: a walk of 40 + 16 cycles, then 8 cycles of data."""
    steps = [{"allocate": "a", "bytes": 2**21}, {"allocate": "b", "bytes": 2**21}]
    touches = ({"tensor": "b", "bytes": 32},)
    cards = [card(translation={"walk_cycles": 40}, memory_bytes=2**21), card(memory_bytes=2**22)]
    result = run(
        cards, [{"streams": [*steps, kernel(1, {"compute": 5, "touches": touches})]}],
        {"memory": "wait", "remote": "link", "touches_hold": "group"},
        machine={"links": [{"cards": (0, 1), "gbps": 4.0}], "walk_bytes": 64},
    )  # fmt: skip
    assert ends(result) == [5 + 40 + 16 + 8]
    parts = parts_of(result, groups_of(result)[0])
    assert (parts["link"], parts["translation"], parts["compute"]) == (24, 40, 5)
    assert result.remote_touches == 1
