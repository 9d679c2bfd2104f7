"""The engine `shared_memory` against its slow twin, the specification's trace T1, and theory."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import shared_memory as slow
from tests.slow import examples
from workbench.engines import shared_memory
from workbench.engines.kit.engine import Setup
from workbench.engines.shared_memory import SharedMemory, SharedMemoryOptions
from workbench.errors import InputError, PolicyError
from workbench.levers import Spec, lever
from workbench.policies.placement import Compaction, FirstFit, LastFit, NearestBoundary
from workbench.policies.placement.queueing import AfterKCycles, FifoHeadOnly, FifoLookahead, NextCycle, OnRelease
from workbench.records.shared_memory import events
from workbench.workloads.workload import Workgroups, Workload

TWINS = {FirstFit: slow.first_fit, LastFit: slow.last_fit, NearestBoundary: slow.nearest_boundary}


class Memory(Spec):
    segments: int = lever(16, least=2, most=4096, description="segments")


class Fixed(Workload):
    """A queue given row by row."""

    def __init__(self, rows: list[tuple[int, int, int]]) -> None:
        object.__setattr__(self, "rows", rows)

    def workgroups(self, machine, streams) -> Workgroups:
        columns = np.array(self.rows, np.int64).reshape(-1, 3).T
        return Workgroups(*(np.ascontiguousarray(c) for c in columns))


def simulate(rows, segments=16, placement=None, queue=None, retry=None, events=False, **options):
    policies = {"placement": placement or FirstFit(), "queue": queue or FifoHeadOnly(), "retry": retry or NextCycle()}
    setup = Setup("shared_memory", Memory(segments=segments), Fixed(rows), policies, SharedMemoryOptions(**options))
    return SharedMemory().simulate(setup, seed=1, events=events)


T1 = [(0, m, d) for m, d in [(3, 6), (5, 9), (4, 3), (2, 8), (4, 4), (8, 2), (10, 2)]]


@pytest.mark.parametrize(
    ("placement", "grant", "base", "end"),
    [
        (NearestBoundary(), [0, 1, 2, 3, 5, 9, 11], [0, 11, 3, 9, 3, 0, 0], 13),
        (FirstFit(), [0, 1, 2, 3, 5, 10, 12], [0, 3, 8, 12, 8, 0, 0], 14),
    ],
)
def test_trace_t1(placement, grant, base, end):
    record = simulate(T1, placement=placement)
    assert record.grant.tolist() == grant
    assert record.base.tolist() == base
    assert record.release.max() == end


rows = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12), st.integers(1, 20)), min_size=1, max_size=30)


@pytest.mark.bounds
@examples(25, 1000)
@given(
    rows=rows,
    placement=st.sampled_from(list(TWINS)),
    look_ahead=st.sampled_from([0, 0, 1, 3]),
    retry=st.sampled_from([0, 1, 2, 5]),
    release_first=st.booleans(),
    grants=st.sampled_from([1, 1, 2, 8]),
    latency=st.sampled_from([0, 0, 3]),
    gap=st.sampled_from([1, 1, 600]),
    moving=st.sampled_from([None, None, 0, 1, 10]),
)
def test_equals_the_slow_twin(rows, placement, look_ahead, retry, release_first, grants, latency, gap, moving):
    jobs = sorted(((a * gap, m, d * gap) for a, m, d in rows), key=lambda job: job[0])
    expected = slow.run(jobs, 13, TWINS[placement], look_ahead, retry, release_first, grants, latency, moving)
    policy = placement()
    record = simulate(
        jobs,
        segments=13,
        placement=policy if moving is None else Compaction(base=policy, cycles_per_moved_segment=moving),
        queue=FifoLookahead(k=look_ahead) if look_ahead else FifoHeadOnly(),
        retry={0: OnRelease(), 1: NextCycle()}.get(retry) or AfterKCycles(k=retry),
        same_cycle_order="release_first" if release_first else "allocate_first",
        allocs_per_cycle=grants,
        latency_cycles=latency,
    )
    every = range(len(jobs))
    assert record.grant.tolist() == [expected.grant[row] for row in every]
    assert record.start.tolist() == [expected.start[row] for row in every]
    assert record.base.tolist() == [expected.base[row] for row in every]
    assert record.release.tolist() == [expected.release[row] for row in every]
    assert set(np.flatnonzero(record.refused)) == expected.refused
    assert record.blocked_cycles == expected.blocked_cycles
    assert record.attempts == expected.attempts


@examples(30, 600)
@given(
    rows=rows,
    placement=st.sampled_from(list(TWINS)),
    look_ahead=st.sampled_from([0, 1, 3]),
    retry=st.sampled_from([0, 1, 2, 5]),
    order=st.sampled_from(["release_first", "allocate_first"]),
    grants=st.sampled_from([1, 2, 8]),
    latency=st.sampled_from([0, 0, 3]),
    moving=st.sampled_from([None, None, 0, 1, 10]),
)
def test_skipping_changes_nothing(rows, placement, look_ahead, retry, order, grants, latency, moving):
    """Who tries in every cycle that its rule allows grants and counts the same."""
    jobs = sorted(rows, key=lambda job: job[0])
    queue = FifoLookahead(k=look_ahead) if look_ahead else FifoHeadOnly()
    again = {0: OnRelease(), 1: NextCycle()}.get(retry) or AfterKCycles(k=retry)
    levers = {"same_cycle_order": order, "allocs_per_cycle": grants, "latency_cycles": latency}
    policy = placement() if moving is None else Compaction(base=placement(), cycles_per_moved_segment=moving)
    with mock.patch.object(shared_memory, "SKIPS", 0):
        plain = simulate(jobs, 13, policy, queue, again, **levers)
    skipping = simulate(jobs, 13, policy, queue, again, **levers)
    assert all(np.array_equal(one, other) for one, other in zip(skipping, plain, strict=True))


def test_last_fit_mirrors_first_fit():
    rng = np.random.default_rng(5)
    jobs = [(0, int(m), int(d)) for m, d in zip(rng.integers(1, 65, 300), rng.integers(1, 101, 300), strict=True)]
    low, high = simulate(jobs, 128, FirstFit()), simulate(jobs, 128, LastFit())
    assert low.release.tolist() == high.release.tolist()
    assert (low.base + low.length + high.base).tolist() == [128] * 300


def test_keeping_events_changes_nothing_and_replays_to_a_legal_history():
    plain, kept = simulate(T1), simulate(T1, events=True)
    assert all(np.array_equal(a, b) for a, b in zip(plain[:13], kept[:13], strict=True))
    assert len(kept.refusals) > 0
    log = events(kept)
    assert np.array_equal(log["serial"], np.arange(len(log["serial"])))
    assert sorted(set(log["kind"])) == ["grant", "refuse", "release"]
    held = np.zeros(16, int)
    for kind, start, length in zip(log["kind"], log["start"], log["length"], strict=True):
        if kind != "refuse":
            held[start : start + length] += 1 if kind == "grant" else -1
        assert held.min() >= 0 and held.max() <= 1
    assert held.sum() == 0


def test_a_refused_head_is_logged_once_a_cycle_also_when_a_later_request_is_granted():
    rows = [(0, 10, 4), (0, 10, 4), (0, 4, 2)]
    record = simulate(rows, 16, queue=FifoLookahead(k=2), events=True)
    assert record.grant.tolist() == [0, 4, 1]
    assert record.refusals[:, :2].tolist() == [[1, 1], [2, 1], [3, 1]]
    assert set(np.flatnonzero(record.refused)) == {1}


@pytest.mark.parametrize(("order", "granted"), [("release_first", 5), ("allocate_first", 6)])
def test_d10_a_release_of_the_same_cycle_is_seen_or_not(order, granted):
    """N = 8: segments 2-3 are released in the very cycle in which 4 segments are asked for (spec 1, D10)."""
    rows = [(0, 2, 4), (0, 2, 4), (0, 2, 30), (0, 2, 1), (5, 4, 1)]
    assert simulate(rows, 8, same_cycle_order=order).grant[4] == granted


def test_a_request_that_can_never_fit_is_refused_at_admission():
    with pytest.raises(InputError, match=r"workgroup 1 asks for 17 segments"):
        simulate([(0, 1, 1), (0, 17, 1)])


def test_an_empty_queue_is_a_run():
    assert simulate([]).release.size == 0


@pytest.mark.parametrize(("grants", "granted", "start"), [(1, [12, 52], [52, 52]), (2, [11, 51], [51, 51])])
def test_nothing_is_granted_while_compaction_moves_ranges(grants, granted, start):
    """Four segments move, at 10 cycles each, so that 4 fit; the 2 of the next workgroup are free from cycle 15 on."""
    rows = [(0, 2, 10), (0, 2, 15), (0, 2, 10), (0, 2, 100), (5, 4, 50), (5, 2, 50)]
    record = simulate(rows, 8, Compaction(cycles_per_moved_segment=10), allocs_per_cycle=grants)
    assert (record.grant[4:].tolist(), record.start[4:].tolist()) == (granted, start)


def test_far_releases_and_long_times_stay_exact():
    far = 10**15
    record = simulate([(0, 16, far), (0, 16, 5), (far + 7, 16, 10**6)])
    assert record.grant.tolist() == [0, far, far + 7]
    assert record.release.max() == far + 7 + 10**6


class Overlaps(FirstFit):
    """Answer the first segment, free or not."""

    def answer(see):
        return 0


def test_an_answer_that_overlaps_is_told_with_the_length_that_was_asked_for():
    with pytest.raises(PolicyError) as wrong:
        simulate([(0, 4, 9), (1, 5, 9)], segments=16, placement=Overlaps())
    assert str(wrong.value) == (
        "overlaps answered 0, which is not the start of a free range; -1 says that a request does not fit now; at "
        "workgroup 1 (5 segments) at cycle 1."
    )
