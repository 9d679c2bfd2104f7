"""The longest free run of 128 blocks, asked through the address as engines do, beside 128-bit masks in C++."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.reference import native
from benchmarks.row import fastest, row
from workbench.compiled import kernel, left, right
from workbench.policies.probes import ExactRun
from workbench.policies.probes.question import PROBE, ProbeView, ReadyProbe

BLOCKS, MASKS, ROUNDS, TIMES = 128, 65536, 10, 40
DENSITIES = ("1/2", "7/8")
ask = PROBE.ask


@kernel
def _xorshift(word: np.uint64) -> np.uint64:
    word ^= left(word, 13)
    word ^= right(word, 7)
    return word ^ left(word, 17)


@kernel
def _fill(masks: np.ndarray, more: int) -> None:
    """Random words, each OR-ed with `more` others: a block is free with 1 - 0.5 ** (1 + more)."""
    state = np.uint64(88172645463325252)
    for mask in range(masks.shape[0]):
        for word in range(masks.shape[1]):
            masks[mask, word] = 0
            for _ in range(1 + more):
                state = _xorshift(state)
                masks[mask, word] |= state


@kernel
def _loop(probe: ReadyProbe, masks: np.ndarray, rounds: int) -> int:
    total = 0
    for _ in range(rounds):
        for mask in range(masks.shape[0]):
            total += ask(probe.answer, ProbeView(masks[mask], BLOCKS, probe.params))
    return total


def probe_exact_128() -> list[dict[str, Any]]:
    """Masks of which a half, and seven eighths, of the blocks are free; the sums of the runs must agree."""
    rows = []
    for density, more in zip(DENSITIES, (0, 2), strict=True):
        ours, total = _ours(density, more)
        rows.append(ours)
        reference = native("probe_exact.cpp", str(MASKS), str(ROUNDS), str(more), str(TIMES))
        if reference is not None:
            assert reference["sum"] == total
            variant = f"C++ doubling, density {density}"
            rows.append(row("probe_exact_128", variant, MASKS * ROUNDS, "probes", reference["seconds"]))
    return rows


def _ours(density: str, more: int) -> tuple[dict[str, Any], int]:
    probe, masks = ExactRun().ready(), np.zeros((MASKS, BLOCKS // 64), np.uint64)
    _fill(masks, more)
    totals = [_loop(probe, masks, 1) * ROUNDS]
    seconds = fastest(lambda: totals.append(_loop(probe, masks, ROUNDS)), TIMES)
    assert len(set(totals)) == 1
    return row("probe_exact_128", f"exact_run, density {density}", MASKS * ROUNDS, "probes", seconds), totals[0]
