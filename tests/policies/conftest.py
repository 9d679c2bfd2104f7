"""How far policies walk: a third of the way in `make test`, all of it in `make test-long`."""

from __future__ import annotations

import pytest

from tests.depth import LONG
from workbench.policies.contract import Contract

LEAST = 20
"""Scenes of each size that a contract looks at in any case."""


def pytest_collection_modifyitems(items):
    contracts = {item.cls for item in items if item.cls is not None and issubclass(item.cls, Contract)}
    for item in items:
        if item.cls in contracts or hasattr(item.module, "walk_far"):
            item.add_marker(pytest.mark.deeper)
    for contract in contracts:
        if not LONG and contract.steps > LEAST:
            contract.steps = max(contract.steps // 3, LEAST)
