"""Random calls of `malloc`: shapes, lanes, divergence, frees, and the file of one's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from tests.slow import examples
from workbench.machine import Machine
from workbench.streams import Streams
from workbench.workloads.generators import regimes
from workbench.workloads.malloc_calls import MallocFile, RandomMallocs
from workbench.workloads.workload_key import read_workload

SIZES = ["uniform", 5, {"log_normal": [40, 1]}, {"bimodal": {"small": [1, 4], "large": [100, 200]}}]
FREES = ["never_freed", {"freed_by_thread": {"share": 0.5}}, {"freed_by_warp": {"lifetime": 7}}]
WORKLOADS = st.builds(
    RandomMallocs,
    threads=st.integers(1, 200),
    batches=st.integers(1, 4),
    batch_cycles=st.sampled_from([1, 500]),
    warp_gap_cycles=st.sampled_from([0, 7]),
    size=st.sampled_from(SIZES),
    active=st.sampled_from([1.0, 0.5, 0.1]),
    active_by=st.sampled_from(["lane", "warp"]),
    paths=st.sampled_from([1, 3]),
    frees=st.sampled_from(FREES),
)


def drawn(workload, seed=1):
    return workload.mallocs(Machine(), Streams(seed))


@examples(20, 300)
@given(WORKLOADS, st.integers(0, 2**40))
def test_calls_are_in_order_and_can_be_served(workload, seed):
    calls = drawn(workload, seed)
    assert {column.dtype for column in calls} == {np.dtype(np.int64)}
    pairs = list(zip(calls.arrival.tolist(), calls.thread.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert calls.bytes.min(initial=1) >= 1
    assert ((calls.free_at == -1) | (calls.free_at > calls.arrival)).all()
    again = drawn(workload, seed)
    assert all(np.array_equal(a, b) for a, b in zip(calls, again, strict=True))


def test_changing_the_sizes_leaves_the_lanes_and_the_frees_as_they_are():
    one = RandomMallocs(threads=300, active=0.5, frees={"freed_by_thread": {"share": 0.5}})
    first, second = drawn(one), drawn(one.but(size=3))
    assert np.array_equal(first.thread, second.thread)
    assert np.array_equal(first.free_at, second.free_at)


@pytest.mark.parametrize(("active", "lanes"), [(1 / 32, 1), (0.25, 8), (0.001, 1), (1.0, 32)])
def test_the_same_number_of_lanes_in_every_warp(active, lanes):
    calls = drawn(RandomMallocs(threads=640, active=active, active_by="warp", batches=2))
    assert np.bincount(calls.thread[: len(calls.thread) // 2] // 32).tolist() == [lanes] * 20


def test_lanes_diverge_and_warps_follow_one_another():
    calls = drawn(RandomMallocs(threads=64, paths=4, path_cycles=10, warp_gap_cycles=1000))
    assert set(calls.arrival.tolist()) == {0, 10, 20, 30, 1000, 1010, 1020, 1030}


def test_warps_free_together():
    calls = drawn(RandomMallocs(threads=640, frees={"freed_by_warp": {"share": 0.5, "lifetime": {"uniform": [1, 9]}}}))
    by_warp = [set(calls.free_at[calls.thread // 32 == warp].tolist()) for warp in range(20)]
    assert all(len(times) == 1 for times in by_warp)
    assert 0 < sum(times == {-1} for times in by_warp) < 20


def test_every_regime_can_be_drawn_by_its_name():
    assert set(regimes("mallocs")) >= {"small_equal", "thread_number", "mixed_sizes", "sparse_lanes", "churn"}
    for name, regime in regimes("mallocs").items():
        assert regime.source.startswith("spec 2")
        assert len(drawn(read_workload(name, wants="mallocs")).bytes) > 100
    assert drawn(regimes("mallocs")["thread_number"].workload).bytes[[0, 1, 1023, 1024]].tolist() == [1, 2, 1024, 1]


def written(tmp_path, text, name="calls.csv"):
    path = tmp_path / name
    path.write_text(text)
    return MallocFile(file=str(path))


def test_a_file_is_read_with_and_without_frees(tmp_path):
    calls = drawn(written(tmp_path, "arrival,thread,bytes\n0,0,8\n0,1,9\n5,0,0\n"))
    assert [column.tolist() for column in calls] == [[0, 0, 5], [0, 1, 0], [8, 9, 0], [-1, -1, -1]]
    calls = drawn(written(tmp_path, "free_at,arrival,thread,bytes\n-1,0,0,8\n7,0,1,9\n", "frees.csv"))
    assert calls.free_at.tolist() == [-1, 7]
    read = read_workload({"file": str(tmp_path / "frees.csv")}, wants="mallocs")
    assert drawn(read).bytes.tolist() == [8, 9]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("5,0,-1,-1", "row 2 (line 3): bytes must be a whole number from 0 to"),
        ("4,0,1,-1", "row 2 (line 3): arrival must be at least 5, that of the row before. Got 4."),
        ("5,3,1,-1", "row 2 (line 3): thread must be above 3, that of the row before. Got 3."),
        ("6,3,1,5", "row 2 (line 3): free_at must be -1 (never) or at least the arrival (6). Got 5."),
        ("6,3,1,-2", "row 2 (line 3): free_at must be a whole number from -1 to"),
    ],
)
def test_wrong_rows_are_one_sentence(tmp_path, row, sentence):
    message = refusal(written(tmp_path, f"arrival,thread,bytes,free_at\n5,3,1,-1\n{row}\n").content)
    assert sentence in message
