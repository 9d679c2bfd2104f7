"""The side of `decisions_of` that runs in plain Python: every answer passes through a recorder."""

from __future__ import annotations

import base64
import pickle
import sys
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

import numpy as np

from workbench.compiled import Question, fields_of
from workbench.engines.engine import Setup
from workbench.errors import PolicyError
from workbench.experiments.mechanism import mechanism
from workbench.experiments.pickled_setup import opened
from workbench.policies.policy import Policy
from workbench.policies.probes import Probe
from workbench.studies.decisions.decision import OWN, Decision

MOST_ENTRIES = 512
"""Of an array are kept; all of them count where two runs are compared."""


class _Enough(BaseException):
    """Leaves a run of which enough was seen; no policy's exception, so nothing on the way takes it for one."""


def watch_given() -> None:
    """Read a setup, a seed and a number from the standard input, and print the decisions of that run."""
    pickled, seed, most = pickle.load(sys.stdin.buffer)
    decisions = watched(opened(pickled), seed, most)
    sys.stdout.write(base64.b64encode(pickle.dumps(decisions)).decode())


def watched(setup: Setup, seed: int, most: int) -> list[Decision]:
    """Return the first decisions of a run in this process, whose kernels must be plain Python."""
    recorder = _Recorder(setup, most)
    plain = Question.ready
    Question.ready = recorder.instead_of(plain)  # type: ignore[method-assign]
    try:
        mechanism(setup.engine).engine.simulate(setup, seed)
    except _Enough:
        pass
    finally:
        Question.ready = plain  # type: ignore[method-assign]
    return recorder.decisions


class _Recorder:
    def __init__(self, setup: Setup, most: int) -> None:
        self.decisions: list[Decision] = []
        self._most = most
        self._speakers = [one for policy in setup.policies.values() for one in _all(policy)]

    def instead_of(self, ready: Callable[..., Any]) -> Callable[..., Any]:
        """Return what stands in for `Question.ready`: the same answers, watched."""

        def watched_ready(question: Question, answer: Any, checked: bool = False, kinds: Any = ()) -> Any:
            made = ready(question, answer, checked, kinds)
            who = self._who(answer, question.name)
            if isinstance(who, Probe) or not (_changeable(question) or _answers(question)):
                return made  # a notice answers nothing
            return self._watching(question, made, who, answer)

        return watched_ready

    def _who(self, answer: Any, question: str) -> Policy | None:
        """Return the policy whose function this is."""
        return next((one for one in self._speakers if answer in _functions(one, question)), None)

    def _watching(self, question: Question, made: Any, who: Policy | None, answer: Any) -> Any:
        name = who.short() if who is not None else answer.__qualname__.split(".")[0]
        rule = _first_sentence((type(who) if who is not None else answer).__doc__ or "")
        about = {field: one.description for field, one in fields_of(question.see).items()}

        def watching(see: Any) -> Any:
            before, digest = _plain(see), _digest(see)
            arrays = {field: getattr(see, field).copy() for field in _changeable(question)}
            reply = made(see)
            now = {field: getattr(see, field) for field in arrays}
            after = {field: _value(now[field]) for field, old in arrays.items() if not np.array_equal(old, now[field])}
            number = len(self.decisions)
            answer = int(reply or 0)
            kept = (question.name, name, rule, question.answers, before, about, answer, after, digest)
            self.decisions.append(Decision(number, *kept))
            if number + 1 >= self._most:
                raise _Enough
            return reply

        return watching


def _answers(question: Question) -> bool:
    """Return whether a number is answered; a notice answers nothing."""
    return str(question.signature.return_type) != "none"


def _changeable(question: Question) -> list[str]:
    """Return the arrays of a view that an answer fills in."""
    return [field for field, one in fields_of(question.see).items() if one.writable and field not in OWN]


def _all(policy: Policy) -> Iterator[Policy]:
    """Yield a policy and those that answer for it or stand in its levers."""
    yield policy
    for one in policy.speakers():
        if one is not policy:
            yield from _all(one)
    for name in policy.nested:
        value = getattr(policy, name)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Policy):
                yield from _all(inner)


def _functions(policy: Policy, question: str) -> list[Any]:
    try:
        return [function for function, _ in policy.functions(question)]
    except PolicyError:
        return []  # one that only combines others has no answer of its own


def _plain(see: Any) -> dict[str, Any]:
    return {name: _value(value) for name, value in zip(see._fields, see, strict=True)}


def _value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value[:MOST_ENTRIES].tolist()
    return value.item() if isinstance(value, np.generic) else value


def _digest(see: Any) -> bytes:
    """Return a digest of all that is seen but what belongs to the policy."""
    hashed = blake2b(digest_size=8)
    for name, value in zip(see._fields, see, strict=True):
        if name not in OWN:
            hashed.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
    return hashed.digest()


def _first_sentence(text: str) -> str:
    return " ".join(text.strip().split("\n\n")[0].split())
