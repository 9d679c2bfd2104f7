"""A random walk through rounds: ask a selection policy who is dispatched, and note every answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np

from workbench.compiled import RAISED, kernel
from workbench.policies.dispatch.selection.question import NOBODY, SELECT, Selection
from workbench.policies.dispatch.selection.view import SelectionView
from workbench.streams import Streams

MEMORY_SEED = 1
SPARE = 2
"""Entries behind the last waiting group: arrays may be longer than the round."""

_select = SELECT.ask


@kernel
def _selected(answer, cycle, count, channel, priority, rank, fits, waited, waves, params, memory):  # type: ignore[no-untyped-def]
    return _select(answer, SelectionView(cycle, count, channel, priority, rank, fits, waited, waves, params, memory))


class Round(NamedTuple):
    """What is asked about in one round; the arrays are longer than there are groups."""

    cycle: int
    waiting: int
    """How many groups wait."""
    channel: np.ndarray
    priority: np.ndarray
    rank: np.ndarray
    fits: np.ndarray
    waited: np.ndarray
    waves: np.ndarray

    def __str__(self) -> str:
        each = zip(*(column[: self.waiting].tolist() for column in self[2:]), strict=True)
        return f"cycle {self.cycle}, (channel, priority, rank, fits, waited, waves) {list(each)}"


class Asked(NamedTuple):
    """One round of the walk and its answer."""

    round: Round
    before: np.ndarray
    """int64[memory_size], what the policy remembered when it was asked."""
    answer: int
    after: np.ndarray
    """int64[memory_size], what it remembers since."""

    @property
    def in_order(self) -> bool:
        """Whether the answer is a group that fits, or nobody."""
        k = self.answer
        return k == NOBODY or (0 <= k < self.round.waiting and bool(self.round.fits[k]))


class Speaker(Protocol):
    """A way to ask a policy."""

    memory: np.ndarray

    def ask(self, asked: Round) -> int:
        """The answer, `RAISED` where there was an exception."""


class CompiledSpeaker:
    """Asks as engines do, through the address of the compiled answer."""

    def __init__(self, policy: Selection, channels: int, levels: int, checked: bool = False) -> None:
        self.ready = policy.ready(channels, levels, MEMORY_SEED, checked)
        self.memory = self.ready.memory

    def ask(self, asked: Round) -> int:
        """Ask through the address."""
        return int(_selected(self.ready.answer, *asked, self.ready.params, self.memory))


class PlainSpeaker:
    """Asks the plain function in Python."""

    def __init__(self, policy: Selection, channels: int, levels: int) -> None:
        self.policy, self.memory = policy, policy.start_memory(channels, levels, MEMORY_SEED)

    def ask(self, asked: Round) -> int:
        """Call the answer."""
        try:
            with np.errstate(divide="raise", invalid="raise"):  # as compiled answers do
                return int(self.policy.plain_answer()(SelectionView(*asked, self.policy.parameters(), self.memory)))
        except Exception:
            return RAISED


@cache
def rounds(channels: int, levels: int, steps: int, seed: int = 0) -> tuple[Round, ...]:
    """Rounds at rising cycles, each with some channels waiting, of which at least one has a group that fits.

    Ranks follow the static priorities, or lie close together, or are negative. Now and then only one channel waits.
    """
    draw, cycle, found = Streams(seed)["rounds"], 0, []
    for _ in range(steps):
        found.append(_round(draw, cycle, channels, levels))
        cycle += int(draw.integers(0, 40))
    return tuple(found)


def _round(draw: np.random.Generator, cycle: int, channels: int, levels: int) -> Round:
    waiting = int(draw.integers(1, channels + 1))
    channel = np.sort(draw.permutation(channels)[:waiting])
    priority = draw.integers(1, levels + 2, waiting)
    rank = priority if draw.random() < 0.5 else draw.integers(-2, 2, waiting)
    fits = draw.random(waiting) < (0.2, 0.6, 1.0)[int(draw.integers(3))]
    fits[int(draw.integers(waiting))] = True
    columns = (channel, priority, rank, fits, draw.integers(0, 50, waiting), draw.integers(1, 17, waiting))
    return Round(cycle, waiting, *(_longer(column, draw) for column in columns))


def _longer(column: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    return np.concatenate([column.astype(np.int64), draw.integers(0, 2, SPARE)])


def walk(speaker: Speaker, channels: int, levels: int, steps: int, seed: int = 0) -> Iterator[Asked]:
    """Ask about every round in turn; what the policy remembers goes along."""
    for asked in rounds(channels, levels, steps, seed):
        before = speaker.memory.copy()
        answer = speaker.ask(asked)
        yield Asked(asked, before, answer, speaker.memory.copy())


def digest(policy: Selection, compiled: bool, channels: int, levels: int = 4, steps: int = 150) -> str:
    """A digest of the answers on one walk: the same in every process, compiled or not."""
    speaker: Speaker = (CompiledSpeaker if compiled else PlainSpeaker)(policy, channels, levels)
    answers = [asked.answer for asked in walk(speaker, channels, levels, steps)]
    return hashlib.blake2b(repr(answers).encode(), digest_size=8).hexdigest()
