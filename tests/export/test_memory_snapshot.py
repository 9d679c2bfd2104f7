"""A run written as a memory snapshot: read again it is the same memory, and the same policy does the same with it."""

import pickle

import numpy as np
import pytest

import workbench as wb
from tests.oracles import pool_memory as slow
from workbench.advice.replay import recorded_allocator, replay_sweep, replayed
from workbench.errors import InputError
from workbench.export.memory_snapshot import write_snapshot
from workbench.records.pool import STITCHED
from workbench.runs.run import run_id
from workbench.workloads.importers import read_trace
from workbench.workloads.recorded_memory import TracePool

JOBS = "time,app,card,action,handle,bytes"
MIB = 1 << 20


def written(folder, rows, machine="dgx_1v", **policy):
    """The results of a file of requests under policies, its record and its snapshot."""
    (folder / "jobs.csv").write_text("\n".join([JOBS, *rows]))
    config = {"engine": "pool", "machine": machine, "workload": {"file": str(folder / "jobs.csv")}, "seeds": 1}
    results = wb.run({**config, "policy": {"cache": "pytorch_caching", **policy}}, workers=0)
    run = run_id(results.points[0].id, 0)
    return results.record(run), results.snapshot(run, folder / "own.pickle")


def requests(count):
    """Two cards that ask for growing blocks, and give back two of three."""
    rows = []
    for k in range(count):
        rows.append(f"{4000 * k},{k % 2},gpu{k % 2},alloc,{k},{(k * 700_001) % (30 * MIB) + 1}")
        if k % 3 and k > 5:
            rows.append(f"{4000 * k + 2000},{(k - 5) % 2},gpu{(k - 5) % 2},free,{k - 5},0")
    return rows


def test_read_again_it_is_the_memory_of_the_run(tmp_path):
    record, place = written(tmp_path, requests(40))
    rows = read_trace(place).allocations
    live, reserved = [0] * len(record.cards), slow.got(record)
    for row, event in enumerate(slow.events(record)):
        card, grown = event["card"], event["outcome"] in slow.GRANTED
        live[card] += event["asked"] * (1 if grown else -1)
        assert rows.bytes[row] == event["asked"] * (1 if grown else -1)
        assert rows.allocated_after[row] == live[card]
        assert rows.reserved_after[row] == reserved[row][card]
    assert rows.calls.bytes.tolist() == record.calls[:, 3].tolist()
    assert len(rows.before.bytes) == 0


def test_replayed_under_the_same_cache_it_is_the_recorded_row(tmp_path):
    _, place = written(tmp_path, requests(40))
    results = replayed(wb.run(replay_sweep(str(place), ["pytorch_caching", "no_cache"], machine="dgx_1v"), workers=0))
    recorded, same, none = results
    assert [row.policy for row in results] == ["recorded", "pytorch_caching", "no_cache"]
    assert same[1:5] == recorded[1:5] and (recorded.refused, same.refused) == (0, 0)
    assert none.reserved_peak_bytes == none.active_peak_bytes == recorded.active_peak_bytes
    assert none.driver_calls == len(requests(40)) and none.cache_hit_rate == 0


def test_what_was_refused_is_an_oom_and_another_board_serves_it(tmp_path):
    small = {"cards": [{"id": "gpu0", "memory_bytes": 64 * MIB}], "links": []}
    _, place = written(tmp_path, [f"0,0,gpu0,alloc,0,{40 * MIB}", f"10,0,gpu0,alloc,1,{30 * MIB}"], small)
    assert recorded_allocator(TracePool(trace=str(place))).refused == 1
    sweep = replay_sweep(str(place), ["pytorch_caching"], ["local_only", "max_bandwidth"], card_bytes=64 * MIB)
    request = replay_sweep(
        str(place), ["pytorch_caching"], ["local_only", "max_bandwidth"], card_bytes=64 * MIB, refused="ask"
    )
    assert [row.refused for row in replayed(wb.run(sweep, workers=0))] == [1, 0, 0]
    _, alone, lent = replayed(wb.run(request, workers=0))
    assert (alone.refused, lent.refused) == (1, 0)
    assert (alone.borrowed_peak_bytes, lent.borrowed_peak_bytes) == (0, 30 * MIB)


def test_every_block_lies_where_the_segment_is(tmp_path):
    _, place = written(tmp_path, requests(40))
    content = place.read_bytes()
    snapshot = pickle.loads(content)
    assert any(block["state"] == "inactive" for segment in snapshot["segments"] for block in segment["blocks"])
    for segment in snapshot["segments"]:
        at = segment["address"]
        for block in segment["blocks"]:
            assert block["address"] == at and block["size"] >= block["requested_size"]
            at += block["size"]
        assert at == segment["address"] + segment["total_size"]
        live = sum(block["size"] for block in segment["blocks"] if block["state"] == "active_allocated")
        assert segment["active_size"] == live
    _, place = written(tmp_path, requests(40))
    assert place.read_bytes() == content


def test_regions_of_several_pieces_are_refused(tmp_path):
    record, _ = written(tmp_path, requests(10))
    stitched = record._replace(outcome=np.where(record.outcome == 0, STITCHED, record.outcome))
    in_halves = record._replace(calls=record.calls // [1, 1, 1, 2])
    never_got = record._replace(calls=record.calls * [1, 1, 1, -1])
    mapped = record._replace(mappings=record.mappings + 2)
    moved = record._replace(moves=np.zeros((1, 8), np.int64))
    result = {"stitched regions": stitched, "maps pieces": in_halves, "regions moved": moved}
    for says, wrong in [*result.items(), ("maps pieces", never_got), ("maps pieces", mapped)]:
        with pytest.raises(InputError, match=says):
            write_snapshot(wrong, tmp_path / "none.pickle")
    assert not (tmp_path / "none.pickle").exists()


def test_a_record_without_a_pool_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"it needs a run of the engine pool\."):
        write_snapshot(None, tmp_path / "none.pickle")
    assert not list(tmp_path.iterdir())
