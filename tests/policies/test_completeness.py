"""Every policy of the package has joined its contract, is exported, and tells its source and its ties."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import workbench as wb
from workbench.cli._new_policy import QUESTIONS
from workbench.errors import InputError
from workbench.levers import lever
from workbench.policies.catalogue import load_all
from workbench.policies.contract import ValueContract, contract_of
from workbench.policies.placement import Placement
from workbench.policies.policy import base_of, policies, questions

load_all()
BUILT_IN = {q: [cls for cls in policies(q).values() if cls.built_in] for q in questions()}
EVERY = [pytest.param(cls, id=f"{q}-{cls.name}") for q, found in BUILT_IN.items() for cls in found]
FILES = sorted(Path(__file__).parent.rglob("test_*.py"))


def joined(source: str) -> set[tuple[str, str]]:
    """The name of a contract, and that of the class of which an instance is the `policy` of a subclass of it."""
    result = set()
    for cls in (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)):
        for base in cls.bases:
            assigned = (node for node in cls.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call))
            of_policy = (node for node in assigned if node.targets[0].id == "policy")
            result |= {(getattr(base, "id", ""), node.value.func.id) for node in of_policy}
    return result


JOINED = set().union(*(joined(file.read_text(encoding="utf-8")) for file in FILES))


def test_there_are_all_questions():
    assert list(BUILT_IN) == QUESTIONS
    assert all(BUILT_IN.values())


def test_the_base_of_every_question_is_at_hand():
    assert [q for q in questions() if getattr(wb.policies, base_of(q).__name__, None) is not base_of(q)] == []


@pytest.mark.parametrize("cls", EVERY)
def test_has_joined_its_contract(cls):
    contract = contract_of(cls())
    if type(contract) is not ValueContract:
        assert (type(contract).__name__, cls.__name__) in JOINED
        return
    contract.test_yaml_and_back()
    contract.test_pickles()
    contract.test_refuses_wrong_levers()


@pytest.mark.parametrize("question", BUILT_IN)
def test_is_exported(question):
    for cls in BUILT_IN[question]:
        rooms = [".".join(cls.__module__.split(".")[:depth]) for depth in (3, 4)]
        assert any(hasattr(import_module(room), cls.__name__) for room in rooms), cls.__name__


@pytest.mark.parametrize("cls", EVERY)
def test_tells_its_source_an_example_and_what_becomes_of_ties(cls):
    message = (cls.__doc__ or "").lower()
    assert "references" in message
    assert "say where the rule comes from" not in message, "the reference is the template's"
    assert ">>>" in message
    assert cls.question in UNTIED or "tie" in message or "equal" in message


UNTIED = ("queue", "retry", "admission")
"""Questions whose answers choose among nothing."""


def test_sees_who_has_not_joined():
    assert joined("class TestA(PlacementContract):\n    policy = A(tie='low')\n") == {("PlacementContract", "A")}
    assert joined("class TestA:\n    policy = A()\n") == set()
    assert joined("class TestA(PlacementContract):\n    sizes = A()\n") == set()


def test_a_lever_may_not_hide_what_every_policy_has():
    with pytest.raises(InputError, match=r"mine\.asks: a lever may not be called so"):

        class Mine(Placement):
            asks: bool = lever(False, description="what hides the question")
