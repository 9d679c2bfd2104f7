"""Ask a policy about scenes, compiled as engines do or in plain Python, and note what it saw, answered and wrote.

The scenes of a question are a generator: it yields a view and is sent the answer, so that the next scene may follow
from it. What the policy keeps (its levers as numbers, its memory) is filled in where the view leaves it out. A notice
is yielded as its name and its view. What became of an answer that raised is put into words for the sentence that names
it: the exception, the line, and what was asked.
"""

from __future__ import annotations

import hashlib
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import (
    MOST_TURNS,
    NO_ANSWER,
    RAISED,
    asked,
    failed_call,
    fields_of,
    forget_failed_call,
    guarded,
    keep_failed_call,
    ran_out,
)
from workbench.policies.policy import Policy

ANSWER = "answer"
KEPT: tuple[Any, Any] = (None, None)
"""Stands in a scene for the levers and the memory, which the policy brings along."""
Scenes = Generator[Any, int, None]
"""Yields views, or pairs of a notice's name and its view; is sent the answer to each."""

Say = Callable[[str, Any], int]
"""Takes `answer` or a notice's name, and a view; returns the answer, `RAISED` where there was an exception."""


class Request(NamedTuple):
    """A request to a policy, and its answer."""

    policy: Policy
    name: str
    """`answer`, or that of a notice."""
    see: Any
    """The view as it was before, its arrays copied."""
    answer: int
    """`RAISED` where there was an exception; 0 for a notice."""
    after: Any
    """The view afterwards, its arrays copied."""
    problem: str = ""
    """How it failed, as a part of a sentence."""

    @property
    def outcome(self) -> tuple[Any, ...]:
        """Return the answer, and the bytes of every array that may be written."""
        return self.answer, *(getattr(self.after, name).tobytes() for name in written(self.see))


def written(see: Any) -> list[str]:
    """Return the fields of a view that an answer may write to."""
    return [name for name, field in fields_of(type(see)).items() if field.writable]


def compiled(policy: Policy, checked: bool = False) -> Say:
    """Return a way to ask through the addresses of compiled functions; `checked` tests every index of an array."""
    ready = {
        name: question.ready(function, checked, policy.lever_kinds()) if function is not None else NO_ANSWER
        for name, (function, question) in _functions(policy).items()
    }
    return lambda name, see: 0 if ready[name] is NO_ANSWER else int(asked(ready[name], see))


def plain(policy: Policy) -> Say:
    """Return a way to ask the plain functions in Python."""
    functions = {
        name: None if function is None else policy.plain_answer(function, question)
        for name, (function, question) in _functions(policy).items()
    }

    def say(name: str, see: Any) -> int:
        function = functions[name]
        if function is None:
            return 0
        try:
            with np.errstate(divide="raise", invalid="raise"):  # as compiled answers do
                return int(function(see) or 0)
        except Exception as problem:
            keep_failed_call(policy.asks.name if name == ANSWER else policy.tells[name].name, see, problem)
            return RAISED

    return say


def _functions(policy: Policy) -> Mapping[str, tuple[Callable[..., Any] | None, Any]]:
    notices = {name: (policy.notice(name), question) for name, question in policy.tells.items()}
    return {ANSWER: (policy.function(), policy.asks), **notices}


class Speaker:
    """A policy in one run: its functions, its levers as numbers, its memory.

    Parameters
    ----------
    policy : Policy
        Who is asked.
    memory : int64[memory_size], optional
        What it remembers; written to.
    say : function, optional
        How it is asked; compiled if not given.
    levers : float64[levers], optional
        What it sees of its levers; its parameters if not given.
    """

    def __init__(
        self, policy: Policy, memory: np.ndarray | None = None, say: Say | None = None, levers: np.ndarray | None = None
    ) -> None:
        self.policy = policy
        self.memory = np.zeros(1, np.int64) if memory is None else memory
        self._say = compiled(policy) if say is None else say
        self._levers = policy.parameters() if levers is None else levers

    def ask(self, see: Any) -> int:
        """Return the answer to a view, in which `KEPT` stands for levers and memory."""
        return self._say(ANSWER, self.complete(see))

    def tell(self, name: str, notice: Any) -> int:
        """Tell of something, if the policy wants to know."""
        return self._say(name, self.complete(notice))

    def complete(self, see: Any) -> Any:
        """Return a view with the levers and the memory where it leaves them out."""
        kept = (self._levers, self.memory) if see._fields[-1] == "memory" else (self._levers,)
        given, own = see[-len(kept) :], see[: -len(kept)]
        return type(see)(*own, *(mine if value is None else value for value, mine in zip(given, kept, strict=True)))


def walk(speaker: Speaker, scenes: Scenes) -> Iterator[Request]:
    """Ask about one scene after the other."""
    forget_failed_call()
    answer: int | None = None
    while True:
        try:
            scene = next(scenes) if answer is None else scenes.send(answer)
        except StopIteration:
            return
        name, bare = scene if isinstance(scene[0], str) else (ANSWER, scene)
        see = speaker.complete(bare)
        before = copied(see)
        answer = speaker.ask(see) if name == ANSWER else speaker.tell(name, see)
        problem = why_it_failed(speaker.policy) if answer == RAISED else ""
        yield Request(speaker.policy, name, before, answer, copied(see), problem)


def copied(see: Any) -> Any:
    """Return a view with its arrays copied."""
    return see._make(value.copy() if isinstance(value, np.ndarray) else value for value in see)


def digest(walked: Iterator[Request]) -> str:
    """Return a digest of all outcomes: the same in every process, compiled or not."""
    hashed = hashlib.blake2b(digest_size=8)
    for each in walked:
        hashed.update(repr(each.outcome).encode())
    return hashed.hexdigest()


def why_it_failed(policy: Policy) -> str:
    """Return the way in which the answer, or a notice, of a policy failed last in this thread, as a part of a sentence.

    Compiled code reports no more than that it raised. What it saw in that very call was kept, so the plain function is
    asked the same once more.

    Examples
    --------
    >>> from workbench.policies.placement import FirstFit
    >>> why_it_failed(FirstFit())
    'raised an exception'
    """
    call = failed_call()
    if ran_out():
        forget_failed_call()
        return f"did not end within {MOST_TURNS:,} loop turns{'' if call is None else f' for {call.see}'}"
    if call is None:
        return "raised an exception"
    forget_failed_call()
    problem = _again(policy, call.question, call.see) or call.problem
    if problem is None:
        return f"raised an exception for {call.see}, and does not in plain Python"
    return f"raised {_message(problem)} for {call.see}"


def _again(policy: Policy, question: str, see: Any) -> Exception | None:
    """Ask the plain functions that may have been asked the same once more; return what the first of them raises."""
    for speaker in policy.speakers():
        for function, asks in speaker.functions(question):
            try:
                with np.errstate(divide="raise", invalid="raise"):  # as compiled answers do
                    speaker.plain_answer(function, asks)(guarded(see))
            except Exception as problem:
                return problem
    return None


def _message(problem: BaseException) -> str:
    """Return an exception by name, with its text, its file and its line."""
    text = f"{type(problem).__name__} ({problem})" if str(problem) else type(problem).__name__
    places = [one for one in traceback.extract_tb(problem.__traceback__) if not _is_ours(one.filename)]
    return f"{text} in {Path(places[-1].filename).name}, line {places[-1].lineno}," if places else text


def _is_ours(file: str) -> bool:
    """Return whether a frame is of the code that asks, not of what is asked."""
    return Path(file).parent.name == "compiled" or file == __file__
