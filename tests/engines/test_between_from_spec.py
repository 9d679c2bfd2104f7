"""The engine against the slow twin that was written from the text of specification 7 alone, in saturated runs."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

from tests.engines.between_twin import differences, setup_of, simulated
from tests.oracles.between_cases import cases
from tests.oracles.between_queue_and_unit import play
from tests.oracles.between_state import Case
from workbench.engines.dispatch import Dispatch
from workbench.engines.kit import Attempt
from workbench.engines.kit.columns import logs_of
from workbench.metrics.dispatch_modules import execution_spans
from workbench.metrics.dispatch_rows import by_start
from workbench.policies.dispatch import LeastRecentEnergy

FEW, ALL = 60, 500


def test_the_first_cases_equal_the_twin():
    for case in cases(FEW, seed=1):
        assert not differences(case, play(case)), case


@pytest.mark.slow
def test_all_cases_equal_the_twin():
    for case in islice(cases(ALL, seed=1), FEW, None):
        assert not differences(case, play(case)), case


def test_placements_that_refuse_and_remember_equal_the_twin_in_front_of_queues():
    """A group that is refused is tried again in the next round, in the queue as without one (E9)."""
    compared = 0
    for case in cases(400, seed=3):
        if case.levers.pending_depth:
            case.levers.refuses_even = True
            assert not differences(case, play(case)), case
            compared += 1
    assert compared > 20


UNIT = 2.0**-20
"""Of instructions in a cycle: specification 3 rounds a rate to it, and the twin rounds once more or less."""


def test_instructions_follow_the_rate_as_the_twin_says():
    compared = 0
    for case in cases(400, seed=2):
        paced = case.levers.progress["name"] != "constant" or any(group.barrier >= 0 for group in case.groups)
        if not paced or case.levers.split_threshold is not None or not any(g.instructions for g in case.groups):
            continue
        result, record = play(case), simulated(case)
        if result.outcome != "finished":
            continue
        expected = {key: float(value) for key, value in result.issued.items()}
        assert issued(record) == pytest.approx(expected, abs=4 * UNIT), case
        compared += 1
    assert compared > 20


def issued(record: Any) -> dict[tuple[int, int], float]:
    """What each module executes in each cycle in which it executes anything."""
    spans = execution_spans(by_start(record))
    ends = np.empty_like(spans.ends)
    ends[spans.order] = spans.ends
    counts: dict[tuple[int, int], float] = {}
    for rates, module, begin, end in zip(spans.rates, spans.module, spans.begins, ends, strict=True):
        for cycle in range(int(begin), int(end)) if rates[0] else ():
            counts[int(module), cycle] = counts.get((int(module), cycle), 0.0) + rates[0] * UNIT
    return counts


def test_modules_count_what_the_record_says_that_they_executed():
    """The past that a choice reads, over barriers, endless groups and changes of a shared rate."""
    counted = 0
    for case in cases(150, seed=5):
        if not any(group.instructions for group in case.groups):
            continue
        state, record = played_by_energy(case)
        if record.between is None or record.between.hung:
            continue
        spans = execution_spans(by_start(record))
        expected = np.zeros((record.modules, 6), np.int64)
        np.add.at(expected, spans.module, spans.rates * spans.lasting[:, None])
        assert state.issued.tolist() == expected.tolist(), case
        counted += 1
    assert counted > 20


def played_by_energy(case: Case) -> tuple[Any, Any]:
    """The state and the record of a run whose choice reads a sliding window of what modules executed."""
    engine, setup = Dispatch(), setup_of(case)
    setup = setup._replace(policies={**setup.policies, "choice": LeastRecentEnergy(nx=8)})
    run = engine.read(engine.given(setup, 1))
    play = engine.begin(run, Attempt(dict.fromkeys(logs_of(engine.state), 0), events=False, checked=False))
    engine.loop(play)
    return play.state, engine.record(run, play)
