"""Every policy of the room has joined its contract, is exported, and tells its source, its ties and an example."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests.policies.joined import built_in, joined, silent
from workbench.policies.policy import policies
from workbench.policies.translation.walk import digest
from workbench.policies.value_contract import told_by_a_fresh_interpreted_process

HERE = Path(__file__).parent
CONTRACTS = {"eviction": "EvictionContract", "peer": "PeerContract", "fill": "FillContract",
             "remote_fill": "RemoteFillContract", "locate": "LocateContract"}  # fmt: skip
ANSWERING = ("eviction", "peer", "fill", "remote_fill")


@pytest.mark.parametrize("question", CONTRACTS)
def test_every_policy_joins(question):
    text = (HERE / f"test_{question}_policies.py").read_text()
    assert set(built_in(question).values()) == joined(text, CONTRACTS[question])


@pytest.mark.parametrize("question", CONTRACTS)
def test_every_policy_is_exported_and_tells_what_it_must(question):
    room = importlib.import_module(f"workbench.policies.translation.{question}")
    assert set(built_in(question).values()) <= set(room.__all__)
    assert silent(question) == []


def every() -> list:
    found = [cls() for question in ANSWERING for cls in policies(question).values() if cls.built_in]
    return [policy for policy in found if policy.question != "eviction" or policy.base_policy() is policy]


PROGRAM = """
import pickle, sys
policies = pickle.load(sys.stdin.buffer)
from workbench.policies.translation.walk import digest
print(digest(policies, False))
"""


def test_all_answer_the_same_in_a_fresh_interpreted_process():
    assert told_by_a_fresh_interpreted_process(every(), PROGRAM) == digest(every(), True)
