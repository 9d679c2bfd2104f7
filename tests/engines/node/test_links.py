"""Transfers over links beside the twin's, whole scripts of them by chance (spec 6, R13, R19)."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import pytest

from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Card, Link, Machine, Pool
from tests.oracles.node.links import Links as TwinLinks
from tests.oracles.node.log import Log
from tests.slow import seeds
from workbench.compiled.memory_access import Referent, call, entry_of
from workbench.engines.kit.order import RANK, cycle_of, moment
from workbench.engines.node.link_state import NEEDS_ROOM, NOBODY, Links, Ways, new_links, ways_of, with_places
from workbench.engines.node.links import begin, look_at_links, next_moment, take_next
from workbench.machine import Board
from workbench.machine import Card as BoardCard
from workbench.machine import Link as BoardLink
from workbench.structures.timetable import NEVER

pytestmark = pytest.mark.node


class Sent(NamedTuple):
    """A transfer of a script; its key orders it among others of its cycle."""

    cycle: int
    source: int
    target: int
    size: int
    key: Key


def board_of(machine: Machine) -> Board:
    cards = [BoardCard(id=f"c{k}") for k in range(len(machine.cards))]
    links = [BoardLink(between="c{} c{}".format(*it.cards), gbps=it.gbps) for it in machine.links]
    return Board(cards=cards, links=links)


def ways(machine: Machine) -> Ways:
    board = board_of(machine)
    paths = board.paths("bottleneck", machine.pool.max_hops)
    return ways_of(board, paths, machine.clock_mhz, [link.latency_ns for link in machine.links])


def arrivals_of_twin(machine: Machine, sent: list[Sent]) -> list[tuple[int, int]]:
    """Return (cycle, number) of each transfer in the order of arrival."""
    calendar, arrived = Calendar(), list[tuple[int, int]]()
    links = TwinLinks(calendar, machine, Log(calendar))

    def send(number: int, one: Sent) -> None:
        links.send(*one[1:], lambda: arrived.append((calendar.now, number)))

    for number, one in enumerate(sent):
        calendar.at(one.cycle, Rank.STEP, one.key, lambda number=number, one=one: send(number, one))
    calendar.run()
    return arrived


def arrivals(machine: Machine, sent: list[Sent], places: int = 4, looks: int = 0) -> list[tuple[int, int]]:
    """Return the same of the links under test, called by address; they grow when they are full, and are looked at in so
    many cycles before each event."""
    links, arrived, last = new_links(ways(machine), places), list[tuple[int, int]](), 0
    lent = Referent(links)
    take, comes, enter = (entry_of(it, lent) for it in (take_next, next_moment, begin))
    waiting = sorted(range(len(sent)), key=lambda number: (sent[number].cycle, sent[number].key))
    while waiting or call(*comes, ()) < NEVER:
        following = moment(sent[waiting[0]].cycle, RANK.steps) if waiting else NEVER
        cycle = call(*comes, ())
        upto = cycle_of(min(cycle, following))
        for between in range(max(last + 1, upto - looks), upto):
            look_at_links(links, between)
        last = upto
        if (cycle := call(*comes, ())) < following:
            ticket = call(*take, ())
            arrived += [(cycle_of(cycle), ticket)] if ticket != NOBODY else []
            continue
        one = sent[waiting[0]]
        way, order = one.source * len(machine.cards) + one.target, (one.key.group, one.key.touch)
        if call(*enter, (way, one.size, one.cycle, *order, waiting[0])) == NEEDS_ROOM:
            links = with_places(links, 2 * links.due.size)
            lent = Referent(links)
            take, comes, enter = (entry_of(it, lent) for it in (take_next, next_moment, begin))
        else:
            del waiting[0]
    check_idle(links)
    return arrived


def check_idle(links: Links) -> None:
    """Nothing is left of what was under way."""
    assert not links.users.any()
    assert not links.running.any()
    assert not links.held.any()
    assert (links.lists == -1).all()


def script(seed: int) -> tuple[Machine, list[Sent]]:
    """Return a board and transfers that keep its links busy, many of which begin or end together."""
    random = Random(seed)
    cards = random.choice([2, 3, 4, 5])
    pairs = [(a, b) for b in range(1, cards) for a in range(b) if a == b - 1 or random.random() < 0.4]
    pairs += random.sample(pairs, random.choice([0, 1]))
    links = [Link(pair, random.choice([0.001, 1, 4, 25.5]), random.choice([0, 0, 9, 70])) for pair in pairs]
    clock, hops = random.choice([1000, 1410, 700]), random.choice([3, 5])
    machine = Machine((Card(),) * cards, tuple(links), Pool(max_hops=hops), clock)
    reach, sent, cycle = ways(machine).hops, list[Sent](), 0
    for number in range(random.choice([5, 60, 200])):
        cycle += random.choice([0, 0, 0, 1, 13, 200])
        source, target = random.sample(range(cards), 2)
        if reach[source * cards + target] < 0:
            continue
        size = random.choice([0, 1, 64, 64, 500, random.randrange(20_000)])
        key = Key(group=random.randrange(20), touch=number if random.random() < 0.9 else 0)
        sent.append(Sent(cycle, source, target, size, key))
    return machine, sent


@pytest.mark.parametrize("seed", seeds(6, 54))
def test_transfers_arrive_as_those_of_the_twin(seed: int) -> None:
    machine, sent = script(seed)
    assert arrivals(machine, sent) == arrivals_of_twin(machine, sent)


@pytest.mark.parametrize("seed", seeds(6, 54))
def test_links_may_be_looked_at_in_any_cycle(seed: int) -> None:
    """All that has moved, all rates and turns are found anew, also where ways share links."""
    machine, sent = script(seed)
    assert arrivals(machine, sent, looks=12) == arrivals(machine, sent)


def test_v8_the_whole_remainder_goes_to_the_first() -> None:
    """Of 262,144 units a cycle each of three has 87,381, and the first one more."""
    machine = Machine(cards=(Card(), Card()), links=(Link((0, 1), 4.0),))
    sent = [Sent(0, 0, 1, 87_382, Key(touch=number)) for number in range(3)]
    assert arrivals(machine, sent) == [(65_536, 0), (65_537, 1), (65_537, 2)] == arrivals_of_twin(machine, sent)


def test_links_of_one_channel_share_what_the_fastest_carries() -> None:
    """Two links of 4 bytes a cycle behind one channel: alone 100 cycles each, together 200."""
    cards = [BoardCard(id=name) for name in ("cpu", "g0", "g1")]
    links = [BoardLink(between=f"cpu {name}", gbps=4, channel="x16") for name in ("g0", "g1")]
    board = Board(cards=cards, links=links)
    state = new_links(ways_of(board, board.paths(), 1000))
    begin(state, 1, 400, 0, 0, 0, 1)
    begin(state, 2, 400, 0, 0, 1, 2)
    taken = [(int(cycle_of(next_moment(state))), take_next(state)) for _ in range(4)]
    assert taken == [(0, -1), (0, -1), (200, 1), (200, 2)]
    assert state.carried.tolist() == [0, 400, 400, *[0] * 6]


def test_of_parallel_links_the_larger_latency_counts() -> None:
    for latencies in [(9, 70), (70, 9)]:
        links = tuple(Link((0, 1), 2.0, latency) for latency in latencies)
        assert ways(Machine((Card(), Card()), links)).latency.tolist() == [0, 70, 70, 0]
