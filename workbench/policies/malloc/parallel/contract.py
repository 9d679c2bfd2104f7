"""Tests that every heap that serves in parallel passes; a subclass in a test file names the policy.

class TestMyHeap(ParallelHeapContract):
    policy = MyHeap(chunk_bytes=256)
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from workbench.policies.contract import Contract
from workbench.policies.malloc.parallel.access import (
    CYCLES,
    GRANT,
    GRANULES,
    HOLD,
    NULL,
    OWN,
    START,
    WAIT,
    WORD,
    AccessView,
    ParallelHeap,
    ReturnView,
)
from workbench.policies.scenes import ANSWER, KEPT, Request, Scenes, compiled

GRANULE_BYTES, GROUP, UNITS = 16, 4, 3
MOST_AT_ONCE = 6


class ParallelHeapContract(Contract):
    """Requests access words in an order that is drawn, one after another at each word, and some blocks go back."""

    policy: ClassVar[ParallelHeap]
    sizes: ClassVar[tuple[int, ...]] = (64, 7, 1)
    """Granules of the heap."""

    def start_memory(self, policy: ParallelHeap, size: int, seed: int) -> np.ndarray:
        """Return the memory of an empty heap of so many granules."""
        return policy.start_memory(size, GRANULE_BYTES, UNITS)

    def scenes(self, policy: ParallelHeap, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Let requests of all sizes take turns, and give blocks back."""
        under_way: list[AccessView] = []
        lines: dict[int, list[AccessView]] = {}
        live: list[tuple[int, int]] = []
        request = 0
        for _ in range(8 * steps):
            if live and draw.random() < 0.1:
                yield "returned", ReturnView(*live.pop(int(draw.integers(len(live)))), *KEPT)
            if len(under_way) < MOST_AT_ONCE and draw.random() < 0.5:
                requested = int(draw.integers(1, GRANULE_BYTES * max(size // 2, 1)))
                own, out = np.zeros(OWN, np.int64), np.zeros(2, np.int64)
                group = request // GROUP
                granules = -(-requested // GRANULE_BYTES)
                under_way.append(AccessView(requested, granules, request, group, group % UNITS, own, out, *KEPT))
                request += 1
            first = [line[0] for line in lines.values() if line]
            waiting = [see for line in lines.values() for see in line[1:]]
            free = [see for see in under_way if not any(see is other for other in waiting)]
            if not free:
                continue
            see = free[int(draw.integers(len(free)))]
            if any(see is other for other in first):
                next(line for line in lines.values() if line and line[0] is see).pop(0)
            kind = yield see
            if 0 <= kind < WAIT:
                lines.setdefault(int(see.out[WORD]), []).append(see)
            elif kind != WAIT:
                under_way = [other for other in under_way if other is not see]
                live += [(int(see.out[START]), int(see.out[GRANULES]))] if kind == GRANT else []

    def judge(self, request: Request) -> str:
        """Return a fault where the word is none of its memory, a time is below 0, or a block is outside of the heap."""
        if request.name != ANSWER:
            return ""
        out, size, words = request.after.out, int(request.see.memory[0]), len(request.see.memory)
        if not 0 <= request.answer <= NULL:
            return f"answered {request.answer}, for {request.see}"
        if request.answer == GRANT:
            fits = out[START] >= 0 and request.see.granules <= out[GRANULES] <= size - out[START]
            return "" if fits else f"granted {out[GRANULES]} granules at {out[START]}, for {request.see}"
        if request.answer < WAIT and not 0 <= out[WORD] < words:
            return f"went to word {out[WORD]}, for {request.see}"
        return f"named {out[CYCLES]} cycles" if request.answer in (HOLD, WAIT) and out[CYCLES] < 0 else ""

    def test_blocks_that_live_do_not_overlap(self) -> None:
        for size in self.sizes:
            taken = np.zeros(size, bool)
            for request in self.walks(compiled, (size,)):
                if request.name == "returned":
                    taken[request.see.start : request.see.start + request.see.granules] = False
                elif request.answer == GRANT:
                    start, granules = request.after.out.tolist()
                    assert not taken[start : start + granules].any(), f"two blocks overlap, for {request.see}"
                    taken[start : start + granules] = True
