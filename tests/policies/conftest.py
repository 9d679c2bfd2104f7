"""How far policies walk: a third of the way in `make test`, each with one setting of its levers; else all of it."""

from __future__ import annotations

import pytest

from tests.depth import LONG
from workbench.policies.contract import Contract

LEAST = 20
"""Scenes of each size that a contract looks at in any case."""


def kind_of(contract):
    """What is held against a contract: a policy's class; of its levers `make test` looks at one setting."""
    return contract.__module__, type(contract.policy)


def pytest_collection_modifyitems(items):
    contracts, met = {}, set()
    for item in items:
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
