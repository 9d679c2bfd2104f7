"""XLA's profiles: xplane.pb and trace.json, kernel by kernel; what cannot be true is left out."""

import copy
import gzip
import json
from collections.abc import Sequence

import pytest

from tests.public_recordings import recording
from tests.slow import seeds
from tests.workloads.importers.profiles import field, message, writer
from tests.workloads.importers.refusing import damaged, read_or_refused, refusal
from workbench.workloads.importers import read_trace

_ON_NVIDIA = "regs:64 static_shared:1024 dynamic_shared:512 grid:4,2,1 block:128,1,1 occ_pct:50"
_ON_AMD = " grid:6240,1,1 block:256,1,1 private_mem:0 group_mem:2112 occ_pct:0"
_GARBAGE = "regs:2191500840 static_shared:32462 dynamic_shared:0 grid:1280,1,1 block:256,1,1 occ_pct:0"
JAX = {
    "displayTimeUnit": "ns",
    "metadata": {"highres-ticks": True},
    "traceEvents": [
        {"ph": "M", "pid": 2, "name": "process_name", "args": {"name": "/device:GPU:1"}},
        {"ph": "M", "pid": 2, "tid": 17, "name": "thread_name", "args": {"name": "Stream #21(Compute)"}},
        {"ph": "M", "pid": 701, "name": "process_name", "args": {"name": "/host:CPU"}},
        {
            "ph": "X",
            "pid": 2,
            "tid": 17,
            "ts": 700.301,
            "dur": 18.24,
            "name": "loop_fusion",
            "args": {"kernel_details": _ON_NVIDIA, "correlation_id": "18", "hlo_op": "fusion"},
        },
        {
            "ph": "X",
            "pid": 2,
            "tid": 17,
            "ts": 720,
            "dur": 2,
            "name": "MemcpyD2D",
            "args": {"memcpy_details": "size:4"},
        },
        {"ph": "X", "pid": 701, "tid": 9, "ts": 1, "dur": 2, "name": "PjitFunction"},
        {},
    ],
}


def _named(number: int, key: int, name: str) -> tuple[int, bytes]:
    """An entry of a plane's table of names."""
    return number, message((1, key), (2, message((1, key), (2, name))))


def xplane(details: Sequence[str] = (_ON_NVIDIA, _ON_AMD, _GARBAGE)) -> bytes:
    """A profile of XLA: a host, and a card with a stream and a kernel a line of details."""
    events = [
        (
            4,
            message(
                (1, 5),
                (2, 700_301_499 + 20_000_000 * k),
                (3, 18_240_600),
                (4, message((1, 1), (3, 18 + k))),
                (4, message((1, 2), (5, line))),
            ),
        )
        for k, line in enumerate(details)
    ]
    copy = (4, message((1, 6), (2, 1), (3, 1), (4, message((1, 4), (5, "size:4")))))
    card = message(
        (1, 1),
        (2, "/device:GPU:1"),
        (3, message((1, 17), (2, "Stream #21(Kernel)"), (3, 1_000), *events, copy)),
        _named(4, 5, "loop_fusion"),
        _named(4, 6, "MemcpyD2D"),
        _named(5, 1, "correlation_id"),
        _named(5, 2, "kernel_details"),
        _named(5, 3, "core_count"),
        _named(5, 4, "memcpy_details"),
        _named(5, 7, "device_vendor"),
        (6, message((1, 3), (4, 304))),
        (6, message((1, 7), (5, "AMD"))),
        (6, message((1, 9), (2, 0.5))),
    )
    return message((1, message((2, "/host:metadata"))), (1, card), (4, "a-host"))


SAMPLES = {"JAX": ("jax_trace_json", writer(JAX)), "xplane": ("xplane_pb", writer(xplane()))}


def test_xplane_kernel_by_kernel(tmp_path):
    (tmp_path / "host.xplane.pb").write_bytes(xplane())
    trace = read_trace(tmp_path / "host.xplane.pb")
    table = trace.kernels
    assert table.unique_names == ("loop_fusion",)
    assert table.start_ns.tolist() == [701_301, 721_301, 741_301]
    assert table.duration_ns.tolist() == [18_241] * 3
    assert (table.device.tolist(), table.stream.tolist()) == ([1] * 3, [21] * 3)
    assert (table.workgroups.tolist(), table.threads.tolist()) == ([8, 6240, 1280], [128, 256, 256])
    assert (table.shared_bytes.tolist(), table.vgprs.tolist()) == ([1536, 2112, -1], [64, -1, -1])
    assert table.correlation.tolist() == [18, 19, 20]
    assert [(card.number, card.name, card.compute_units) for card in trace.cards] == [(1, "AMD", 304)]
    facts = trace.facts()
    assert (facts["planes"], facts["memcpys"], facts["memsets"]) == (2, 1, 0)
    assert facts["kernels_with_implausible_registers"] == 1
    assert facts["missing"][0].startswith("1 of 3 kernels have no shared memory (")


PUBLIC = {
    "tracelens_mi300x_jax_conv": (235, 8, 3486320, 49280, 0),
    "tracelens_mi300x_jax_conv_legacy": (25, 1, 435720, None, 25),
    "tracelens_mi355x_jax_te_attention": (150, 1, 516510, 135168, 0),
}
"""Of public files: kernels, cards with kernels, workgroups, most shared memory, kernels with implausible registers."""


@pytest.mark.parametrize("name", PUBLIC)
def test_public_profiles(name):
    facts = read_trace(recording(name)).facts()
    reply = ("kernels", "devices", "workgroups", "max_shared_bytes", "kernels_with_implausible_registers")
    assert tuple(facts.get(key) for key in reply[:-1]) == PUBLIC[name][:-1]
    assert facts.get(reply[-1], 0) == PUBLIC[name][-1]


def jax(**changes):
    """A trace.json with its kernel changed."""
    document = copy.deepcopy(JAX)
    kernel = document["traceEvents"][3]
    kernel["args"] |= changes.pop("args", {})
    kernel |= changes
    return json.dumps(document).encode()


def test_trace_json_kernel_by_kernel(tmp_path):
    (tmp_path / "t.trace.json.gz").write_bytes(gzip.compress(jax()))
    trace = read_trace(tmp_path / "t.trace.json.gz")
    table = trace.kernels
    assert table.unique_names == ("loop_fusion",)
    assert (table.start_ns.tolist(), table.duration_ns.tolist()) == ([700_301], [18_240])
    assert (table.device.tolist(), table.stream.tolist(), table.correlation.tolist()) == ([1], [21], [18])
    assert (table.workgroups.tolist(), table.threads.tolist()) == ([8], [128])
    assert (table.shared_bytes.tolist(), table.vgprs.tolist()) == ([1536], [64])
    facts = trace.facts()
    assert (facts["events"], facts["memcpys"], facts["memsets"], facts["missing"]) == (7, 1, 0, [])


def test_names_of_cards_and_streams_may_come_behind_the_kernels(tmp_path):
    document = copy.deepcopy(JAX)
    document["traceEvents"].reverse()
    (tmp_path / "t").write_text(json.dumps(document))
    table = read_trace(tmp_path / "t").kernels
    assert (table.device.tolist(), table.stream.tolist()) == ([1], [21])


def test_a_trace_without_kernels_says_so(tmp_path):
    document = {**JAX, "traceEvents": JAX["traceEvents"][:3]}
    (tmp_path / "t").write_text(json.dumps(document))
    assert read_trace(tmp_path / "t").missing() == ["it holds no kernels (record the GPU's activity as well)"]


BAD_DETAILS = [
    ("regs:many grid:1,1,1 block:1,1,1", "regs of kernel_details must be a whole number. Got 'many'."),
    ("grid:1,1 block:1,1,1", "grid of kernel_details must be three whole numbers. Got '1,1'."),
    ("grid:1,²,1 block:1,1,1", "grid of kernel_details must be a whole number. Got '²'."),
    ("grid:1,1,1 block:1,1,-1", "block of kernel_details must be a whole number. Got '-1'."),
    ("regs:" + "9" * 5000, "regs of kernel_details must be a whole number. Got '999"),
]


@pytest.mark.parametrize(("details", "says"), BAD_DETAILS)
def test_bad_details_are_refused_in_one_sentence(tmp_path, details, says):
    assert refusal(tmp_path / "t", jax(args={"kernel_details": details})).startswith(f"event 4: {says}")
    assert refusal(tmp_path / "t", xplane([details])).startswith(f"kernel 0: {says}")


def test_a_grid_of_too_many_blocks_is_refused(tmp_path):
    details = "grid:999999999999,999999999999,9 block:1,1,1"
    assert refusal(tmp_path / "t", xplane([details])).startswith("holds a number that does not fit in 64 bits")


BAD_JSON = [
    (jax(ts="soon"), "ts of event 4 must be a number of microseconds. Got"),
    (jax(dur=-1), "duration_ns of kernels 0 is below zero. Got -1000."),
    (jax(args={"correlation_id": "first"}), "correlation_id of event 4 must be a whole number. Got 'first'."),
    (jax(args={"kernel_details": 3}), "its traceEvents are not as XLA writes them ("),
    (jax(pid="gpu"), "its traceEvents are not as XLA writes them ("),
    (jax()[:-40], "is cut off; it ends within its traceEvents."),
]


@pytest.mark.parametrize(("contents", "says"), BAD_JSON)
def test_a_bad_trace_json_is_refused_in_one_sentence(tmp_path, contents, says):
    assert refusal(tmp_path / "t", contents).startswith(says)


PLANE = xplane()
BAD_XPLANE = [
    (PLANE[:-6], "is cut off; it ends within field 4."),
    (PLANE[:200], "is cut off; it ends within field 1."),
    (
        PLANE + field(1, message((2, "/device:GPU:0"), (3, message((4, b"\x0f")))))[:-1] + b"\x0f",
        "is no sound protobuf file;",
    ),
    (PLANE + b"\x08\x01" + b"\x00" * 40, "is no sound protobuf file; it is damaged, get it again."),
    (PLANE + b"\xff" * 40, "is no sound protobuf file; it is damaged, get it again."),
    (
        PLANE + b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + b"x" * 40,
        "is no sound protobuf file; it is damaged, get it",
    ),
]


@pytest.mark.parametrize(("contents", "says"), BAD_XPLANE)
def test_a_bad_xplane_is_refused_in_one_sentence(tmp_path, contents, says):
    assert refusal(tmp_path / "t", contents).startswith(says)


@pytest.mark.parametrize("seed", seeds(12, 360))
def test_a_damaged_profile_is_read_or_refused_in_one_sentence(tmp_path, seed):
    contents = (xplane(), jax())[seed % 2]
    (tmp_path / "t").write_bytes(damaged(contents, seed, most=6))
    assert "\n" not in read_or_refused(tmp_path / "t")
