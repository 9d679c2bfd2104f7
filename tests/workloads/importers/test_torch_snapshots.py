"""Snapshots as PyTorch's versions write them: rings that were cut, several cards, expandable segments, failures."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.recorded_snapshots import Recorder
from tests.slow import examples
from workbench.errors import InputError
from workbench.machine import Board
from workbench.streams import Streams
from workbench.workloads.importers import read_trace
from workbench.workloads.pool_requests import ALLOC
from workbench.workloads.recorded_memory import TracePool

STEPS = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 3 << 20), st.integers(0, 9)), min_size=1, max_size=40)


def recorded(steps, expandable=False):
    """Frees about every other time, lets a free wait and gives segments back now and then."""
    made = Recorder(devices=2, expandable=expandable)
    for device, size, chance in steps:
        live = sorted(made.live[device])
        if chance > 5 and live:
            made.free(device, live[size % len(live)])
        elif chance == 5:
            made.trim(device)
        else:
            made.alloc(device, size)
    for device in (0, 1):
        if made.live[device]:
            made.free(device, min(made.live[device]), pending=True)
    return made


def written(folder, snapshot):
    place = folder / "snapshot.pickle"
    place.write_bytes(pickle.dumps(snapshot))
    return place


@examples(10, 150)
@given(steps=STEPS, kept=st.integers(1, 100), expandable=st.booleans(), version=st.sampled_from(["2.0", "2.3"]))
def test_what_was_live_and_reserved_is_told_however_early_the_rings_were_cut(
    tmp_path_factory, steps, kept, expandable, version
):
    made = recorded(steps, expandable)
    snapshot = made.snapshot(kept, version)
    rows = read_trace(written(tmp_path_factory.mktemp("cut"), snapshot)).allocations
    begun = [min((event["time_us"] for event in events), default=0) for events in snapshot["device_traces"]]
    seen = [after for after in made.truth if after.time_us >= begun[after.device]]
    assert rows.bytes.tolist() == [after.change for after in seen]
    assert rows.device.tolist() == [after.device for after in seen]
    assert rows.allocated_after.tolist() == [after.live for after in seen]
    assert (np.diff(rows.time_ns) >= 0).all()
    if seen:
        assert rows.reserved_after.tolist() == [after.reserved for after in seen]
        assert [rows.cached_before(device) for device in (0, 1)] == [begun_with(seen, snapshot, k) for k in (0, 1)]
    driver = [event for events in snapshot["device_traces"] for event in events if event["action"].startswith("segm")]
    driver.sort(key=lambda event: event["time_us"])
    assert np.abs(rows.calls.bytes).tolist() == [event["size"] for event in driver]


def begun_with(seen, snapshot, device):
    """What a card held cached before the first event that its ring kept, if it kept an allocation or a release."""
    first = next((after for after in seen if after.device == device), None)
    if first is None:
        return 0
    events = [event for event in snapshot["device_traces"][device] if event["time_us"] <= first.time_us]
    signs = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
    grown = sum(signs.get(event["action"], 0) * event["size"] for event in events)
    return first.reserved - grown - (first.live - first.change)


def failed():
    """A card that lends nothing: 1 MB lives, 9 GB fail, then both cards go on."""
    made = Recorder(devices=2)
    made.alloc(0, 1_000_000)
    made.fail(0, 9_000_000_000)
    made.alloc(1, 5000)
    return made


def test_what_failed_is_told_and_asked_for_when_wanted(tmp_path):
    place = written(tmp_path, failed().snapshot())
    rows = read_trace(place).allocations
    assert (rows.refusals.bytes.tolist(), rows.refusals.device.tolist()) == ([9_000_000_000], [0])
    without = TracePool(trace=str(place))
    reply = without.recorded()
    assert (reply.refused, reply.driver_calls) == (1, 2)
    assert reply.reserved.tolist() == [4 << 20, 4 << 20], "both cards together; the second holds its segment before too"
    requests = without.but(refused="ask").pool_requests(Board(), Streams(0))
    assert requests.bytes.tolist() == [1_000_000, 9_000_000_000, 9_000_000_000, 5000]
    assert (requests.action == ALLOC).tolist() == [True, True, False, True]
    assert requests.handle.tolist() == [0, 2, 2, 1]
    assert len(without.pool_requests(Board(), Streams(0)).time) == 2
    facts = without.but(refused="ask").facts(Board())
    assert (facts["allocations"], facts["allocations_from_before"]) == (3, 0)


def test_one_card_of_several_takes_its_failures_along(tmp_path):
    place = written(tmp_path, failed().snapshot())
    other = TracePool(trace=str(place), device=1, refused="ask")
    assert (other.recorded().refused, other.recorded().driver_calls) == (0, 1)
    assert other.pool_requests(Board(), Streams(0)).bytes.tolist() == [5000]


def test_a_snapshot_made_of_a_profile_tells_no_segments(tmp_path):
    made = failed().snapshot()
    for segment in made["segments"]:
        del segment["segment_type"]
        segment["total_size"] = 1 << 45  # from the lowest address that was seen to the highest
    for event in made["device_traces"][0]:
        del event["time_us"]
    rows = read_trace(written(tmp_path, made)).allocations
    assert rows.reserved_after is None and rows.calls is None
    assert rows.bytes.tolist() == [1_000_000, 5000]


@pytest.mark.parametrize("only", ["list", "mapping"])
def test_segments_without_a_history_are_read_as_a_moment(tmp_path, only):
    """What `torch.cuda.memory_snapshot()` returns, a bare list, was read by `advise` and not by `import`."""
    segments = failed().snapshot()["segments"]
    place = written(tmp_path, segments if only == "list" else {"segments": segments})
    facts = read_trace(place).facts()
    sizes = [segment["total_size"] for segment in segments]
    assert (facts["segments"], facts["segment_bytes"], facts["events"]) == (len(sizes), sum(sizes), 0)
    assert sum(card["reserved_peak_bytes"] for card in facts["by_card"]) == sum(sizes)


def test_nothing_at_all_says_how_to_record_a_history(tmp_path):
    place = written(tmp_path, {"segments": []})
    with pytest.raises(InputError) as refused:
        read_trace(place)
    assert str(refused.value) == (
        f"{place}: holds the segments of a moment and no history; call torch.cuda.memory._record_memory_history() "
        "first and write it with torch.cuda.memory._dump_snapshot."
    )


def test_null_pointers_and_plain_hexadecimal_in_logs_of_rmm(tmp_path):
    lines = [
        "Thread,Time,Action,Pointer,Size,Stream",
        "7,10:00:00.000001,allocate,(nil),0,(nil)",
        "7,10:00:00.000002,allocate,7f0010000000,256,0",
        "7,10:00:00.000003,free,nullptr,0,0x2",
        "7,10:00:00.000004,allocate failure,0,4096,0",
        "7,10:00:00.000005,deallocate,0x7f0010000000,256,0x2",
        "7,10:00:00.000006,free,(nil),0,(nil)",
    ]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    workload = TracePool(trace=str(tmp_path / "log.csv"), refused="ask")
    assert workload.pool_requests(Board(), Streams(0)).bytes.tolist() == [256, 4096, 4096, 256]
    assert workload.recorded().refused == 1
