"""How far policies walk: a third of the way in `make test`, each with one setting of its levers; else all of it.

Three proofs of each policy are a few policies' in `make test`, and all others' in its shards. A process of its own is
started for what draws and for each question's own example; that compiled and plain answers are the same is asked of
all. A policy walks far with one setting of its levers; with all of them it walks near, beside the same twin. And that
an empty memory serves every request is asked of those that say no, and of the example: every state of small memories is
compared for all.
"""

from __future__ import annotations

import pytest

from tests.depth import LONG
from workbench.policies.contract import Contract

LEAST = 20
"""Scenes of each size that a contract looks at in any case."""


def kind_of(contract):
    """What is held against a contract: a policy's class; of its levers `make test` looks at one setting."""
    return contract.__module__, type(contract.policy)


FRESH, FAR = "test_answers_the_same_in_a_fresh_interpreted_process", "test_walks_far_with_its_twin"
EMPTY = "test_an_empty_memory_serves_every_request"


def is_left_to_long(item, walked):
    """Whether an item is one of the three proofs that a few policies have in `make test`."""
    name = getattr(item, "originalname", "") or ""
    if name in (FRESH, EMPTY) and item.cls is not None:
        policy = item.cls.policy
        is_special = policy.draws if name == FRESH else not policy.serves_empty()
        return not (is_special or item.path.name == "test_contract.py")
    if not name.startswith(FAR):
        return False
    again = item.path in walked
    walked.add(item.path)
    return again


def pytest_collection_modifyitems(items):
    contracts, met, walked = {}, set(), set()
    for item in items:
        if is_left_to_long(item, walked):
            item.add_marker(pytest.mark.long)
        of_class, in_module = getattr(item, "cls", None), getattr(item, "module", None)
        if of_class is not None and issubclass(of_class, Contract):
            contracts.setdefault(of_class, kind_of(of_class) not in met)
            met.add(kind_of(of_class))
            if not contracts[of_class]:
                item.add_marker(pytest.mark.long)
        if of_class in contracts or hasattr(in_module, "walk_far"):
            item.add_marker(pytest.mark.deeper)
    for contract in contracts:
        if not LONG and contract.steps > LEAST:
            contract.steps = max(contract.steps // 3, LEAST)
