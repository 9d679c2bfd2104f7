"""Every module choice of the package has a test file of its name, in which it joins the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.policies.joined import built_in, joined, silent

HERE = Path(__file__).parent
BUILT_IN = built_in("choice")


@pytest.mark.parametrize("name", BUILT_IN)
def test_joins_the_contract(name):
    file = HERE / f"test_{name}.py"
    assert file.exists(), f"{name} has no test file"
    assert BUILT_IN[name] in joined(file.read_text(), "ChoiceContract"), f"{name} does not join the contract"


def test_sees_who_has_not_joined():
    assert joined("class TestA(ChoiceContract):\n    policy = A(tie='low')\n", "ChoiceContract") == {"A"}
    assert joined("class TestA:\n    policy = A()\n", "ChoiceContract") == set()
    assert joined("class TestA(ChoiceContract):\n    sizes = A()\n", "ChoiceContract") == set()


def test_every_policy_is_exported():
    import workbench.policies.dispatch as room

    assert set(BUILT_IN.values()) <= set(room.__all__)
    assert all(hasattr(room, name) for name in room.__all__)


def test_every_policy_tells_its_source_and_its_ties():
    assert silent("choice") == []
