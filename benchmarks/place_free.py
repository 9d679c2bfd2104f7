"""Alternating place and free on 64 compute units of 128 segments, the reference is 128-bit masks in C++."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.reference import native
from benchmarks.turns import Side, compared, spent
from workbench.compiled import kernel, left, right
from workbench.policies.placement import FirstFit, NearestBoundary
from workbench.policies.placement.question import PLACE, ReadyPlacement
from workbench.policies.placement.view import PlacementView
from workbench.structures.bitmaps import mark_free, mark_taken

UNITS, SEGMENTS, STEPS = 64, 128, 10_000_000
place = PLACE.ask


@kernel
def _xorshift(word: np.uint64) -> np.uint64:
    word ^= left(word, 13)
    word ^= right(word, 7)
    return word ^ left(word, 17)


@kernel
def _loop(
    policy: ReadyPlacement, free: np.ndarray, base: np.ndarray, length: np.ndarray, held: np.ndarray, steps: int
) -> int:
    word, placed = np.uint64(88172645463325252), 0
    for _ in range(steps):
        word = _xorshift(word)
        unit, requested = np.int64(word & np.uint64(63)), 1 + np.int64(right(word, 6) & np.uint64(15))
        if right(word, 32) & np.uint64(1):
            at = place(policy.answer, PlacementView(free[unit], SEGMENTS, requested, policy.params, policy.memory))
            if at >= 0:
                mark_taken(free[unit], at, requested)
                base[unit, held[unit]], length[unit, held[unit]] = at, requested
                held[unit] += 1
                placed += 1
        elif held[unit]:
            pick = np.int64(right(word, 33)) % held[unit]
            held[unit] -= 1
            mark_free(free[unit], base[unit, pick], length[unit, pick])
            base[unit, pick], length[unit, pick] = base[unit, held[unit]], length[unit, held[unit]]
    return placed


def place_free() -> list[dict[str, Any]]:
    """Two policies; the reference places as many as first fit."""
    rows, placed = [], _placed(FirstFit().ready(SEGMENTS))[0]
    reference = native("place_free.cpp", STEPS, (STEPS,), lambda printed: printed["placed"] == placed)
    for policy in (FirstFit(), NearestBoundary()):
        rows += compared("place_free", policy.name, "operations", _ours(policy), {"C++, first fit": reference})
    return rows


def _ours(policy: Any) -> Side:
    ready = policy.ready(SEGMENTS)
    counts = {_placed(ready)[0]}

    def run() -> float:
        placed, seconds = _placed(ready)
        counts.add(placed)
        assert len(counts) == 1
        assert placed > STEPS // 4
        return seconds

    return Side(STEPS, run)


def _placed(ready: ReadyPlacement) -> tuple[int, float]:
    """Return how many were placed, and the processor time."""
    free = np.full((UNITS, SEGMENTS // 64), ~np.uint64(0))
    base, length = np.zeros((UNITS, SEGMENTS), np.int64), np.zeros((UNITS, SEGMENTS), np.int64)
    placed: list[int] = []
    seconds = spent(lambda: placed.append(_loop(ready, free, base, length, np.zeros(UNITS, np.int64), STEPS)))
    return placed[0], seconds
