"""Every selection policy of the package has a test file of its name, in which it joins the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.policies.joined import built_in, joined, silent

HERE = Path(__file__).parent
BUILT_IN = built_in("selection")


@pytest.mark.parametrize("name", BUILT_IN)
def test_joins_the_contract(name):
    file = HERE / f"test_{name}.py"
    assert file.exists(), f"{name} has no test file"
    assert BUILT_IN[name] in joined(file.read_text(), "SelectionContract"), f"{name} does not join the contract"


def test_every_policy_is_exported():
    import workbench.policies.dispatch as rooms
    import workbench.policies.dispatch.selection as room

    for exported in (room, rooms):
        assert set(BUILT_IN.values()) <= set(exported.__all__)
        assert all(hasattr(exported, name) for name in exported.__all__)


def test_every_policy_tells_its_source_and_its_ties():
    assert silent("selection") == []
