"""A random walk of a choice: modules fill, empty, execute and warm up, and every score is noted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, kernel
from workbench.errors import PolicyError
from workbench.policies.dispatch.choice.plain import INSTRUCTIONS, USUAL, Scene
from workbench.policies.dispatch.choice.question import CHOSEN, SCORE, Choice
from workbench.policies.dispatch.choice.view import ChoiceNotice, ChoiceView
from workbench.streams import Streams

SEED = 1
UNTOUCHED = 77.0
"""What stands in the scores before they are asked for."""

_score = SCORE.ask
_chosen = CHOSEN.ask


@kernel
def _asked(answer, cycle, count, modules, demand, free, longest, totals, recent, heat, scores, params, memory):  # type: ignore[no-untyped-def]
    return _score(
        answer, ChoiceView(cycle, count, modules, demand, free, longest, totals, recent, heat, scores, params, memory)
    )


@kernel
def _told(answer, module, modules, params, memory):  # type: ignore[no-untyped-def]
    return _chosen(answer, ChoiceNotice(module, modules, params, memory))


class Asked(NamedTuple):
    """One question of the walk and its answer."""

    scene: Scene
    memory: np.ndarray
    """int64[memory_size], what the policy remembered before it."""
    status: int
    """`RAISED` where there was an exception."""
    scores: np.ndarray
    """float64[candidates + 1], a place more than there are candidates."""


class Speaker(Protocol):
    """A way to ask a term of a choice, and to tell it which module was taken."""

    memory: np.ndarray

    def ask(self, shown: Scene, scores: np.ndarray) -> int:
        """Fill in the scores; `RAISED` where there was an exception."""

    def tell(self, module: int, modules: int) -> None:
        """Tell of the module that was taken, if the policy wants to know."""


class CompiledSpeaker:
    """Asks as engines do, through the address of the compiled answer."""

    def __init__(self, term: Choice, modules: int, checked: bool = False) -> None:
        self.name, self.ready = term.short(), term.ready(modules, SEED, checked)
        self.memory = self.ready.memory

    def ask(self, shown: Scene, scores: np.ndarray) -> int:
        """Ask through the address."""
        seen = shown.columns()
        count = shown.modules.size
        return int(_asked(self.ready.answer, shown.cycle, count, *seen, scores, self.ready.params, self.memory))

    def tell(self, module: int, modules: int) -> None:
        """Tell through the address."""
        if self.ready.chosen != NO_ANSWER:
            told = _told(self.ready.chosen, module, modules, self.ready.params, self.memory)
            if told == RAISED:
                raise PolicyError(f"{self.name} raised when it was told that module {module} was taken.")


class PlainSpeaker:
    """Asks the plain functions in Python."""

    def __init__(self, term: Choice, modules: int, checked: bool = False) -> None:
        self.term, self.memory = term, term.start_memory(modules, SEED)

    def ask(self, shown: Scene, scores: np.ndarray) -> int:
        """Call the answer."""
        seen = (shown.cycle, shown.modules.size, *shown.columns(), scores)
        try:
            self.term.plain_answer()(ChoiceView(*seen, self.term.parameters(), self.memory))
        except Exception:
            return RAISED
        return 0

    def tell(self, module: int, modules: int) -> None:
        """Call the notice."""
        told = type(self.term).chosen
        if told is not None:
            notice = ChoiceNotice(module, modules, self.term.parameters(), self.memory)
            self.term.plain_answer(told, CHOSEN)(notice)


def walk(speaker: Speaker, names: tuple[str, ...], modules: int, steps: int, seed: int = 0) -> Iterator[Asked]:
    """Ask about random states of so many modules, and tell of the module that scores highest."""
    draw = Streams(seed)["walk"]
    for step in range(steps):
        shown = drawn_scene(draw, names, modules, cycle=step * 1000)
        memory, scores = speaker.memory.copy(), np.full(shown.modules.size + 1, UNTOUCHED)
        yield Asked(shown, memory, speaker.ask(shown, scores), scores)
        speaker.tell(int(shown.modules[np.argmax(scores[:-1])]), modules)


def drawn_scene(draw: np.random.Generator, names: tuple[str, ...] = USUAL, modules: int = 5, cycle: int = 0) -> Scene:
    """A state of modules: some alike, some empty, with any candidates; instructions in the engine's fixed point."""
    totals = draw.integers(1, 513, len(names))
    kinds = draw.integers(1, modules + 1)
    like = draw.integers(0, kinds, modules)
    free = (totals * draw.choice([0.0, 0.25, 0.9, 1.0], (kinds, len(names)))).astype(np.int64)[like]
    recent = (draw.integers(0, 1 << 34, (kinds, INSTRUCTIONS)) * draw.integers(0, 2, (kinds, 1)) / (1 << 20))[like]
    return Scene(
        cycle=cycle,
        modules=np.sort(draw.permutation(modules)[: draw.integers(1, modules + 1)]),
        demand=draw.integers(0, totals + 1),
        free=free.reshape(-1),
        longest=(free // 2).reshape(-1),
        totals=totals,
        recent=recent.reshape(-1),
        heat=(draw.random(kinds) * 50 * draw.integers(0, 2))[like],
        names=names,
    )


def digest(policy: Choice, speakers: type[CompiledSpeaker] | type[PlainSpeaker], names: tuple[str, ...]) -> str:
    """A digest of the scores of every term on two walks: the same in every process, compiled or not."""
    answers = b""
    for term, _ in policy.bound(names).terms():
        for modules in (1, 6):
            answers += b"".join(asked.scores.tobytes() for asked in walk(speakers(term, modules), names, modules, 40))
    return hashlib.blake2b(answers, digest_size=8).hexdigest()
