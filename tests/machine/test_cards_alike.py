"""A node by a rule: what each lever does, how it is written in a sweep, and what is refused."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.errors import InputError
from workbench.machine import NodeMachine
from workbench.machine.board import MIB, CardsAlike


def test_the_first_card_is_nearly_full_and_the_others_are_empty():
    node = NodeMachine.read({"cards": 3, "left_mib": 8, "card_mib": 64})
    assert [card.free_bytes for card in node.board.cards] == [8 * MIB, 64 * MIB, 64 * MIB]
    assert [card.memory_bytes for card in node.board.cards] == [64 * MIB] * 3


def test_more_left_than_there_is_leaves_everything():
    node = NodeMachine.read({"cards": 1, "left_mib": 4096, "card_mib": 64})
    assert node.board.cards[0].free_bytes == 64 * MIB


def test_neighbours_in_a_ring_are_linked_at_full_speed_and_others_at_half():
    node = NodeMachine.read({"cards": 5, "link_gbps": 80})
    table = node.board.direct_gbps()
    for one in range(5):
        for other in range(5):
            apart = (one - other) % 5
            assert table[one, other] == {0: 0, 1: 80, 4: 80}.get(apart, 40)


def test_modules_are_cores_and_bring_shared_entries_and_walkers():
    node = NodeMachine.read({"cards": 2, "modules": 6, "private_entries": 16, "level_cycles": 25})
    inside = node.translation
    assert node.card.compute_units == inside.cores == inside.walkers == 6
    assert (inside.private_entries, inside.shared_entries, inside.walk_cycles) == (16, 192, 100)
    assert NodeMachine.read({"cards": 2, "modules": 6, "walkers": 1}).translation.walkers == 1


def test_a_sweep_varies_it_by_its_own_words():
    machine = {"cards": {"vary": [1, 2]}, "modules": {"vary": [2, 3]}}
    sweep = {"engine": "node", "machine": machine, "workload": "gather", "seeds": 1}
    points = wb.plan(sweep).points
    sizes = [(len(point.setup.machine.gpus), point.setup.machine.card.compute_units) for point in points]
    assert sizes == [(1, 2), (1, 3), (2, 2), (2, 3)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cards": 0}, r"machine.cards must be a whole number from 1 to 16\. Got 0\. Nearest: 1\."),
        ({"cards": 2, "module": 4}, "unknown key 'module'.*Did you mean modules?"),
        ({"cards": 2, "board": {}}, "unknown key 'board'"),
    ],
)
def test_what_is_no_lever_of_the_rule_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        NodeMachine.read(given)


def test_every_lever_stands_in_the_schema():
    (rule,) = (one for one in NodeMachine.schema()["anyOf"] if "cards" in one.get("properties", {}))
    assert set(rule["properties"]) == set(CardsAlike.levers)
