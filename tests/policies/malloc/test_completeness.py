"""Every way to serve warps has a test file of its name, in which it joins the contract; every policy is told whole."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench.policies.malloc as room
from tests.policies.joined import built_in, joined, silent

HERE = Path(__file__).parent
BUILT_IN = built_in("serve")
QUESTIONS = ("serve", "heap", "lock", "arenas")


@pytest.mark.parametrize("name", BUILT_IN)
def test_joins_the_contract(name):
    file = HERE / f"test_{name}.py"
    assert file.exists(), f"{name} has no test file"
    assert BUILT_IN[name] in joined(file.read_text(), "ServeContract"), f"{name} does not join the contract"


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_policy_is_exported_and_tells_its_source_and_its_ties(question):
    assert set(built_in(question).values()) <= set(room.__all__)
    assert silent(question) == []
