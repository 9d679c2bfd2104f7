"""A policy and its slow twin walk through the same rounds, compiled and in plain Python; every answer is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.oracles.dispatch_selection import Dice, Waiting
from tests.slow import LONG
from workbench.policies.dispatch.selection.question import Selection, rounds
from workbench.policies.dispatch.selection.view import NOBODY, SelectionView
from workbench.policies.scenes import KEPT, Speaker, plain

LEVELS = 4
CHANNELS = 6

_head = st.integers(0, (LEVELS + 1) * 4 * 2 * 10 * 16 - 1)
_round = st.tuples(st.integers(0, 60), st.integers(1, 2**CHANNELS - 1), *[_head] * CHANNELS)
walks = st.lists(_round, min_size=1, max_size=10)
"""Rounds: the cycles until each, which channels wait in it, and their heads, each drawn as one number."""


def prepared(walk: Iterable[tuple[int, ...]]) -> list[tuple[int, list[Waiting]]]:
    """The rounds as a dispatcher asks: cycles that rise, and at least one head that fits."""
    cycle, result = 0, []
    for wait, who, *drawn in walk:
        cycle += wait
        waiting = [_read(channel, drawn[channel]) for channel in range(CHANNELS) if who >> channel & 1]
        if not any(head.fits for head in waiting):
            waiting[-1] = waiting[-1]._replace(fits=True)
        result.append((cycle, waiting))
    return result


def _read(channel: int, drawn: int) -> Waiting:
    drawn, priority = divmod(drawn, LEVELS + 1)
    drawn, rank = divmod(drawn, 4)
    drawn, fits = divmod(drawn, 2)
    waves, waited = divmod(drawn, 10)
    return Waiting(channel, priority + 1, rank - 1, bool(fits), waited, waves + 1)


def far_walk(channels: int, seed: int = 0, steps: int = 1200) -> list[tuple[int, list[Waiting]]]:
    """A long walk, where counters overflow their quanta and everybody has been served often."""
    result = []
    for requested in rounds(channels, LEVELS, steps, seed):
        columns = [column[: requested.count].tolist() for column in requested[2:8]]
        result.append((requested.cycle, [Waiting(*head) for head in zip(*columns, strict=True)]))
    return result


def as_round(cycle: int, heads: list[Waiting]) -> SelectionView:
    """The heads as the arrays of a question."""
    columns = (np.array(column, np.int64) for column in zip(*heads, strict=True))
    return SelectionView(cycle, len(heads), *columns, *KEPT)


def walk_together(policy: Selection, twin: Callable[[], Any], walk: list, channels: int = CHANNELS) -> None:
    """Ask all three about every round."""
    for say in (None, plain(policy)):
        speaker, other = Speaker(policy, policy.start_memory(channels, LEVELS, 1), say), twin()
        for cycle, heads in walk:
            expected = other.pick(cycle, heads)
            answer = speaker.ask(as_round(cycle, heads))
            assert answer == (NOBODY if expected is None else heads.index(expected)), (cycle, heads)


def walk_far(policy: Selection, twin: Callable[[int], Any], channels: Iterable[int] = (1, 2, 5, 64)) -> None:
    """Long walks with several numbers of channels."""
    for seed, count in enumerate(channels):
        steps = (200 if count > 8 else 1200) // (1 if LONG else 4)
        walk_together(policy, lambda n=count: twin(n), far_walk(count, seed, steps), count)


def dice(policy: Selection, channels: int = CHANNELS) -> Dice:
    """The dice that the policy starts a walk with."""
    return Dice(int(policy.start_memory(channels, LEVELS, 1)[0]))
