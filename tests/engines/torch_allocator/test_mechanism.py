"""PyTorch's allocator as a mechanism: what sweeps say of exactness, of settings, and of two open reports."""

import gzip
import pickle

import numpy as np
import pytest

import workbench as wb
from tests.oracles.torch_allocator import Rules
from tests.public_traces import NAMED, needs_public_traces
from tests.recorded_torch import Recorder, exercised
from workbench.engines.torch_allocator import state
from workbench.engines.torch_allocator.recording import live_before, recording_of
from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep
from workbench.workloads import pool_requests
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.torch_snapshot import read_snapshot

MIB = 1 << 20
FIVE = {
    "torch_decomfl": (61, 7946),
    "torch_cs336_small": (9, 36),
    "torch_cs336_medium_512": (1, 7591),
    "torch_cs336_forward": (0, 4138),
    "torch_cs336_inference": (0, 1721),
}
"""Segment allocations and allocations, as `facts.json` beside the files has them."""


def runs(workload, **options):
    results = wb.run({"engine": "torch_allocator", "workload": workload, "options": options, "seeds": 1}, workers=1)
    assert not results.failures, results.failures[0].error
    return results.table


def snapshot(folder, seed=3, rules=None):
    made = exercised(Recorder(rules or Rules(), ((0, (0, 0)), (7, (0, 0))), seed), 300, seed)
    place = folder / f"made_{seed}.pickle.gz"
    place.write_bytes(gzip.compress(pickle.dumps(made.snapshot())))
    return made, str(place)


def test_requests_are_numbered_alike_by_programs_and_by_the_allocator():
    names = ("ALLOC_TENSOR", "FREE_TENSOR", "DEFER_TENSOR", "COMPLETE_TENSOR", "EMPTY_CACHE")
    kinds = [getattr(pool_requests, name) for name in names]
    assert [getattr(state, name.removesuffix("_TENSOR")) for name in names] == kinds


def test_a_sweep_says_how_exact_a_replay_is(tmp_path):
    made, place = snapshot(tmp_path)
    row = runs({"trace": place}, settings="recorded").iloc[0]
    allocs = sum(event["action"] == "alloc" for event in made.events)
    grown = sum(event["action"] == "segment_alloc" for event in made.events)
    assert (row["addresses_reproduced"], row["allocs"]) == (allocs, allocs)
    assert (row["segment_allocs_reproduced"], row["segment_allocs"]) == (grown, grown)
    assert row["recorded_reserved_peak_bytes"] == row["reserved_peak_bytes"]
    held = np.cumsum(
        [event["size"] * {"alloc": 1, "free_completed": -1}.get(event["action"], 0) for event in made.events]
    )
    assert row["live_peak_bytes"] <= held.max(), "what a stream still uses is not live"


def test_a_history_that_begins_later_counts_what_was_live_before(tmp_path):
    made = Recorder(Rules())
    for size in (30 * MIB, 40 * MIB, 5 * MIB):
        made.malloc(0, size)
    place = tmp_path / "cut.pickle"
    place.write_bytes(pickle.dumps(made.snapshot(1)))
    row = runs({"trace": str(place)}, settings="recorded").iloc[0]
    assert row["live_peak_bytes"] == 75 * MIB
    assert row["driver_calls"] == 1 or row["segment_allocs"] == 0


def test_what_was_live_before_and_is_freed_later_counts_as_it_was_asked_for(tmp_path):
    """The block has 412 bytes more than were asked for, which the end of its release alone tells, the first event; the
    other one that was live before is there in the end; what takes the first one's place is smaller."""
    made = Recorder(Rules())
    first = made.malloc(0, 30 * MIB + 100)
    made.malloc(0, 40 * MIB)
    made.free(first)
    assert made.malloc(0, 29 * MIB) == first
    place = tmp_path / "cut.pickle"
    place.write_bytes(pickle.dumps(made.snapshot(2)))
    (log,) = read_snapshot(Source(place)).logs
    assert sorted(live_before(recording_of(log)).tolist()) == [30 * MIB + 100, 40 * MIB]


def test_a_replay_under_other_rules_is_not_exact_and_the_measure_says_so(tmp_path):
    made = exercised(Recorder(Rules(divisions=(2,) * 16), seed=3), 300, 3).snapshot()
    made["allocator_settings"]["roundup_power2_divisions"] = {}
    place = tmp_path / "other.pickle"
    place.write_bytes(pickle.dumps(made))
    row = runs({"trace": str(place)}, settings="recorded").iloc[0]
    assert row["addresses_reproduced"] < row["allocs"]


def test_other_settings_are_not_compared_with_the_recording(tmp_path):
    _, place = snapshot(tmp_path)
    row = runs({"trace": place}, roundup_power2_divisions=[4] * 16).iloc[0]
    assert np.isnan(row["addresses_reproduced"])
    assert row["reserved_peak_bytes"] >= row["live_peak_bytes"] > 0


def test_reserved_memory_grows_without_end_as_reported_and_for_the_reason_given():
    table = runs(
        {"synthetic": "growing_cycle", "kept_bytes": {"vary": [2 * MIB, 0]}},
        card_bytes=16 << 30,
        expandable_segments={"vary": [False, True]},
        max_split_size_mb={"vary": [0, 128, 137]},
    )
    peak = table.set_index(["workload.kept_bytes", "options.expandable_segments", "options.max_split_size_mb"])[
        "reserved_peak_bytes"
    ]
    assert peak.pop((2 * MIB, True, 128)) == 14060 * MIB, "as pytorch#123548 has it"
    assert peak.max() < 500 * MIB, "take any of the three away and it stays small"


def test_memory_runs_out_with_a_fitting_block_in_the_pool_unless_it_is_looked_for_again():
    table = runs({"synthetic": "awaited_block"}, card_bytes=48 * MIB, search_after_flush={"vary": [False, True]})
    assert table["refused"].tolist() == [1, 0], "as pytorch#189504 has it"
    assert table["refused_though_cached"].tolist() == [1, 0]
    assert table["flushes"].tolist() == [1, 1]


def test_driver_calls_cost_what_the_levers_say():
    table = runs(
        {"synthetic": "growing_cycle", "cycles": 1, "kept_bytes": 0},
        alloc_ns=1000,
        free_ns=0,
        page_ns=10,
        ns_per_mib=1,
        expandable_segments={"vary": [False, True]},
    )
    segments, pages = table["driver_ns"].tolist()
    assert segments == 3 * 1000 + table["reserved_peak_bytes"][0] / MIB
    assert pages == 10 * table["pages_mapped"][1] + table["reserved_peak_bytes"][1] / MIB


@pytest.mark.parametrize(
    ("workload", "options", "says"),
    [
        ({"synthetic": "awaited_block"}, {"settings": "recorded"}, "settings: recorded needs a memory snapshot"),
        (
            {"synthetic": "awaited_block"},
            {"settings": "recorded", "max_split_size_mb": 64},
            "max_split_size_mb must stay as it is with settings: recorded",
        ),
        ({"synthetic": "mixed_jobs"}, {}, "gives pool_requests where the engine serves tensor_requests"),
        ({"trace": "no_such_trace"}, {}, "no such file"),
    ],
)
def test_what_cannot_be_replayed_is_refused_in_one_sentence(workload, options, says):
    with pytest.raises(InputError, match=says) as refused:
        wb.run({"engine": "torch_allocator", "workload": workload, "options": options, "seeds": 1}, workers=1)
    assert "\n" not in str(refused.value)


@pytest.mark.slow
@needs_public_traces
@pytest.mark.parametrize("name", list(FIVE))
def test_public_snapshots_come_out_exactly(name, monkeypatch):
    monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    segments, allocs = FIVE[name]
    row = runs({"trace": name}, settings="recorded").iloc[0]
    assert (row["segment_allocs_reproduced"], row["segment_allocs"]) == (segments, segments)
    assert (row["addresses_reproduced"], row["allocs"]) == (allocs, allocs)
    assert row["recorded_reserved_peak_bytes"] == row["reserved_peak_bytes"]


def test_event_logs_tell_every_grant_and_every_call_of_the_driver():
    plan = make_plan(read_sweep({"engine": "torch_allocator", "workload": {"synthetic": "awaited_block"}, "seeds": 1}))
    result = plan.sweep.mechanism
    log = result.events(result.engine.simulate(plan.points[0].setup, 0))
    assert log["kind"].tolist() == [
        *("driver_alloc", "grant", "release", "grant", "grant", "release"),
        *("driver_alloc", "grant", "release", "release", "release"),
    ]
    assert log["bytes"][:3].tolist() == [40 * MIB, 40 * MIB, 0]
    assert log["serial"].tolist() == list(range(11))
