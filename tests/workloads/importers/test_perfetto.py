"""Perfetto traces of rocprofv3 and rocprofiler-systems: names interned or not, packets compressed or not."""

import tracemalloc
import zlib
from collections.abc import Mapping
from typing import Any

import pytest

from tests.workloads.importers.profiles import field, message, writer
from tests.workloads.importers.refusing import refusal
from workbench.workloads.importers import read_trace


def annotation(name: int | str, value: int | str) -> bytes:
    """A debug annotation, its name interned or not."""
    named = (1, name) if isinstance(name, int) else (10, name)
    return message(named, (6, value) if isinstance(value, str) else (3, value))


def packet(*fields: tuple[int, Any], sequence: int = 7) -> bytes:
    """A packet of a Perfetto trace, as the field of a trace."""
    return field(1, message(*fields, (10, sequence)))


ROCPROFV3_ANNOTATIONS: dict[str, int | str] = {
    "begin_ns": 1000,
    "end_ns": 5000,
    "delta_ns": 4000,
    "agent": 2,
    "corr_id": 18,
    "queue": 1,
    "kernel_id": 9,
    "group_segment_size": 16896,
    "workgroup_size": 256,
    "grid_size": 8000,
}


def dispatch(settings: Mapping[str, int | str], name: str = "gemm(float*)", category: str = "kernel_dispatch") -> bytes:
    """A packet that begins a slice, with nothing interned."""
    annotations = [(4, annotation(key, value)) for key, value in settings.items()]
    return packet((8, 1000), (11, message((9, 1), (11, 55), (22, category), (23, name), *annotations)))


def perfetto() -> bytes:
    """A trace of rocprofv3: interned names, a track, a kernel, an API call, and a kernel of rocprofiler-systems."""
    interned = message(
        (1, message((1, 1), (2, "kernel_dispatch"))),
        (2, message((1, 4), (2, "gemm(float*)"))),
        *((3, message((1, k), (2, name))) for k, name in enumerate(ROCPROFV3_ANNOTATIONS, 1)),
    )
    messages = [(4, annotation(k, value)) for k, value in enumerate(ROCPROFV3_ANNOTATIONS.values(), 1)]
    begin = message((9, 1), (11, 55), (3, 1), (10, 4), *messages)
    axes = {"begin_ns": 6000, "end_ns": 6500, "workgroup_size": "(64,4,1)", "grid_size": "(1000,8,1)", "VGPR_Count": 88}
    return b"".join(
        [
            packet((6, message((1, b""))), (13, 1)),
            packet((60, message((1, 55), (2, "COMPUTE AGENT [2] QUEUE [0] (GPU)")))),
            packet((8, 1000), (12, interned), (11, begin)),
            packet((8, 5000), (11, message((9, 2), (11, 55)))),
            packet((11, message((9, 1), (11, 3), (22, "hip_api"), (23, "hipMalloc")))),
            dispatch(axes, "conv", "rocm_kernel_dispatch"),
        ]
    )


SAMPLES = {"perfetto": ("perfetto_rocm", writer(perfetto()))}


def written(tmp_path, contents):
    """The trace of some packets."""
    (tmp_path / "1_results.pftrace").write_bytes(contents)
    return read_trace(tmp_path / "1_results.pftrace")


def test_dispatch_by_dispatch(tmp_path):
    trace = written(tmp_path, perfetto())
    table = trace.kernels
    assert table.unique_names == ("gemm(float*)", "conv")
    assert (table.start_ns.tolist(), table.duration_ns.tolist()) == ([1000, 6000], [4000, 500])
    assert (table.workgroups.tolist(), table.threads.tolist()) == ([32, 32], [256, 256])
    assert table.block.tolist() == [[-1, -1, -1], [64, 4, 1]]
    assert (table.shared_bytes.tolist(), table.vgprs.tolist()) == ([16896, -1], [-1, 88])
    assert (table.device.tolist(), table.queue.tolist(), table.correlation.tolist()) == ([2, 2], [1, -1], [18, -1])
    facts = trace.facts()
    assert (facts["packets"], facts["slices"], facts["agents"]) == (6, 3, ["2"])
    assert facts["missing"] == ["1 of 2 dispatches have no shared memory (" + facts["missing"][0].partition("(")[2]]


def test_compressed_packets_are_unpacked(tmp_path):
    compressed = packet((50, zlib.compress(perfetto())))
    assert written(tmp_path, compressed).kernels.duration_ns.tolist() == [4000, 500]


def test_names_belong_to_their_sequence_and_are_forgotten_when_it_begins_anew(tmp_path):
    names = message((2, message((1, 4), (2, "other"))))
    begin = [(4, annotation(key, value)) for key, value in ROCPROFV3_ANNOTATIONS.items()]
    event = (11, message((9, 1), (22, "kernel_dispatch"), (10, 4), *begin))
    trace = written(
        tmp_path, packet((8, 1), (12, names)) + packet(event) + packet(event, sequence=8) + packet((13, 1), event)
    )
    assert [trace.kernels.name_of(row) for row in range(3)] == ["other", "", ""]


@pytest.mark.parametrize("agent", [7, "7", "Agent 7", "GPU 7"])
def test_an_agent_is_a_number_or_has_one(tmp_path, agent):
    assert written(tmp_path, dispatch({**ROCPROFV3_ANNOTATIONS, "agent": agent})).kernels.device.tolist() == [7]


def test_what_newer_versions_add(tmp_path):
    more = {"LDS_Block_Size": 1024, "VGPR_Count": 88, "Accum_VGPR_Count": 40, "SGPR_Count": 96, "stream_ID": 3}
    table = written(tmp_path, dispatch({**ROCPROFV3_ANNOTATIONS, **more})).kernels
    assert (table.shared_bytes.tolist(), table.registers().tolist()) == ([1024], [128])
    assert (table.sgprs.tolist(), table.stream.tolist()) == ([96], [3])


def test_dispatches_without_times_are_counted(tmp_path):
    settings = {key: value for key, value in ROCPROFV3_ANNOTATIONS.items() if key != "end_ns"}
    trace = written(tmp_path, dispatch(settings))
    assert trace.facts()["dispatches_without_times"] == 1
    assert trace.missing() == ["it holds no dispatches (record the GPU's activity as well)"]


BAD = [
    (
        dispatch({**ROCPROFV3_ANNOTATIONS, "agent": "card one"}),
        "dispatch 0: agent must be a whole number. Got 'card one'.",
    ),
    (dispatch({**ROCPROFV3_ANNOTATIONS, "queue": "²"}), "dispatch 0: queue must be a whole number. Got '²'."),
    (dispatch({**ROCPROFV3_ANNOTATIONS, "end_ns": 1}), "duration_ns of dispatches 0 is below zero. Got -999."),
    (
        dispatch({**ROCPROFV3_ANNOTATIONS, "queue": 2**64 - 1}),
        "holds a number that does not fit in 64 bits; the file is",
    ),
    (perfetto()[:-3], "is cut off; it ends within field 1."),
    (packet((8, 1)) + packet((50, b"no zlib at all")), "is no sound protobuf file; it is damaged, get it again."),
    (packet((8, 1)) + packet((11, 5)), "is no sound protobuf file; it is damaged, get it again."),
    (packet((8, 1)) + field(1, b"\x5a\x7f"), "is no sound protobuf file; it is damaged, get it again."),
]


@pytest.mark.parametrize(("contents", "says"), BAD)
def test_a_bad_trace_is_refused_in_one_sentence(tmp_path, contents, says):
    assert refusal(tmp_path / "t", contents).startswith(says)


@pytest.mark.slow
def test_packets_do_not_unpack_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.workloads.importers.perfetto.most_bytes", lambda: 1 << 20)
    bomb = packet((8, 1)) + packet((50, zlib.compress(bytes(1 << 26))))
    tracemalloc.start()
    try:
        assert refusal(tmp_path / "t", bomb).startswith(
            "its packets are larger once unpacked than is read into memory."
        )
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()
    nested = packet((8, 1))
    for _ in range(3000):
        nested = packet((50, zlib.compress(nested)))
    assert len(refusal(tmp_path / "t", nested)) > 10
