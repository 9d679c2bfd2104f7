"""Heaps, locks and arenas as values: written down, read again, and what they refuse."""

from __future__ import annotations

import pytest

from tests.junk import refusal
from workbench.policies.malloc import BitmapArena, BumpPointer, TrylockBackoff
from workbench.policies.policy import policies
from workbench.policies.value_contract import ValueContract

EVERY = [cls() for question in ("heap", "lock", "arenas") for cls in policies(question).values() if cls.built_in]


@pytest.mark.parametrize("policy", EVERY, ids=lambda policy: policy.name)
def test_the_contract_of_values(policy):
    contract = ValueContract()
    contract.policy = policy
    contract.test_yaml_and_back()
    contract.test_pickles()
    contract.test_refuses_wrong_levers()


def test_what_does_not_go_together_is_one_sentence():
    said = refusal(BitmapArena, placement="byte_counter")
    assert said.startswith("bitmap_arena.placement must give each request one range with an address. Got byte_counter.")
    assert "at least first_cycles (64). Got 8. Nearest: 64." in refusal(TrylockBackoff, most_cycles=8)


def test_a_bump_pointer_keeps_what_is_freed():
    assert [heap.name for heap in EVERY if hasattr(heap, "gives_back") and not heap.gives_back] == [BumpPointer.name]
