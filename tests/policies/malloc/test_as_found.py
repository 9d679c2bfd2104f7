"""The published designs: made of policies of the package, no two the same, each with its source written down."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench.policies.malloc as module
from workbench.policies.malloc import AS_FOUND
from workbench.policies.policy import read_policy


@pytest.mark.parametrize("label", AS_FOUND)
def test_each_can_be_written_in_a_sweep(label):
    slots = AS_FOUND[label]
    assert list(slots) == ["serve", "heap", "lock", "arenas"]
    for slot, policy in slots.items():
        assert read_policy(slot, {policy.name: policy.plain()}) == policy


def test_no_two_are_the_same_and_each_is_written_down():
    assert len({tuple(slots.values()) for slots in AS_FOUND.values()}) == len(AS_FOUND) == 22
    text = (Path(module.__file__).parent / "DEVIATIONS.md").read_text(encoding="utf-8")
    for label, slots in AS_FOUND.items():
        assert label in text, label
        assert all(f"`{policy.name}`" in text for policy in slots.values())
