"""A group that is split into parts of several waves: each part does what its waves do (spec 3, E12, E23; N9)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.engines.conservation.node import COUPLED, KIB, SUITE, world
from workbench.records.node import KIND, who_of
from workbench.workloads.application import Allocate, Application, Kernel, Launch, Phase, Touch

HALVES: dict[str, Any] = {"stuck": {"split_when_stuck": {"threshold": 2000, "into": "halves"}}}
PAGES, WAVES, MATRIX = 7, 5, 3


@pytest.mark.node
def test_each_half_has_the_touches_the_calls_and_the_instructions_of_its_waves() -> None:
    """Of 5 waves the first half is 0, 1, 2, the other 3, 4. Of 7 pages they touch 0, 1, 2, 5, 6 and 3, 4; each wave
    calls malloc once; 7 matrix instructions are executed."""
    filler = Kernel(1, (Phase(np.array([5000])),), 4, {"vgpr": 1})
    phase = Phase(np.array([10]), (Touch(0, "shared"),), (24,), tuple(7 * (s == MATRIX) for s in range(6)))
    halved = Kernel(1, (phase,), WAVES, {"vgpr": 1}, independent=True)
    streams = ((Launch(filler),), (Allocate(0, PAGES * 64 * KIB), Launch(halved)))
    run = SUITE.run(world((Application(streams),), 1, 1, HALVES, **COUPLED))
    touched: dict[int, list[int]] = {}
    calls: Counter[int] = Counter()
    rows = run.record.messages.tolist()
    first = min(row[6] for row in rows if row[1] == KIND.request)
    for _, kind, _, *words, _, tag, _, _, _ in rows:
        wave = who_of(*words).wave
        if kind == KIND.request:
            touched.setdefault(wave, []).append(tag - first)
        calls[wave] += kind == KIND.call
    assert touched == {0: [0, 1, 2, 5, 6], 3: [3, 4]}
    assert sorted(calls.elements()) == [*range(WAVES)]
    assert run.record.spent.sum() == pytest.approx(7 * run.record.power.energies_pj()[MATRIX])
