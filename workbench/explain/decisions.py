"""The decisions of a run: what each policy saw and answered, in order.

Steps(...)              a run in plain Python that waits after each answer; its state can be read meanwhile
decisions_of(...)       the first questions and answers of a run                        -> list[Decision]
first_difference(...)   where two runs of the same seed part                             -> int | None

Engines call policies through addresses of compiled code and keep no view. With `NUMBA_DISABLE_JIT=1` the same engine
is plain Python, gives the same results to the bit, and each answer passes through a recorder that can wait. Such a run
is in a process of its own. So every question of every engine can be stepped through, with a user's own policy too, and
no engine knows of it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import zip_longest
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import Question, fields_of
from workbench.engines.kit.engine import Setup
from workbench.engines.kit.simulator import Simulator
from workbench.errors import PolicyError, WorkbenchError
from workbench.mechanisms.mechanism import mechanism
from workbench.parts.registry import first_paragraph
from workbench.policies.fresh_process import line_to_a_fresh_interpreted_process
from workbench.policies.policy import Policy
from workbench.policies.probes.question import Probe
from workbench.runs.pickled_setups import Packer, opened

MOST = 2_000
"""Decisions of a run are kept, from its beginning; then it is left."""
STATE = "state"
"""Asks for the state; a number instead asks for so many decisions."""
_WATCH = "workbench.explain.decisions:watch"


class Steps:
    """A run that waits after each answer of a policy, before the engine acts on it.

    Probes are left out: they answer what is so, not what shall be, and are asked of every unit in every round.

    Parameters
    ----------
    setup : Setup
        A point's setup, as `plan.points[k].setup`.
    seed : int

    Attributes
    ----------
    decision : Decision or None
        The last that was made; None before the first.

    Raises
    ------
    InputError
        A policy of the user's refers to something that cannot be sent to another process.
    """

    def __init__(self, setup: Setup, seed: int) -> None:
        pickled = Packer().pack("", setup)
        self._line = line_to_a_fresh_interpreted_process(_WATCH, pickle.dumps((pickled, seed)))
        self._problem, self._over = "", False
        self.decision: Decision | None = None

    @property
    def state(self) -> dict[str, Any]:
        """Return the engine's state as the last answer was given: each column by its name, arrays copied.

        It is empty before the first step. What the columns mean stands at the `State` of the engine's module.
        """
        self._line.send(STATE)
        state: dict[str, Any] = self._line.recv()
        return state

    def next(self) -> Decision | None:
        """Return the next decision; None where the run is over.

        Raises
        ------
        PolicyError
            A policy raised, or its answer is not allowed.
        """
        return next(iter(self.take(1)), None)

    def take(self, most: int) -> list[Decision]:
        """Return the next decisions, fewer where the run is over before.

        Raises
        ------
        PolicyError
            None is left, for a policy raised or gave an answer that is not allowed.
        """
        if self._over or most < 1:
            return self._ended([])
        self._line.send(most)
        decisions, self._over, self._problem = self._received()
        self.decision = decisions[-1] if decisions else self.decision
        return self._ended(decisions)

    def until(self, wanted: Callable[[Decision], bool]) -> Decision | None:
        """Go on to the next decision that is wanted, and return it; None where there is none."""
        return next((decision for decision in self if wanted(decision)), None)

    def close(self) -> None:
        """Leave the run."""
        self._line.close()

    def __iter__(self) -> Iterator[Decision]:
        while (decision := self.next()) is not None:
            yield decision

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, kind: type | None, problem: BaseException | None, where: TracebackType | None) -> None:
        self.close()

    def _received(self) -> tuple[list[Decision], bool, str]:
        try:
            received: tuple[list[Decision], bool, str] = self._line.recv()
        except EOFError:
            return [], True, "the run ended unexpectedly."
        return received

    def _ended(self, decisions: list[Decision]) -> list[Decision]:
        if self._problem and not decisions:
            raise PolicyError(self._problem)
        return decisions


def decisions_of(setup: Setup, seed: int, most: int = MOST) -> list[Decision]:
    """Return the first decisions of a run, in the order in which they were made.

    Parameters
    ----------
    setup : Setup
        A point's setup, as `plan.points[k].setup`.
    seed : int
    most : int
        How many are kept.

    Raises
    ------
    PolicyError
        A policy raised before, or its answer is not allowed.
    InputError
        A policy of the user's refers to something that cannot be sent to another process.

    Examples
    --------
    >>> from workbench.experiments.plan import make_plan
    >>> from workbench.experiments.sweep import read_sweep
    >>> plan = make_plan(read_sweep({"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 9}}))
    >>> first = decisions_of(plan.points[0].setup, seed=0)[0]
    >>> first.policy, first.saw["segments"], first.answer
    ('nearest_boundary', 128, 0)
    """
    with Steps(setup, seed) as steps:
        decisions = steps.take(most)
        return decisions if len(decisions) == most else decisions + steps.take(1)


OWN = ("levers", "memory")
"""The fields of a view that belong to the policy: two runs do not part because they differ."""


class Decision(NamedTuple):
    """What a policy was asked once in a run, and its answer; all values are plain."""

    number: int
    """Its place among the decisions of the run that are kept, from 0."""
    question: str
    policy: str
    """Who answered, with the levers that differ from their defaults."""
    rule: str
    """How this policy decides, in a sentence: the first of its documentation."""
    meaning: str
    """What the number means that is answered."""
    saw: dict[str, Any]
    """The fields of the view before the answer: numbers, and lists where they are arrays."""
    about: dict[str, str]
    """What each field is."""
    answer: int
    wrote: dict[str, list[Any]]
    """The arrays that the answer changed, as they are after it; what a policy remembers is left out."""
    digest: bytes = b""
    """Of all that was seen, also of what is too long to be kept."""

    def outcome(self) -> tuple[Any, ...]:
        """Return the facts that two runs must have in common in order not to part here."""
        return self.question, self.digest, self.answer, self.wrote


def first_difference(one: Sequence[Decision], two: Sequence[Decision]) -> int | None:
    """Return the number of the first decision at which two runs differ in what was asked or answered; None = nowhere.

    Scores count: two policies that rate the candidates otherwise differ there, though they may take the same one.
    """
    for number, pair in enumerate(zip_longest(one, two)):
        if None in pair or pair[0].outcome() != pair[1].outcome():
            return number
    return None


MOST_ENTRIES = 512
"""Of an array are kept; all of them count where two runs are compared."""


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
        recorder.made = 0  # played once more, with more space for its logs
        return recorder.play

    def recording(*run: Any) -> Any:
        recorder.left = True  # what an engine runs in addition is another run
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
        """Return the substitute for `Question.ready`: the same answers, watched."""

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
        rule = first_paragraph((type(who) if who is not None else answer).__doc__)
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
