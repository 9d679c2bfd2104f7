"""Choose the fast contract tests of policies, and how far policies walk.

`make test` walks a third of the way. These tests of a contract are fast; all others have the marker `slow`:

- one setting of a policy's levers, not each;
- a fresh process for policies that draw, and for the example of each question;
- an empty memory for policies that may refuse, and for the example of each question;
- one long walk of a file.
"""

from __future__ import annotations

import pytest

from tests.slow import LONG
from workbench.policies.contract import Contract

LEAST = 20
"""Scenes of each size that a contract looks at in any case."""
CHECKED = "test_stays_within_its_arrays"
"""Compiles each policy once more, with each index checked."""
FRESH, FAR = "test_answers_the_same_in_a_fresh_interpreted_process", "test_walks_far_with_its_twin"
EMPTY = "test_an_empty_memory_serves_every_request"


def kind_of(contract):
    """Return what identifies a policy: contracts of one kind differ in the setting of its levers."""
    return contract.__module__, type(contract.policy)


def is_slow(item, walked):
    """Return whether a test of one policy is slow; `walked` are the files that have a fast walk."""
    name = getattr(item, "originalname", "") or ""
    if name == CHECKED:
        return True
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
        if is_slow(item, walked):
            item.add_marker(pytest.mark.slow)
        of_class = getattr(item, "cls", None)
        if of_class is not None and issubclass(of_class, Contract):
            contracts.setdefault(of_class, kind_of(of_class) not in met)
            met.add(kind_of(of_class))
            if not contracts[of_class]:
                item.add_marker(pytest.mark.slow)
    for contract in contracts:
        if not LONG and contract.steps > LEAST:
            contract.steps = max(contract.steps // 3, LEAST)
