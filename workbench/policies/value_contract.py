"""What every policy owes as a value, whatever its question: it is written down and read again, and refuses nonsense.

The contracts of the questions are built on it.
"""

from __future__ import annotations

import math
import pickle
from typing import Any, ClassVar

import yaml

from workbench.errors import InputError
from workbench.levers import Lever
from workbench.policies.fresh_process import in_a_fresh_interpreted_process
from workbench.policies.policy import Policy, read_policy


class ValueContract:
    """Tests that every policy passes; a subclass names the policy."""

    policy: ClassVar[Any]

    def test_yaml_and_back(self) -> None:
        text = yaml.safe_dump({self.policy.name: self.policy.plain()})
        assert read_policy(self.policy.question, yaml.safe_load(text)) == self.policy, text

    def test_pickles(self) -> None:
        import cloudpickle

        assert pickle.loads(cloudpickle.dumps(self.policy)) == self.policy
        if self.policy.built_in:
            assert pickle.loads(pickle.dumps(self.policy)) == self.policy

    def test_refuses_wrong_levers(self) -> None:
        for name, declared in self.policy.levers.items():
            for wrong in wrong_values(declared):
                sentence = _refusal(self.policy, {name: wrong})
                assert name in sentence, f"{name}={wrong!r}: the refusal does not name the lever: {sentence!r}"
                assert "\n" not in sentence, f"{name}={wrong!r}: the refusal is more than one sentence"
        assert "no_such_lever" in _refusal(self.policy, {"no_such_lever": 1})


def wrong_values(declared: Lever) -> list[Any]:
    """Return the values of the wrong type, outside of the range, or of no meaning."""
    wrong: list[Any] = [None, {}, object()]
    wrong += [] if declared.kind in ("integers", "numbers", "specs") else [[]]
    if declared.kind in ("integer", "number"):
        wrong += ["many", True, math.nan, math.inf, -math.inf]
        wrong += [declared.least - 1] if declared.least is not None else []
        wrong += [declared.most + 1] if declared.most is not None else []
    if declared.kind == "integer":
        wrong += [(declared.least or 0) + 0.5]
    if declared.kind in ("integers", "numbers"):
        wrong += ["many", [None], [math.nan], [1.0, "many"], 3]
        wrong += [[declared.least - 1]] if declared.least is not None else []
        wrong += [[declared.most + 1]] if declared.most is not None else []
    if declared.kind in ("choice", "spec"):
        wrong += ["no_such_choice", 1, True]
    if declared.kind == "specs":
        wrong += ["many", [None], ["no_such_choice"], 3]
    if declared.kind == "switch":
        wrong += ["yes", 1]
    return wrong


def told_by_a_fresh_interpreted_process(given: object, program: str) -> str:
    """Return what a program prints that reads something pickled from its standard input, in plain Python."""
    import cloudpickle

    reply = in_a_fresh_interpreted_process(program, cloudpickle.dumps(given))
    assert not reply.problem, reply.problem
    return reply.said.strip()


def _refusal(policy: Policy, levers: dict[str, Any]) -> str:
    try:
        policy.but(**levers)
    except InputError as refused:
        return str(refused)
    raise AssertionError(f"{levers} was not refused")
