"""Links, channels and ports that data share, on random boards, compared with flows followed one by one (E9)."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.pool_cases import Case, assert_access_times, crowd
from tests.oracles import pool_flows
from tests.slow import examples
from workbench.machine import Board, Card, Link
from workbench.policies.pool import LeastBorrowed, ManagedMemory, MaxBandwidth, MigrateBack, RoundRobin, Stay
from workbench.structures.flow_sharing import Flows, finishing_times
from workbench.workloads.pool_requests import ALLOC, FREE

WIDTHS = (8.0, 8.0, 16.0, 25.0)
"""Few, so that paths and shares tie."""
FACTORS = (1.0, 1.25, 1.54, 2.0)


def board_of(chance: random.Random) -> Board:
    """One to four cards in a chain with a link more here and there; channels, ports and duplex by chance."""
    count = chance.choice([1, 2, 3, 3, 4])
    cards = [
        Card(id=f"c{k}", memory_bytes=chance.choice([60, 120]), port_gbps=chance.choice([0, 0, 12]))
        for k in range(count)
    ]
    pairs = [(k, k + 1) for k in range(count - 1)] + [(0, k) for k in range(2, count) if chance.random() < 0.5]
    channels = {pair: chance.choice(["", "a", "a", "b"]) for pair in pairs}
    links = [
        Link(
            between="c{} c{}".format(*chance.sample(pair, 2)),
            gbps=chance.choice(WIDTHS),
            count=chance.choice([1, 1, 2]),
            duplex=chance.choice(FACTORS),
            channel=channels[pair],
        )
        for pair in pairs
        for _ in range(chance.choice([1, 1, 2]))
    ]
    return Board(cards=cards, links=links)


def case_of(seed: int) -> Case:
    """Three applications that ask for more than their cards have, and read all of it many times."""
    chance = random.Random(seed)
    board = board_of(chance)
    rows = crowd(chance.randrange(1 << 30), len(board.cards), chance.randint(6, 24), 60)
    policies = {
        "target": chance.choice([RoundRobin(), MaxBandwidth(), LeastBorrowed()]),
        "residency": chance.choice([Stay(), Stay(), MigrateBack(), ManagedMemory(back=True)]),
    }
    options = {
        "path_metric": chance.choice(["bottleneck", "hop_penalised", "sum_of_paths", "direct_only"]),
        "max_hops": chance.randint(1, 4),
        "touches": chance.choice([1, 30, 500]),
    }
    return Case(rows, board, policies, options, seed)


@pytest.mark.bounds
@examples(20, 400)
@given(st.integers(0, 1 << 20))
def test_data_share_links_as_flows_that_are_followed_one_by_one(seed: int) -> None:
    case = case_of(seed)
    assert_access_times(case, case.simulate())


@examples(60, 600)
@given(st.integers(0, 1 << 20))
def test_many_flows_at_once_fill_links_channels_and_ports(seed: int) -> None:
    """Flows between random cards, some at the same time and of the same bytes, so that starts, shares and ends tie."""
    chance = random.Random(seed)
    board = board_of(chance)
    paths = board.paths(chance.choice(["bottleneck", "hop_penalised"]))
    pairs = np.argwhere(paths.hops > 0)
    if not pairs.size:
        return
    chosen = pairs[[chance.randrange(len(pairs)) for _ in range(chance.randint(2, 14))]]
    start = np.array(sorted(chance.choice([0.0, 0.0, 1.0, 2.5]) for _ in chosen))
    amount = np.array([chance.choice([8.0, 20.0, 60.0]) for _ in chosen])
    routes = [[board.ids[k] for k in paths.routes[one][other]] for one, other in chosen]
    network = board.network(paths)
    ends = finishing_times(Flows(start, amount, chosen @ np.array([len(board.cards), 1]), *network))
    used = [pool_flows.uses(board, route) for route in routes]
    expected = pool_flows.finishing_times(start.tolist(), amount.tolist(), used, pool_flows.limits(board))
    np.testing.assert_allclose(ends, expected, rtol=1e-9)


@pytest.mark.parametrize("channel", ["", "one"])
@pytest.mark.parametrize("duplex", [2.0, 1.54, 1.0])
def test_both_directions_at_once_carry_what_duplex_says(duplex: float, channel: str) -> None:
    """Each card lends to the other, 50 and 80 bytes: each has half of both directions until the smaller one is done."""
    cards = [Card(id="a", memory_bytes=100), Card(id="b", memory_bytes=100)]
    board = Board(cards=cards, links=[Link(between="a b", gbps=10, duplex=duplex, channel=channel)])
    rows = [(0, 0, 0, ALLOC, 1, 95), (0, 0, 0, ALLOC, 2, 50), (0, 0, 0, FREE, 1, 0), (0, 1, 1, ALLOC, 3, 80)]
    record = Case(rows, board).simulate()
    assert record.card.tolist() == [0, 1, 0, 0]
    both = 10 * duplex
    assert record.access_ns[[1, 3]].tolist() == pytest.approx([50 / (both / 2), 50 / (both / 2) + 30 / 10])
    assert record.access_alone_ns[[1, 3]].tolist() == pytest.approx([5, 8])


def test_a_path_up_a_channel_and_down_the_same_one_takes_its_width_twice() -> None:
    """Two cards behind one switch of a CPU: 12 GB/s of both directions leave 6 for each, not 10."""
    cards = [Card(id="cpu", kind="cpu", memory_bytes=1), *(Card(id=f"gpu{k}", memory_bytes=100) for k in range(2))]
    links = [Link(between=f"cpu gpu{k}", gbps=10, duplex=1.2, channel="switch") for k in range(2)]
    record = Case([(0, 0, 1, ALLOC, 1, 95), (0, 0, 1, ALLOC, 2, 60)], Board(cards=cards, links=links)).simulate()
    assert record.card.tolist() == [1, 2]
    assert record.access_ns.tolist() == record.access_alone_ns.tolist() == pytest.approx([0, 60 / 6])
