"""A random walk through the states of a memory under a policy: ask, take, give back, and note every answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, kernel
from workbench.errors import PolicyError
from workbench.policies.placement.free_map_text import as_text
from workbench.policies.placement.question import PLACE, TOLD, Placement
from workbench.policies.placement.view import PlacementNotice, PlacementView
from workbench.streams import Streams
from workbench.structures.free_map import all_free, mark_free, mark_taken, unpacked

MEMORY_SEED = 1
GRANTED, RELEASED = 0, 1

_place = PLACE.ask
_tell = TOLD.ask


@kernel
def _asked(answer, free, segments, length, params, memory):  # type: ignore[no-untyped-def]
    return _place(answer, PlacementView(free, segments, length, params, memory))


@kernel
def _told(answer, free, segments, start, length, params, memory):  # type: ignore[no-untyped-def]
    return _tell(answer, PlacementNotice(free, segments, start, length, params, memory))


class Asked(NamedTuple):
    """One question of the walk and its answer."""

    free: np.ndarray
    """uint64[words], the free map that was asked about."""
    segments: int
    length: int
    """Segments asked for, rounded up where the policy rounds."""
    memory: np.ndarray
    """int64[memory_size], what the policy remembered."""
    answer: int

    @property
    def bits(self) -> np.ndarray:
        """The free map as booleans, segment 0 first."""
        return unpacked(self.free, self.segments)

    @property
    def text(self) -> str:
        """The free map as a string, segment 0 on the left."""
        return as_text(self.free, self.segments)


class Speaker(Protocol):
    """A way to ask a policy and to tell it what happened."""

    memory: np.ndarray

    def ask(self, free: np.ndarray, length: int) -> int:
        """The answer, `RAISED` where there was an exception."""

    def tell(self, which: int, free: np.ndarray, start: int, length: int) -> None:
        """Tell of a grant or a release, if the policy wants to know."""


class CompiledSpeaker:
    """Asks as engines do, through the address of the compiled answer."""

    def __init__(self, policy: Placement, segments: int, checked: bool = False) -> None:
        self.name, self.segments = policy.short(), segments
        self.ready = policy.ready(segments, MEMORY_SEED, checked)
        self.memory = self.ready.memory

    def ask(self, free: np.ndarray, length: int) -> int:
        """Ask through the address."""
        return int(_asked(self.ready.answer, free, self.segments, length, self.ready.params, self.memory))

    def tell(self, which: int, free: np.ndarray, start: int, length: int) -> None:
        """Tell through the address."""
        told = (self.ready.granted, self.ready.released)[which]
        if told == NO_ANSWER:
            return
        if _told(told, free, self.segments, start, length, self.ready.params, self.memory) == RAISED:
            what = ("a grant", "a release")[which]
            raise PolicyError(f"{self.name} raised when it was told of {what} of [{start}, {start + length}).")


class PlainSpeaker:
    """Asks the plain functions in Python."""

    def __init__(self, policy: Placement, segments: int) -> None:
        self.policy, self.segments = policy, segments
        self.memory = policy.start_memory(segments, MEMORY_SEED)

    def ask(self, free: np.ndarray, length: int) -> int:
        """Call the answer."""
        try:
            return self.policy.ask(free, self.segments, length, self.memory)
        except Exception:
            return RAISED

    def tell(self, which: int, free: np.ndarray, start: int, length: int) -> None:
        """Call the notice."""
        told = self.policy.notices()[which]
        if told is not None:
            notice = PlacementNotice(free, self.segments, start, length, self.policy.parameters(), self.memory)
            self.policy.plain_answer(told, TOLD)(notice)


def walk(policy: Placement, speaker: Speaker, segments: int, steps: int, seed: int = 0) -> Iterator[Asked]:
    """Ask about random lengths; take most of what is granted, give something back after a refusal.

    An answer that is no free range is yielded like any other and then not taken, so the walk goes on.
    """
    draw = Streams(seed)["walk"]
    free, live = all_free(segments), list[list[tuple[int, int]]]()
    for _ in range(steps):
        length = _length(policy, segments, draw)
        asked = Asked(free.copy(), segments, length, speaker.memory.copy(), speaker.ask(free, length))
        yield asked
        if holds(policy, asked) and draw.random() < 0.9:
            live.append(_take(policy, speaker, free, asked))
        elif live:
            _give_back(policy, speaker, free, live.pop(int(draw.integers(len(live)))))


def holds(policy: Placement, asked: Asked) -> bool:
    """Whether the answer is a grant that the policy's layout allows."""
    start, end = asked.answer, asked.answer + asked.length
    if policy.layout == "scattered":
        return 0 <= start < asked.segments and asked.bits.sum() >= asked.length
    return start >= 0 and end <= asked.segments and bool(asked.bits[start:end].all())


def fits(policy: Placement, asked: Asked) -> bool:
    """Whether some grant was possible."""
    if policy.layout == "scattered":
        return bool(asked.bits.sum() >= asked.length)
    return "1" * asked.length in asked.text


def digest(policy: Placement, speakers: type[CompiledSpeaker] | type[PlainSpeaker], steps: int = 60) -> str:
    """A digest of the answers on three walks: the same in every process, compiled or not."""
    answers = []
    for segments in (16, 65, 100):
        speaker = speakers(policy, segments)
        answers += [(a.length, a.answer) for a in walk(policy, speaker, segments, steps)]
    return hashlib.blake2b(repr(answers).encode(), digest_size=8).hexdigest()


def _length(policy: Placement, segments: int, draw: np.random.Generator) -> int:
    """Small lengths often, up to the whole memory; never one that the policy rounds above it."""
    most = int(draw.choice([max(segments // 16, 1), max(segments // 4, 1), segments]))
    length = int(policy.footprint(int(draw.integers(1, most + 1)), segments))
    return length if length <= segments else int(policy.footprint(1, segments))


def _take(policy: Placement, speaker: Speaker, free: np.ndarray, asked: Asked) -> list[tuple[int, int]]:
    ranges = [(asked.answer, asked.length)]
    if policy.layout == "scattered":
        ranges = [(int(k), 1) for k in np.flatnonzero(asked.bits)[: asked.length]]
    for start, length in ranges:
        mark_taken(free, start, length)
    speaker.tell(GRANTED, free, asked.answer, asked.length)
    return ranges


def _give_back(policy: Placement, speaker: Speaker, free: np.ndarray, ranges: list[tuple[int, int]]) -> None:
    for start, length in ranges:
        mark_free(free, start, length)
    speaker.tell(RELEASED, free, ranges[0][0], sum(length for _, length in ranges))
