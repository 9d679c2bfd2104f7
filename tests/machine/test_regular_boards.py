"""Boards by a rule: who is linked to whom, and how wide the way is, counted one by one."""

import pytest

from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.machine import Board
from workbench.machine.topologies.regular import RegularBoard


def neighbours(arrangement, gpus, one, other):
    """Whether two GPUs have a direct link, by the rule's sentence."""
    if arrangement == "ring":
        return (one + 1) % gpus == other or (other + 1) % gpus == one
    if arrangement == "pairs":
        return one // 2 == other // 2
    return arrangement == "fully_connected"


@pytest.mark.parametrize("arrangement", ["fully_connected", "ring", "pairs", "pcie_only"])
@pytest.mark.parametrize(("gpus", "hosts"), [(1, 1), (2, 1), (5, 2), (8, 2), (4, 8)])
def test_links_are_those_of_the_sentence(arrangement, gpus, hosts):
    config = {"arrangement": arrangement, "gpus": gpus, "hosts": hosts, "parallel_links": 3, "link_gbps": 25}
    board = Board.read({**config, "card_gib": 2, "host_gib": 0.5})
    direct = board.direct_gbps()
    assert board.ids == (*(f"cpu{k}" for k in range(hosts)), *(f"gpu{k}" for k in range(gpus)))
    assert [card.memory_bytes for card in board.cards] == [1 << 29] * hosts + [2 << 30] * gpus
    for one in range(gpus):
        to_hosts = [direct[host, hosts + one] for host in range(hosts)]
        assert sorted(to_hosts) == [0] * (hosts - 1) + [16]
        for other in range(one):
            linked = neighbours(arrangement, gpus, one, other)
            assert direct[hosts + one, hosts + other] == (75 if linked else 0)
    shares = [(direct[host, hosts:] > 0).sum() for host in range(hosts)]
    assert max(shares) - min(shares) <= 1, "every CPU has as many GPUs as the others, or one more"


def test_without_a_cpu_a_ring_is_a_board_and_pairs_are_none():
    assert Board.read({"arrangement": "ring", "gpus": 3, "hosts": 0}).paths().hops.max() == 1
    with pytest.raises(InputError, match=r"pairs of 4 GPUs are linked through a CPU alone.* Got 0\. Nearest: 1\."):
        RegularBoard(arrangement="pairs", gpus=4, hosts=0)


def test_neighbours_share_a_channel_of_their_cpu_alone():
    board = Board.read({"arrangement": "pcie_only", "gpus": 6, "hosts": 2, "gpus_a_channel": 2})
    assert [link.channel for link in board.links if "gpu" in link.between] == [
        *("cpu0-0", "cpu0-0", "cpu0-1"),
        *("cpu1-1", "cpu1-2", "cpu1-2"),
    ]


def test_a_sweep_varies_the_arrangement_and_refuses_what_there_is_not():
    config = {"engine": "pool", "workload": {"regime": "one_card_full"}, "seeds": 1}
    varied = {"arrangement": {"vary": ["ring", "pcie_only"]}, "gpus": 4}
    boards = [point.setup.machine for point in make_plan(read_sweep({**config, "machine": varied})).points]
    assert [len(board.links) for board in boards] == [8, 4]
    for machine, says in (
        ({"arrangement": "rings"}, "machine.arrangement must be one of fully_connected, ring, pairs, pcie_only"),
        ({"arrangement": "ring", "memory": 3}, "machine: unknown key 'memory'; there are arrangement, card_gib"),
    ):
        with pytest.raises(InputError, match=says):
            make_plan(read_sweep({**config, "machine": machine}))
