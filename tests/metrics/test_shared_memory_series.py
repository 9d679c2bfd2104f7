"""Queue and free memory over time against a twin that walks every cycle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.test_shared_memory import T1, simulate
from tests.oracles import shared_memory as slow
from tests.slow import examples
from workbench.metrics.shared_memory import free_over_time, queue_over_time
from workbench.policies.placement import FirstFit, NearestBoundary
from workbench.policies.placement.queueing import FifoHeadOnly, FifoLookahead

rows = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12), st.integers(1, 20)), min_size=1, max_size=30)


@examples(60, 400)
@given(rows=rows, look_ahead=st.sampled_from([0, 2]), release_first=st.booleans())
def test_equal_to_the_twin_at_every_cycle(rows, look_ahead, release_first):
    jobs = sorted(rows, key=lambda job: job[0])
    expected = slow.run(jobs, 13, slow.nearest_boundary, look_ahead, release_first=release_first)
    record = simulate(
        jobs,
        13,
        NearestBoundary(),
        FifoLookahead(k=look_ahead) if look_ahead else FifoHeadOnly(),
        same_cycle_order="release_first" if release_first else "allocate_first",
    )
    cycles = expected.first_cycle + np.arange(len(expected.queue))
    assert queue_over_time(record).at(cycles).tolist() == expected.queue
    assert free_over_time(record).at(cycles).tolist() == [sum(free) for free in expected.free]


@pytest.mark.parametrize(
    ("placement", "queue", "free"),
    [
        (NearestBoundary(), [6, 5, 4, 3, 3, 2, 2, 2, 2, 1, 1, 0, 0, 0], [13, 8, 4, 2, 2, 2, 5, 5, 5, 1, 6, 6, 6, 16]),
        (FirstFit(), [6, 5, 4, 3, 3, 2, 2, 2, 2, 2, 1, 1, 0, 0, 0], [13, 8, 4, 2, 2, 2, 5, 5, 5, 9, 6, 8, 6, 6, 16]),
    ],
)
def test_trace_t1_by_hand(placement, queue, free):
    record = simulate(T1, placement=placement)
    cycles = np.arange(len(queue))
    assert queue_over_time(record).at(cycles).tolist() == queue
    assert free_over_time(record).at(cycles).tolist() == free


def test_changes_are_one_a_cycle_and_before_the_first_nothing_waits():
    steps = queue_over_time(simulate([(5, 1, 1), (5, 1, 1), (9, 16, 4)]))
    assert steps.before == 0
    assert steps.cycle.tolist() == [5, 6, 9]
    assert steps.value.tolist() == [1, 0, 0]


def test_an_empty_run_is_empty_and_free_for_ever():
    record = simulate([])
    assert queue_over_time(record).at(np.array([0, 10])).tolist() == [0, 0]
    assert free_over_time(record).at(np.array([0, 10])).tolist() == [16, 16]
