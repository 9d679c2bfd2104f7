"""How far policies walk: a third of the way in `make test`, all of it in `make test-long`."""

from __future__ import annotations

import pytest

from tests.depth import LONG
from workbench.policies.contract import Contract

LEAST = 20
"""Scenes of each size that a contract looks at in any case."""


def pytest_collection_modifyitems(items):
    contracts = set()
    for item in items:
        of_class, in_module = getattr(item, "cls", None), getattr(item, "module", None)
        if of_class is not None and issubclass(of_class, Contract):
            contracts.add(of_class)
        if of_class in contracts or hasattr(in_module, "walk_far"):
            item.add_marker(pytest.mark.deeper)
    for contract in contracts:
        if not LONG and contract.steps > LEAST:
            contract.steps = max(contract.steps // 3, LEAST)
