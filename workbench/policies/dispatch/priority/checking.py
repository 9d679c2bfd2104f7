"""One call that tries a new priority policy before its first run, and what the contract asks it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, kernel, ran_out
from workbench.errors import PolicyError
from workbench.policies.dispatch.priority.question import HOLDS, RANK, Priority
from workbench.policies.dispatch.priority.view import OrderView, PriorityView
from workbench.streams import Streams

LEVELS = (1, 2, 3, 4, 8)
FAR = 1 << 40
"""A cycle in the trillions: whole numbers must stay exact there."""

_rank = RANK.ask
_holds = HOLDS.ask


@kernel
def _ranked(answer, cycle, priority, levels, waited, params):  # type: ignore[no-untyped-def]
    return _rank(answer, PriorityView(cycle, priority, levels, waited, params))


@kernel
def _held(answer, cycle, levels, params):  # type: ignore[no-untyped-def]
    return _holds(answer, OrderView(cycle, levels, params))


class Asked(NamedTuple):
    """One question."""

    cycle: int
    priority: int
    """1 to `levels` + 1, which is a sub-group below all."""
    levels: int
    waited: int

    def __str__(self) -> str:
        return f"priority {self.priority} of {self.levels} that waited {self.waited} cycles at cycle {self.cycle}"


class Speaker:
    """Asks a policy: compiled, through its address as engines do, or in plain Python."""

    def __init__(self, policy: Priority, compiled: bool, checked: bool = False) -> None:
        self.policy, self.compiled, self.params = policy, compiled, policy.parameters()
        self.ready = policy.ready(checked) if compiled else None

    def rank(self, asked: Asked) -> int:
        """The rank, `RAISED` where there was an exception."""
        if self.ready is not None:
            return int(_ranked(self.ready.answer, *asked, self.params))
        try:
            with np.errstate(divide="raise", invalid="raise"):  # as compiled answers do
                return int(self.policy.plain_answer()(PriorityView(*asked, self.params)))
        except Exception:
            return RAISED

    def holds_until(self, cycle: int, levels: int) -> int:
        """The first cycle at which the order may differ; the next one for a policy that does not say."""
        plain = type(self.policy).holds_until
        if plain is None:
            return cycle + 1
        if self.ready is None:
            return int(self.policy.plain_answer(plain, HOLDS)(OrderView(cycle, levels, self.params)))
        assert self.ready.holds_until != NO_ANSWER
        return int(_held(self.ready.holds_until, cycle, levels, self.params))


def questions(levels: int, count: int, seed: int = 0) -> Iterator[Asked]:
    """Questions about early cycles, with every priority there may be, and some about very late ones."""
    draw = Streams(seed)["questions"]
    for _ in range(count):
        cycle = int(draw.integers(0, draw.choice([20, 500, 5000]))) + (FAR if draw.random() < 0.2 else 0)
        waited = int(draw.integers(0, min(cycle, 4000) + 1))
        yield Asked(cycle, int(draw.integers(1, levels + 2)), levels, waited)


def too_late(speaker: Speaker, levels: int, cycle: int, pairs: int = 12, seed: int = 0) -> str:
    """Where the order of two waiting groups differs before `holds_until` says so; empty where it keeps its word."""
    until = speaker.holds_until(cycle, levels)
    if until <= cycle:
        return f"holds_until({cycle}) is {until}, which is not later"
    draw = Streams(seed)["pairs"]
    for _ in range(pairs):
        born = draw.integers(max(cycle - 3000, 0), cycle + 1, 2)
        two = [(int(p), int(a)) for p, a in zip(draw.integers(1, levels + 2, 2), born, strict=True)]
        orders = {_order(speaker, two, levels, t) for t in _cycles(cycle, until)}
        if len(orders) > 1:
            return f"the order of (priority, arrival) {two[0]} and {two[1]} changes from {cycle} to before {until}"
    return ""


def _order(speaker: Speaker, two: list[tuple[int, int]], levels: int, cycle: int) -> int:
    one, other = (speaker.rank(Asked(cycle, priority, levels, cycle - born)) for priority, born in two)
    return (one > other) - (one < other)


def _cycles(cycle: int, until: int, most: int = 40) -> list[int]:
    """The cycles from one to another: all of them if they are few, else the first and last ones and some between."""
    last = min(until - 1, cycle + 100_000)
    if last - cycle < most:
        return list(range(cycle, last + 1))
    between = np.linspace(cycle, last, most).astype(np.int64).tolist()
    return sorted({*between, cycle + 1, last - 1})


def digest(policy: Priority, compiled: bool) -> str:
    """A digest of the ranks of some hundred questions: the same in every process, compiled or not."""
    speaker = Speaker(policy, compiled)
    ranks = [(asked, speaker.rank(asked)) for asked in questions(4, 200)]
    held = [speaker.holds_until(cycle, 4) for cycle in range(50)]
    return hashlib.blake2b(repr((ranks, held)).encode(), digest_size=8).hexdigest()


def check(policy: Priority, levels: tuple[int, ...] = LEVELS) -> None:
    """Ask a policy some hundred questions, with every array index tested, and refuse a wrong answer.

    Raises
    ------
    PolicyError
        The answer does not compile, raises, never ends, differs between compiled and plain Python, or changes the
        order of two waiting groups before `holds_until` says so.

    Examples
    --------
    >>> from workbench.policies.dispatch.priority import Ageing
    >>> check(Ageing())
    """
    compiled, plain = Speaker(policy, True, checked=True), Speaker(policy, False)
    for count in levels:
        for asked in questions(count, 60):
            _refuse(policy, asked, compiled.rank(asked), plain.rank(asked))
        for cycle in (0, 7, 100, FAR + 3):
            broken = too_late(plain, count, cycle)
            if broken:
                raise PolicyError(f"{policy.short()}: {broken}.")


def _refuse(policy: Priority, asked: Asked, rank: int, again: int) -> None:
    if rank == RAISED:
        what = "did not come to an end" if ran_out() else "raised an exception"
        raise PolicyError(f"{policy.short()} {what} when asked for {asked}.")
    if rank != again:
        raise PolicyError(f"{policy.short()} answered {rank} compiled and {again} in plain Python, for {asked}.")
