"""A policy and its slow twin walk together: the same requests, grants and releases; every answer is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import numpy as np
from hypothesis import strategies as st

from tests.oracles.placement import Twin
from tests.slow import LONG
from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import PlacementNotice, PlacementView
from workbench.policies.scenes import KEPT, Speaker
from workbench.structures.bitmaps import mark_free, mark_taken, packed

LARGEST = 10 if LONG else 8
SIZES = [2, 3, 7, 16, 63, 64, 65, 100, 127, 128, 129, 192, 1000, 1824, 4096]

segments = st.sampled_from(SIZES) | st.integers(2, 300)
lengths = st.integers(1, 8) | st.integers(1, 80) | st.integers(1, 4096)
_kinds = st.sampled_from(["take", "take", "try", "give back"])
moves = st.lists(st.tuples(lengths, _kinds, st.integers(0, 1000)), max_size=80)
"""Each move: ask about a length, then take what is granted or not, or give something back first."""


class Asked(Speaker):
    """A policy in a run with so many segments."""

    def __init__(self, policy: Placement, segments: int, seed: int = 1) -> None:
        super().__init__(policy, policy.start_memory(segments, seed))
        self.segments = segments

    def asked(self, words: np.ndarray, length: int) -> int:
        return self.ask(PlacementView(words, self.segments, length, *KEPT))

    def told(self, name: str, words: np.ndarray, start: int, length: int) -> None:
        self.tell(name, PlacementNotice(words, self.segments, start, length, *KEPT))


def far_walk(segments: int, seed: int, steps: int = 3000) -> list[tuple[int, str, int]]:
    """A long walk at high occupancy, mostly of short requests: where lists grow long and rings wrap."""
    draw = np.random.default_rng(seed)
    most = draw.choice([max(segments // 12, 1), max(segments // 5, 1), max(segments // 2, 1)], steps)
    requested = draw.integers(1, most + 1)
    kinds = draw.choice(["take", "try", "give back"], steps, p=[0.57, 0.03, 0.4])
    return list(zip(requested.tolist(), kinds.tolist(), draw.integers(0, 1000, steps).tolist(), strict=True))


def walk_far(policy: Placement, twin: Callable[[int], Twin]) -> None:
    """Long walks through memories of several sizes."""
    for seed, segments in enumerate((16, 40, 65, 128, 300)):
        walk_together(policy, twin(segments), far_walk(segments, seed, 3000 if LONG else 750))


def walk_together(policy: Placement, twin: Twin, moves: Iterable[tuple[int, str, int]]) -> None:
    """Make every move with both, and compare the answers."""
    speaker, free, live = Asked(policy, twin.segments), [True] * twin.segments, []
    words = packed(free)
    for length, kind, which in moves:
        m = int(policy.footprint(1 + (length - 1) % twin.segments, twin.segments))
        if kind == "give back" and live:
            start, size = live.pop(which % len(live))
            free[start : start + size] = [True] * size
            mark_free(words, start, size)
            twin.released(start, size)
            speaker.told("released", words, start, size)
        elif m <= twin.segments:
            expected, answer = twin.choose(free, m), speaker.asked(words, m)
            assert answer == (-1 if expected is None else expected), (m, free)
            if kind == "take" and expected is not None:
                live.append((expected, m))
                free[expected : expected + m] = [False] * m
                mark_taken(words, expected, m)
                twin.granted(expected, m)
                speaker.told("granted", words, expected, m)


def compare_on_every_state(policy: Placement, twin: Callable[[int], Twin], largest: int = LARGEST) -> None:
    """Every state and every length of every memory up to a size, each asked with a fresh memory."""
    for segments in range(2, largest + 1):
        speaker, other = Asked(policy, segments), twin(segments)
        fresh = speaker.memory.copy()
        for state in product((False, True), repeat=segments):
            free, words = list(state), packed(state)
            for m in range(1, segments + 1):
                speaker.memory[:] = fresh
                expected = other.choose(free, m)
                assert speaker.asked(words, m) == (-1 if expected is None else expected), (m, free)
