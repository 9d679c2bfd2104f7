"""What every dispatch policy owes as a value, whatever its question: to be written down, read, sent and refused."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from typing import Any, ClassVar

import yaml

from workbench.errors import InputError
from workbench.levers import Lever
from workbench.policies.policy import Policy, read_policy

_FRESH = """
import pickle, sys
from importlib import import_module
policy = pickle.load(sys.stdin.buffer)
print(import_module(sys.argv[1]).digest(policy, False, *map(int, sys.argv[2:])))
"""


def in_a_fresh_process(policy: Policy, module: str, *more: int) -> str:
    """What a module's `digest(policy, compiled, *more)` says in a new process that runs plain Python."""
    import cloudpickle

    child = subprocess.run(
        [sys.executable, "-c", _FRESH, module, *map(str, more)],
        input=cloudpickle.dumps(policy),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr.decode()
    return child.stdout.decode().strip()


class LeverContract:
    """Tests that every policy passes as a value; the contract of a question adds those of its answer."""

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
                sentence = self._refusal({name: wrong})
                assert name in sentence, f"{name}={wrong!r}: the refusal does not name the lever: {sentence!r}"
                assert "\n" not in sentence, f"{name}={wrong!r}: the refusal is more than one sentence"
        assert "no_such_lever" in self._refusal({"no_such_lever": 1})

    def _refusal(self, levers: dict[str, Any]) -> str:
        try:
            self.policy.but(**levers)
        except InputError as refused:
            return str(refused)
        raise AssertionError(f"{levers} was not refused")


def wrong_values(declared: Lever) -> list[Any]:
    """Values of the wrong type, outside of the range, or of no meaning.

    >>> wrong_values(Lever("pick", "choice", "low", choices=("low", "high")))[4:]
    ['no_such_choice', 1, True]
    """
    wrong: list[Any] = [None, object(), {}, 3.5j]
    if declared.kind in ("integer", "number"):
        wrong += ["many", True, math.nan, math.inf, -math.inf, *_outside(declared)]
    if declared.kind in ("integers", "numbers"):
        wrong += [3, "many", ["many"], [True], [math.nan], [[1]], *([end] for end in _outside(declared))]
    if declared.kind == "integer":
        wrong += [(declared.least or 0) + 0.5]
    if declared.kind in ("choice", "spec"):
        wrong += ["no_such_choice", 1, True]
    if declared.kind == "switch":
        wrong += ["yes", 1]
    return wrong


def _outside(declared: Lever) -> list[float]:
    below = [] if declared.least is None else [declared.least - 1]
    return below if declared.most is None else [*below, declared.most + 1]
