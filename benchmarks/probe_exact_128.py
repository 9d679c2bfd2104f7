"""The longest free run of 128 blocks, asked through the address as engines do. The reference is masks in C++."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.reference import native
from benchmarks.turns import Side, compared, spent
from workbench.compiled import kernel, left, right
from workbench.policies.probes import ExactRun
from workbench.policies.probes.question import PROBE, ProbeView, ReadyProbe

BLOCKS, MASKS, TIMES = 128, 65536, 100
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
def _loop(probe: ReadyProbe, masks: np.ndarray, times: int) -> int:
    total = 0
    for _ in range(times):
        for mask in range(masks.shape[0]):
            total += ask(probe.answer, ProbeView(masks[mask], BLOCKS, probe.params))
    return total


def probe_exact_128() -> list[dict[str, Any]]:
    """Masks of which a half, and seven eighths, of the blocks are free; the sums of the runs must agree."""
    rows = []
    for density, more in zip(DENSITIES, (0, 2), strict=True):
        probe, masks = ExactRun().ready(), np.zeros((MASKS, BLOCKS // 64), np.uint64)
        _fill(masks, more)
        total = _loop(probe, masks, TIMES)
        reference = native("probe_exact.cpp", MASKS * TIMES, (MASKS, TIMES, more), partial(_agrees, total))
        ours = _ours(probe, masks, total)
        rows += compared(
            "probe_exact_128", f"exact_run, density {density}", "probes", ours, {"C++, doubling": reference}
        )
    return rows


def _ours(probe: ReadyProbe, masks: np.ndarray, total: int) -> Side:
    def run() -> float:
        totals: list[int] = []
        seconds = spent(lambda: totals.append(_loop(probe, masks, TIMES)))
        assert totals == [total]
        return seconds

    return Side(MASKS * TIMES, run)


def _agrees(total: int, printed: dict[str, Any]) -> bool:
    return bool(printed["sum"] == total)
