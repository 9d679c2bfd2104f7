"""Alternating place and free on 64 compute units of 128 segments, beside 128-bit masks in C++."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.reference import native
from benchmarks.row import fastest, row
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
    """Two policies, and the reference."""
    rows = [_ours(policy) for policy in (FirstFit(), NearestBoundary())]
    reference = native("place_free.cpp", str(STEPS))
    if reference is not None:
        rows.append(row("place_free", "C++ first fit", STEPS, "operations", reference["seconds"]))
    return rows


def _ours(policy: Any) -> dict[str, Any]:
    ready = policy.ready(SEGMENTS)
    placed: list[int] = []

    def once() -> None:
        free = np.full((UNITS, SEGMENTS // 64), ~np.uint64(0))
        base, length = np.zeros((UNITS, SEGMENTS), np.int64), np.zeros((UNITS, SEGMENTS), np.int64)
        placed.append(_loop(ready, free, base, length, np.zeros(UNITS, np.int64), STEPS))

    once()
    seconds = fastest(once, 5)
    assert len(set(placed)) == 1 and placed[0] > STEPS // 4
    return row("place_free", policy.name, STEPS, "operations", seconds)
