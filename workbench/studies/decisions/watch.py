"""The side of a stepped run that runs in plain Python: every answer passes through a recorder, which waits."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from hashlib import blake2b
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from workbench.compiled import Question, fields_of
from workbench.engines.engine import Setup
from workbench.engines.kit.frame import Simulator
from workbench.errors import PolicyError, WorkbenchError
from workbench.experiments.mechanism import mechanism
from workbench.experiments.user_code import opened
from workbench.policies.policy import Policy
from workbench.policies.probes import Probe
from workbench.studies.decisions.decision import OWN, Decision

MOST_ENTRIES = 512
"""Of an array are kept; all of them count where two runs are compared."""
STATE = "state"
"""Asks for the state; a number instead asks for so many decisions."""


def watch(line: Connection, given: bytes) -> None:
    """Run a setup that was pickled with a seed; send decisions, or the state, as they are asked for.

    An answer to a number is a list of decisions, whether the run is over, and its problem ("" if it has none).
    """
    pickled, seed = pickle.loads(given)
    setup = opened(pickled)
    recorder = _Recorder(setup, line)
    recorder.wait()
    recorder.send(_problem_of(recorder, setup, seed), over=True)
    while True:
        recorder.wait()
        recorder.send("", over=True)


def _problem_of(recorder: _Recorder, setup: Setup, seed: int) -> str:
    """Run to the end in this process, whose kernels must be plain Python; return what went wrong, or nothing."""
    engine: Any = mechanism(setup.engine).engine
    if isinstance(engine, Simulator):
        _follow(engine, recorder)
    Question.ready = recorder.instead_of(Question.ready)  # type: ignore[method-assign]
    try:
        engine.simulate(setup, seed)
    except WorkbenchError as problem:
        return str(problem)
    return ""


def _follow(engine: Any, recorder: _Recorder) -> None:
    """Let the recorder know each play of a run, and when the run is over."""
    begin, record = engine.begin, engine.record

    def beginning(run: Any, attempt: Any) -> Any:
        recorder.play = begin(run, attempt)
        recorder.made = 0  # played once more, with more room for its logs
        return recorder.play

    def recording(*run: Any) -> Any:
        recorder.left = True  # what an engine runs beside it is another run
        return record(*run)

    engine.begin, engine.record = beginning, recording


class _Recorder:
    """Keeps what is asked and answered until somebody wants it."""

    def __init__(self, setup: Setup, line: Connection) -> None:
        self.play: Any = None
        self.made = 0
        """Decisions in this play of the run."""
        self.left = False
        self._line, self._kept, self._number, self._wanted = line, list[Decision](), 0, 0
        self._speakers = [one for policy in setup.policies.values() for one in _all(policy)]

    def wait(self) -> None:
        """Answer about the state until decisions are wanted."""
        while (order := self._line.recv()) == STATE:
            self._line.send({} if self.play is None else _readable(self.play.state))
        self._wanted = order

    def send(self, problem: str = "", over: bool = False) -> None:
        """Send what is kept."""
        self._line.send((self._kept, over, problem))
        self._kept = []

    def keep(self, decision: Callable[[int], Decision]) -> None:
        """Keep a decision, unless it was kept when the run was played before; wait where it is the last wanted."""
        self.made += 1
        if self.left or self.made <= self._number:
            return
        self._kept.append(decision(self._number))
        self._number += 1
        if len(self._kept) >= self._wanted:
            self.send()
            self.wait()

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
            number = int(reply or 0)
            kept = (question.name, name, rule, question.answers, before, about, number, after, digest)
            self.keep(lambda place: Decision(place, *kept))
            return reply

        return watching


def _readable(state: Any) -> Any:
    """Return the columns of a state by their names, arrays copied; what is called, and is no state, is left out."""
    if hasattr(state, "_asdict"):
        return {name: _readable(value) for name, value in state._asdict().items() if not callable(value)}
    if isinstance(state, np.ndarray):
        return state.copy()
    if isinstance(state, tuple | list):
        return [_readable(value) for value in state if not callable(value)]
    return state.item() if isinstance(state, np.generic) else state


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
