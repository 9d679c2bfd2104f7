"""Everything full at once: memory, the one walker, the one link, the one heap lock, all from one cycle on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracles.node.conservation import broken
from tests.oracles.node.description import MIB, Node
from tests.oracles.node.node import Simulation, simulate
from tests.oracles.node.random_nodes import random_node
from tests.oracles.node.small import card, ends, groups_of, kernel, run, tensor
from tests.oracles.node.times import parts_of

pytestmark = pytest.mark.slow

SHOOTDOWN = {"shootdown_cycles": 5, "shootdown_to": "all"}


def saturated() -> Simulation:
    """Let, at 100, two groups touch remote pages and allocate, a tensor be freed, and a full pool's waiter get it."""
    touching = {"compute": 100, "touches": ({"tensor": "b", "bytes": 64},), "mallocs": (8,)}
    first = [tensor("a", 2), tensor("b", 2), kernel(2, touching)]
    freeing = [kernel(1, {"compute": 100}, tensors=("a",)), {"free": "a"}]
    waiting = [kernel(1, {"compute": 90}), tensor("c", 2), kernel(1, {"compute": 10}, tensors=("c",))]
    cards = [
        card(4, memory_bytes=4 * MIB, translation={"walk_cycles": 4}, heap={"hold_cycles": 10, "split_cycles": 0})
    ] * 2
    return run(
        cards, [{"streams": [first, freeing]}, {"streams": waiting}],
        {"memory": "wait", "remote": "link", "malloc": "wait", "touches_hold": "group"} | SHOOTDOWN,
        machine={"links": [{"cards": (0, 1), "gbps": 4.0}], "pool": {"when_full": "wait"}, "walk_bytes": 64},
    )  # fmt: skip


def test_one_cycle_after_the_other() -> None:
    """Follow it by hand.

    100: the free unmaps (2), stalls both modules to 105 (3), gives its memory to c (4), whose kernel starts (15) and
    ends at 110. 105: both touches go on. Walk of group 0: 105 to 109, 64 bytes to 125; of group 1: 125 to 129. Data of
    group 0, 64 bytes from 125: 16 alone until 129, 48 at half the rate until 153. The walk's 64 bytes of group 1: 48
    until 153, 16 until 157. Its data: 157 to 173. Heap sections: 105 to 115, 115 to 125.
    """
    result = saturated()
    assert ends(result) == [153, 173, 100, 90, 110]
    parts = parts_of(result, groups_of(result)[1])
    assert {name: cycles for name, cycles in parts.items() if cycles} == {
        "compute": 100,
        "shoot-down": 5,
        "walkers": 20,
        "translation": 4,
        "link": 28 + 16,
    }
    assert [row.cycle for row in result.log.of("malloc", "acquire")] == [105, 115]
    assert broken(result) == []


def narrow(seed: int) -> dict[str, Any]:
    """Return a random node with one of everything, in which all applications arrive at once."""
    values = random_node(seed)
    for one in values["machine"]["cards"]:
        one["translation"] |= {"walkers": 1, "registers": 1, "walk_queue": 1, "private_entries": 1, "private_ways": 0}
        one["dispatch"] |= {"modules": 1, "dispatches_a_round": 1}
        one["heap"] |= {"heap_bytes": 0}
        one["memory_bytes"] = 12 * MIB
    for application in values["applications"]:
        application["arrival"] = 0
    return values


@pytest.mark.parametrize("seed", range(8))
def test_random_nodes_with_one_of_everything(seed: int) -> None:
    result = simulate(Node.of(narrow(seed)))
    assert broken(result) == []
    assert result.failure or all(program.ended_at is not None for program in result.programs)
