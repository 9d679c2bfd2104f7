"""Recorded memory as requests: every byte live when the recorded allocator had it live, under one handle a block."""

import numpy as np
import pytest

from tests.public_traces import FACTS, needs_public_traces, path
from tests.slow import thinned
from tests.workloads.importers.test_memory_formats import RMM
from workbench.errors import InputError
from workbench.machine import Board, preset
from workbench.streams import Streams
from workbench.workloads.pool_requests import ALLOC
from workbench.workloads.recorded_memory import TracePool
from workbench.workloads.trace_import import write_columns
from workbench.workloads.workload_key import read_workload

TIMELINE = "alloc/hta_memory_timeline.raw.json.gz"
PEAKS = {
    file: facts.get("memory_gpu", {}).get("max_total_allocated") or facts.get("running_peak_bytes")
    for file, facts in FACTS.items()
    if facts.get("memory_gpu", {}).get("max_total_allocated") or "running_peak_bytes" in facts
}
NVIDIA_SMALL = "kineto/tracelens_h100_bert_small.json.gz"


def live_bytes(requested):
    """Bytes live after each request, counted block by block, each handle once."""
    live, result = {}, []
    for action, handle, size in zip(
        requested.action.tolist(), requested.handle.tolist(), requested.bytes.tolist(), strict=True
    ):
        if action == ALLOC:
            assert handle not in live
            live[handle] = size
        else:
            assert live.pop(handle) == size
        result.append((result[-1] if result else 0) + (size if action == ALLOC else -size))
    return result


@pytest.mark.slow
@needs_public_traces
@pytest.mark.parametrize("file", thinned([*PEAKS], 8))
def test_what_is_live_is_what_the_recorded_allocator_said(file):
    workload = TracePool(trace=str(path(file)))
    requests = workload.pool_requests(preset("dgx_h100").machine(), Streams(0))
    live, recorded = live_bytes(requests), workload.recorded()
    assert max(live) == PEAKS[file]
    assert live[len(live) - len(recorded.time_ns) :] == recorded.allocated.tolist()
    assert (np.diff(requests.time) >= 0).all()


@needs_public_traces
def test_without_addresses_or_totals_sizes_alone_match():
    file = "kineto/kineto_v100_resnet50_workers0.json.gz"
    requests = TracePool(trace=str(path(file))).pool_requests(Board(), Streams(0))
    assert live_bytes(requests)[-1] == 0
    assert requests.bytes[requests.action == ALLOC].sum() == FACTS[file]["memory_gpu"]["alloc_bytes"]


@needs_public_traces
def test_ranks_do_the_same_on_a_card_each_one_after_the_other():
    one = TracePool(trace=str(path(NVIDIA_SMALL)), before="leave_out")
    board = preset("dgx_1v").machine()
    alone = one.pool_requests(board, Streams(0))
    requests = one.but(ranks=3, rank_shift_us=5).pool_requests(board, Streams(0))
    assert len(requests.time) == 3 * len(alone.time)
    for rank in range(3):
        own = requests.app == rank
        assert requests.time[own].tolist() == (alone.time + 5000 * rank).tolist()
        assert set(requests.card[own].tolist()) == {2 + rank}
    live_bytes(requests)
    with pytest.raises(
        InputError, match=r"ranks times the cards of the trace must be at most the GPUs.*\(8\). Got 9 x 1"
    ):
        one.but(ranks=9).check_machine(board)


def test_a_log_becomes_requests_and_a_file_of_ones_own_that_gives_the_same(tmp_path):
    (tmp_path / "log.csv").write_text(RMM)
    workload = read_workload({"trace": str(tmp_path / "log.csv")}, wants="pool_requests")
    requests = workload.pool_requests(Board(), Streams(0))
    assert requests.time.tolist() == [0, 0, 1000, 750_000_000, 750_000_000]
    assert live_bytes(requests) == [64, 320, 832, 576, 512]
    facts = write_columns(workload, Board(), tmp_path / "jobs.csv")
    assert facts == {"requests": 5, "allocations": 3, "frees": 2, "allocations_from_before": 1}
    again = read_workload({"file": str(tmp_path / "jobs.csv")}, wants="pool_requests").pool_requests(
        Board(), Streams(0)
    )
    assert [column.tolist() for column in again] == [column.tolist() for column in requests]


def test_what_a_trace_lacks_is_said(tmp_path):
    (tmp_path / "log.csv").write_text(RMM.replace(",512,", ",99999999999999,"))
    workload = TracePool(trace=str(tmp_path / "log.csv"))
    with pytest.raises(
        InputError, match="the largest block of the trace must be at most 68719476736, which the largest"
    ):
        workload.check_machine(Board(), "workload", "a.yaml")
    with pytest.raises(InputError, match=r"has memory events of device 0 only. Got trace_pool.device 3."):
        workload.but(device=3).check_machine(Board())
    (tmp_path / "t.json").write_text('{"traceEvents": []}')
    with pytest.raises(InputError, match=r"t.json: holds no memory events \(record with profile_memory"):
        TracePool(trace=str(tmp_path / "t.json")).check_machine(Board())


@needs_public_traces
def test_with_its_cache_a_policy_starts_with_as_many_bytes_as_the_recorded_allocator_had():
    workload = TracePool(trace=str(path(NVIDIA_SMALL)), before="with_cache")
    requests, recorded = workload.pool_requests(Board(), Streams(0)), workload.recorded()
    live = live_bytes(requests)
    assert live[2] == recorded.reserved[0], "the third request asks for what was cached, the fourth gives it back"
    assert live[3] == recorded.allocated[0]
    assert live[4:] == recorded.allocated[1:].tolist()
    (without,) = [TracePool(trace=str(path(TIMELINE)), before="with_cache")]
    with pytest.raises(InputError, match="with_cache needs a trace that tells what its allocator had got"):
        without.check_machine(Board())
