"""R17: without couplings each part does as its engine by itself, for every registered policy of its slots (spec 6)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.depth import thinned
from tests.engines.node.decoupled import CARDS, LAST, Neutral, setup_with
from workbench.compiled import INTERPRETED
from workbench.engines.kit.slots import defaults_of, question_of
from workbench.engines.node.slots import PARTS, OwnSlots, Slots
from workbench.errors import InputError
from workbench.policies.catalogue import load_all
from workbench.policies.policy import policies

load_all()
SLOTS = {**PARTS, "frames": OwnSlots}
EVERY = [
    pytest.param(part, slot, policy, id=f"{slot}-{name}")
    for part, slots in SLOTS.items()
    for slot in defaults_of(slots)
    for name, policy in policies(question_of(Slots, slot)).items()
    if policy.built_in
]
"""Every registered policy of every slot: a new one is here by being registered."""
pytestmark = [] if INTERPRETED else pytest.mark.long


def both(part: str, run: Neutral) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return what happened in each instance of a part, and what the engine by itself says."""
    instances = {"dispatch": run.dispatchers, "translation": run.translations, "malloc": run.heaps}
    if part in instances:
        return [instances[part](card) for card in range(CARDS)]
    return [run.pools()]


@pytest.mark.parametrize(("part", "slot", "policy"), thinned(EVERY, 12))
def test_a_part_of_a_neutral_node_does_as_its_engine(part: str, slot: str, policy: type) -> None:
    try:
        setup = setup_with(slot, policy())
        run = Neutral(setup, LAST // 2 if part == "translation" else 0)
    except InputError as refused:
        pytest.skip(f"not in this node: {refused}")
    for ours, alone in both(part, run):
        assert {name: (ours[name], alone[name]) for name in ours if ours[name] != alone[name]} == {}
        assert any(value not in (0, []) for value in ours.values())
