"""The exact optimum of small queues against trying everything, and as a bound for every rule."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.test_shared_memory import T1, simulate
from tests.slow import LONG, examples
from workbench.errors import InputError
from workbench.explain.offline_optimum import offline_optimum
from workbench.policies.placement import BestFit, FirstFit, NearestBoundary
from workbench.workloads.workload import Workgroups


def queue_of(jobs):
    return Workgroups(*(np.array(column, np.int64) for column in zip(*jobs)))


def by_trying_everything(jobs, segments, horizon):
    """The least drain time of a strict FIFO with one grant a cycle, every cycle and every start tried."""
    best = horizon + 1
    choices = [[(t, b) for t in range(a, horizon - d + 1) for b in range(segments - m + 1)] for a, m, d in jobs]
    for schedule in itertools.product(*choices):
        times = [t for t, _ in schedule]
        if any(later <= earlier for earlier, later in itertools.pairwise(times)):
            continue
        cells = [(c, s) for (t, b), (_, m, d) in zip(schedule, jobs) for c in range(t, t + d) for s in range(b, b + m)]
        if len(cells) == len(set(cells)):
            best = min(best, max(t + d for t, (_, _, d) in zip(times, jobs)))
    return best


jobs = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 3), st.integers(1, 2)), min_size=1, max_size=3)


@examples(8, 125)
@given(jobs=jobs)
def test_equals_trying_everything(jobs):
    jobs = sorted(jobs, key=lambda job: job[0])
    optimum = offline_optimum(queue_of(jobs), 3, 7)
    assert optimum.drain_cycles == by_trying_everything(jobs, 3, 7)


@pytest.mark.slow
def test_no_rule_beats_it_and_its_schedule_is_legal():
    jobs = T1 if LONG else T1[:5]
    optimum = offline_optimum(queue_of(jobs), 16, 14)
    for policy in (FirstFit(), NearestBoundary(), BestFit()):
        assert optimum.drain_cycles <= simulate(jobs, placement=policy).release.max()
    held = np.zeros((16, 14), int)
    for (_, m, d), t, b in zip(jobs, optimum.grant, optimum.base):
        held[b : b + m, t : t + d] += 1
    assert held.max() == 1
    assert (np.diff(optimum.grant) > 0).all()


def test_what_is_too_large_or_cannot_be_reached_is_said():
    with pytest.raises(InputError, match="at most 200,000 possible grants"):
        offline_optimum(queue_of([(0, 1, 1)] * 100), 128, 100)
    with pytest.raises(InputError, match="no schedule drains this queue within 3 cycles"):
        offline_optimum(queue_of([(0, 2, 2), (0, 2, 2)]), 2, 3)
