"""R17: without couplings each part does as its engine by itself, for every registered policy of its slots (spec 6)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engines.node.decoupled import CARDS, LAST, Neutral, setup_with
from workbench.engines.kit.engine import defaults_of, question_of
from workbench.engines.node.options import PARTS, OwnSlots, Slots
from workbench.errors import InputError
from workbench.policies.catalogue import load_all
from workbench.policies.policy import policies

load_all()
SLOTS = {**PARTS, "frames": OwnSlots}
REFUSED = {
    ("placement", "compaction"): "moves live ranges, which a dispatcher's vgpr cannot",
    ("shared_placement", "compaction"): "moves live ranges, which a dispatcher's shared cannot",
    ("driver", "compaction"): "moves what is allocated, which a driver cannot",
    ("shared_eviction", "sharing_aware_eviction"): "there is one shared TLB, without a peer to share with",
    ("shared_eviction", "protect_low_degree"): "there is one shared TLB, without a peer to share with",
    ("serve", "block_aggregated"): "in a node each wave asks by itself",
}
"""What a node of any machine and any options refuses, and its sentence."""
COUPLED = {("choice", "affinity")}
"""What is a coupling of its own: it is told which modules hold pages (R15)."""
LEVERS = {
    "grouped_run": {"groups": 4},
    "grouped_sampled_run": {"groups": 4},
    "slabs": {"slabs": 4},
    "basic_blocks": {"smallest_bytes": 16, "superblock_blocks": 2},
}
"""Levers with which a policy fits this machine, which its defaults do not."""
EVERY = {
    (slot, name): (part, policy)
    for part, slots in SLOTS.items()
    for slot in defaults_of(slots)
    for name, policy in policies(question_of(Slots, slot)).items()
    if policy.built_in
}
"""Every registered policy of every slot: a new one is here by being registered."""
SERVED = [key for key in EVERY if key not in {*REFUSED, *COUPLED}]
pytestmark = pytest.mark.node


def both(part: str, run: Neutral) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return what happened in each instance of a part, and what the engine by itself says."""
    instances = {"dispatch": run.dispatchers, "translation": run.translations, "malloc": run.heaps}
    if part in instances:
        return [instances[part](card) for card in range(CARDS)]
    return [run.pools()]


def neutral(slot: str, name: str) -> Neutral:
    """Return a run of the node with a policy in a slot."""
    part, policy = EVERY[slot, name]
    return Neutral(setup_with(slot, policy(**LEVERS.get(name, {}))), LAST // 2 if part == "translation" else 0)


@pytest.mark.slow
@pytest.mark.parametrize("slot_and_name", SERVED, ids="-".join)
def test_a_part_of_a_neutral_node_does_as_its_engine(slot_and_name: tuple[str, str]) -> None:
    part, run = EVERY[slot_and_name][0], neutral(*slot_and_name)
    for ours, alone in both(part, run):
        differs = {name: (ours[name], alone[name]) for name in ours if ours[name] != alone[name]}
        assert not differs
        assert any(value not in (0, []) for value in ours.values())


@pytest.mark.parametrize(("slot", "name"), REFUSED)
def test_what_no_node_can_have_is_refused_by_name(slot: str, name: str) -> None:
    with pytest.raises(InputError, match=REFUSED[slot, name]):
        neutral(slot, name)


@pytest.mark.slow
@pytest.mark.parametrize(("slot", "name"), sorted(COUPLED))
def test_what_is_a_coupling_asks_the_node(slot: str, name: str) -> None:
    assert neutral(slot, name).part(0).lent.rules.asks_pages
