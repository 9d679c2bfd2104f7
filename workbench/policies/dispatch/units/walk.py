"""A random walk of one module under a policy for units: groups come, are taken or go elsewhere, and end."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from workbench.compiled import RAISED, kernel
from workbench.policies.dispatch.units.question import UNITS, Units
from workbench.policies.dispatch.units.view import UnitsView
from workbench.streams import Streams

SEED = 1
WAVES_A_UNIT = 16

_split = UNITS.ask

Ask = Callable[[int, int, int, np.ndarray, np.ndarray], int]
"""(waves, units, pointer, taken, counts to be filled) -> new pointer, `RAISED` where there was an exception."""


@kernel
def _asked(answer, waves, units, pointer, taken, counts, params):  # type: ignore[no-untyped-def]
    return _split(answer, UnitsView(waves, units, pointer, taken, counts, params))


class Asked(NamedTuple):
    """One question of the walk and its answer."""

    waves: int
    units: int
    pointer: int
    taken: tuple[int, ...]
    counts: tuple[int, ...]
    after: int


def compiled(policy: Units, checked: bool = False) -> Ask:
    """Ask as engines do, through the address of the compiled answer."""
    ready = policy.ready(checked)

    def ask(waves: int, units: int, pointer: int, taken: np.ndarray, counts: np.ndarray) -> int:
        return int(_asked(ready.answer, waves, units, pointer, taken, counts, ready.params))

    return ask


def plain(policy: Units) -> Ask:
    """Ask the plain function in Python."""

    def ask(waves: int, units: int, pointer: int, taken: np.ndarray, counts: np.ndarray) -> int:
        try:
            return int(policy.plain_answer()(UnitsView(waves, units, pointer, taken, counts, policy.parameters())))
        except Exception:
            return RAISED

    return ask


def walk(policy: Units, ask: Ask, units: int, steps: int, seed: int = 0) -> Iterator[Asked]:
    """Ask about groups of random sizes; take most of them, let one end where the next does not fit."""
    draw = Streams(seed)["walk"]
    pointer, running = policy.first_pointer(units, SEED), list[np.ndarray]()
    for _ in range(steps):
        taken: np.ndarray = sum(running, np.zeros(units, np.int64))
        waves = int(draw.integers(1, int(draw.choice([2, units + 1, WAVES_A_UNIT * units])) + 1))
        counts = np.full(units, -7, np.int64)
        after = ask(waves, units, pointer, taken, counts)
        yield Asked(waves, units, pointer, tuple(taken.tolist()), tuple(counts.tolist()), after)
        if draw.random() < 0.8:
            pointer, running = after, [*running, counts]
        while running and sum(map(np.sum, running)) > WAVES_A_UNIT * units:
            running.pop(int(draw.integers(len(running))))


def digest(policy: Units, ask: Ask) -> str:
    """A digest of the answers of three walks: the same in every process, compiled or not."""
    answers = [(asked.counts, asked.after) for units in (1, 4, 7) for asked in walk(policy, ask, units, 60)]
    return hashlib.blake2b(repr(answers).encode(), digest_size=8).hexdigest()
