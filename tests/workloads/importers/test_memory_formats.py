"""RMM's logs, PyTorch's memory timelines and snapshots, and pickles that ask for more than values."""

import gzip
import json
import pickle
from pathlib import Path

import pytest

from tests.public_traces import FACTS, needs_public_traces, path
from workbench.errors import InputError
from workbench.workloads.importers import read_trace

TIMELINE = "alloc/hta_memory_timeline.raw.json.gz"
RMM = """Thread,Time,Action,Pointer,Size,Stream
11,23:59:59.5,allocate,0x7f00,256,0x2
12,23:59:59.500001,allocate,0x7f10,512,0x2
12,23:59:59.500001,allocate failure,(nil),4096,0x2
11,00:00:00.25,free,0x7f00,256,0x0
11,00:00:00.25,free,0x6000,64,0x0
"""


def snapshot():
    """A block of 1000 bytes whose release alone is seen, one of 700 that lives on, and one in between."""
    segment = {"device": 0, "address": 4096, "total_size": 2 << 20, "stream": 0, "segment_type": "small"}
    blocks = [
        {"address": 4096, "size": 1024, "requested_size": 1000, "state": "inactive"},
        {"address": 5120, "size": 1024, "requested_size": 700, "state": "active_allocated"},
        {"address": 6144, "size": 512, "requested_size": 300, "state": "active_allocated"},
    ]
    events = [
        {"action": "alloc", "addr": 6144, "size": 300, "stream": 0, "time_us": 10},
        {"action": "free_requested", "addr": 4096, "size": 1000, "stream": 0, "time_us": 12},
        {"action": "free_completed", "addr": 4096, "size": 1000, "stream": 0, "time_us": 12},
        {"action": "segment_alloc", "addr": 1 << 30, "size": 20 << 20, "stream": 0, "time_us": 13},
        {"action": "alloc", "addr": 1 << 30, "size": 5000, "stream": 0, "time_us": 14},
        {"action": "free_completed", "addr": 1 << 30, "size": 5000, "stream": 0, "time_us": 15},
        {"action": "segment_free", "addr": 1 << 30, "size": 20 << 20, "stream": 0, "time_us": 16},
        {"action": "snapshot", "addr": 0, "size": 0, "stream": 0, "time_us": 17},
    ]
    return {"segments": [{**segment, "blocks": blocks}], "device_traces": [events, []], "allocator_settings": {}}


def written(tmp_path: Path, content: bytes) -> Path:
    place = tmp_path / "trace"
    place.write_bytes(content)
    return place


def test_a_log_of_rmm_past_midnight(tmp_path):
    trace = read_trace(written(tmp_path, RMM.encode()))
    rows = trace.allocations
    assert (rows.time_ns - rows.time_ns[0]).tolist() == [0, 1000, 750_000_000, 750_000_000]
    assert rows.bytes.tolist() == [256, 512, -256, -64]
    assert rows.before.bytes.tolist() == [64], "what is freed without having been allocated was live before"
    assert rows.allocated_after.tolist() == [320, 832, 576, 512]
    message = trace.facts()
    assert {name: message[name] for name in ("allocations", "frees", "allocated_bytes", "peak_live_bytes")} == {
        "allocations": 2,
        "frees": 2,
        "allocated_bytes": 768,
        "peak_live_bytes": 832,
    }
    assert (message["threads"], message["failed_allocations"]) == (2, 1)
    assert "kernels" not in message


@needs_public_traces
def test_every_number_of_a_public_timeline():
    message = read_trace(path(TIMELINE)).facts()
    assert {name: message[name] for name in FACTS[TIMELINE]} == FACTS[TIMELINE]
    assert (message["allocations"], message["frees"]) == (3345, 3345)
    assert message["allocated_bytes"] == FACTS[TIMELINE]["created_bytes"]
    assert message["peak_live_bytes"] == FACTS[TIMELINE]["running_peak_bytes"]


@pytest.mark.parametrize("pack", [pickle.dumps, lambda it: gzip.compress(pickle.dumps(it, protocol=2))])
def test_a_snapshot_tells_what_was_live_before_its_window(tmp_path, pack):
    trace = read_trace(written(tmp_path, pack(snapshot())))
    rows = trace.allocations
    assert rows.bytes.tolist() == [300, -1000, 5000, -5000]
    assert sorted(rows.before.bytes.tolist()) == [700, 1000]
    assert rows.allocated_after.tolist() == [2000, 1000, 6000, 1000]
    assert rows.reserved_after.tolist() == [2 << 20, 2 << 20, 22 << 20, 22 << 20]
    message = trace.facts()
    assert (message["allocations"], message["frees"], message["allocated_bytes"], message["peak_live_bytes"]) == (
        2,
        2,
        5300,
        6000,
    )
    assert message["segment_bytes"] == 2 << 20


def test_blocks_without_addresses_lie_one_after_the_other(tmp_path):
    old = snapshot()
    for block in old["segments"][0]["blocks"]:
        del block["address"], block["requested_size"]
    trace = read_trace(written(tmp_path, pickle.dumps(old)))
    assert sorted(trace.allocations.before.bytes.tolist()) == [1000, 1024]


class Hostile:
    """What a pickle would have called when it is loaded as pickles usually are."""

    def __init__(self, call, *arguments):
        self.reduced = (call, arguments)

    def __reduce__(self):
        return self.reduced


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_that_asks_for_anything_is_refused_and_nothing_is_called(tmp_path, protocol):
    mark = tmp_path / "was_here"
    content = pickle.dumps({**snapshot(), "more": Hostile(Path.touch, mark)}, protocol=protocol)
    place = written(tmp_path, content)
    with pytest.raises(InputError) as refused:
        read_trace(place)
    assert "and a memory snapshot needs no class; it was refused and nothing in it was executed" in str(refused.value)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (pickle.dumps(snapshot())[:-40], "is no whole pickle ("),
        (pickle.dumps([1, 2]), "is no memory snapshot of PyTorch (Expected `object`, got `array`"),
        (pickle.dumps({"device_traces": []}), "is no memory snapshot of PyTorch (Object missing required field"),
        (b"\x80\x04\x82\x01.", "is no whole pickle ("),
        (RMM.replace("free,0x7f00", "drop,0x7f00").encode(), "line 5: Action must be allocate, free or"),
        (RMM.replace(",512,", ",-5,").encode(), "line 3: Size must be a whole number of bytes. Got '-5'."),
        (RMM.replace("23:59:59.5,", "noon,").encode(), "line 2: Time must be like 10:44:12.123456. Got 'noon'."),
        (RMM.replace("0x7f10", "here").encode(), "line 3: Pointer must be a hexadecimal address. Got 'here'."),
        (RMM.replace(",0x2\n12", "\n12", 1).encode(), "line 2: has 5 fields where the header has 6; the file is"),
        (json.dumps([[0, 2, 64, 1], [5, 9, 64, 1]]).encode(), "record 1 must have an action from 1 to 4"),
        (json.dumps([[0, 2, 64, 1], [5, 4, 64, 1]]).encode(), "Got action 4 with 64 bytes."),
        (json.dumps([[0, 2, 64, 1]]).encode()[:-1], "is no whole memory timeline ("),
    ],
)
def test_what_is_damaged_is_refused_in_one_sentence(tmp_path, content, says):
    place = written(tmp_path, content)
    with pytest.raises(InputError) as refused:
        read_trace(place)
    assert str(refused.value).startswith(f"{place}: ")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_log_may_run_past_more_than_one_midnight(tmp_path):
    times = ("23:00:00.0", "01:00:00.0", "23:00:00.0", "01:00:00.0")
    rows = [f"1,{time},allocate,0x{k},64,0x2" for k, time in enumerate(times)]
    trace = read_trace(written(tmp_path, "\n".join([RMM.splitlines()[0], *rows]).encode()))
    hours = (trace.allocations.time_ns - trace.allocations.time_ns[0]) // (3600 * 10**9)
    assert hours.tolist() == [0, 2, 24, 26]
