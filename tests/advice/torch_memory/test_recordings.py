"""Recordings replayed: every segment and every address, of the public snapshots and of made-up ones of every kind."""

import json
import pickle

import numpy as np
import pytest

from tests import public_traces
from tests.oracles.torch_allocator import MIB, UNLIMITED, Rules
from tests.recorded_torch import Recorder, exercised
from tests.slow import thinned
from workbench.engines.torch_allocator.recording import recording_of, without_releases
from workbench.engines.torch_allocator.replay import exactness_of, replay_as_recorded, replay_of
from workbench.engines.torch_allocator.state import AWAITED, IN_USE
from workbench.workloads.importers import read_trace

ONE, STREAMS = ((0, (0, 0)),), tuple((k * 0x5000, (0, 0)) for k in range(10))
POOLS = ((0, (0, 0)), (7, (0, 0)), (0, (0, 1)), (7, (0, 1)), (9, (3, 0)))
OVERSIZE = "oversize blocks on a full card"
WAYS = {
    "as PyTorch is": Rules(),
    "max_split_size": Rules(max_split=24 * MIB),
    "roundup": Rules(divisions=(4,) * 16),
    "a full card": Rules(card=220 * MIB),
    OVERSIZE: Rules(card=260 * MIB, max_split=20 * MIB, rounding=24 * MIB),
}


def logs_of(folder, snapshot):
    place = folder / "made.pickle"
    place.write_bytes(pickle.dumps(snapshot))
    return read_trace(place).logs


OWNERS = {"one stream": ONE, "ten streams": STREAMS, "private pools": POOLS}
CASES = [(way, owners) for way in WAYS for owners in OWNERS if (way, owners) != (OVERSIZE, "private pools")]
"""A private pool's segment that went back leaves no trace of its pool: an oversize block of one is not told."""


@pytest.mark.parametrize("seed", thinned([*range(12), 129, 131, 144], 14))
@pytest.mark.parametrize(("way", "owners"), CASES)
def test_a_made_up_recording_is_replayed_exactly(tmp_path, way, owners, seed):
    made = exercised(Recorder(WAYS[way], OWNERS[owners], seed), 400, seed)
    for kept in (1 << 30, 300, 40):
        (log,) = logs_of(tmp_path, made.snapshot(kept))
        recording, played, result = replay_of(log)
        assert result.is_exact, (kept, str(result))
        assert result.allocs == sum(event["action"] == "alloc" for event in made.events[-kept:])
        grown = [event for event in made.events[-kept:] if event["action"] == "segment_alloc"]
        assert result.segment_allocs == len(grown)
        assert played.reserved[-1] == made.reserved()
        assert recording.is_whole == (kept > 400 * 4)


@pytest.mark.parametrize("seed", thinned([*range(8)], 3))
def test_events_that_tell_their_pool_are_replayed_exactly_where_the_segments_at_the_end_do_not_tell_it(tmp_path, seed):
    """A private pool's segment that went back leaves no trace of its pool but `pool_id` of its events."""
    made = exercised(Recorder(WAYS[OVERSIZE], POOLS, seed, tells_pools=True), 400, seed)
    for kept in (1 << 30, 300):
        (log,) = logs_of(tmp_path, made.snapshot(kept))
        result = replay_of(log).exactness
        assert result.is_exact, (kept, str(result))


def test_what_was_searched_before_a_flush_is_not_searched_again(tmp_path):
    """pytorch#189504 as a recording: the flush makes the block that would serve, and a segment is got instead."""
    made = Recorder(Rules(card=70 * MIB))
    made.free(made.malloc(0, 40 * MIB))
    made.malloc(0, 20 * MIB)
    awaited = made.malloc(0, 20 * MIB)
    made.free(made.malloc(0, 14 * MIB))
    made.defer(awaited, 1)
    made.malloc(0, 20 * MIB)
    last = [event["action"] for event in made.events[-4:]]
    assert last == ["free_completed", "segment_free", "segment_alloc", "alloc"]
    (log,) = logs_of(tmp_path, made.snapshot())
    result = replay_of(log).exactness
    assert result.is_exact, str(result)


@pytest.mark.parametrize("page_mb", [20, 64])
@pytest.mark.parametrize("seed", thinned([*range(60)], 8))
def test_expandable_segments_are_replayed_from_their_own_beginning(tmp_path, seed, page_mb):
    rules = Rules(expandable=True, large_segment=page_mb * MIB, rounding=page_mb * MIB)
    made = exercised(Recorder(rules, STREAMS[:3], seed), 400, seed)
    for kept in (1 << 30, 300, 200, 100):
        (log,) = logs_of(tmp_path, made.snapshot(kept))
        result = replay_of(log).exactness
        assert result.is_exact, (kept, str(result))


def test_a_block_is_awaited_at_the_beginning_if_its_release_was_requested_before(tmp_path):
    """A block was taken for awaited because it is at the end: a flush gave back what was in use."""
    made = Recorder(Rules(), STREAMS[:1])
    early, late, other = (made.malloc(0, 30 * MIB) for _ in range(3))
    made.defer(early, 1)
    before = len(made.events)
    made.free(other)
    made.empty_cache()
    made.defer(late, 2)
    made.malloc(0, 12 * MIB)
    (log,) = logs_of(tmp_path, made.snapshot(len(made.events) - before))
    start = recording_of(log).start
    kinds = dict(zip(start.address.tolist(), start.kind.tolist(), strict=True))
    assert [kinds[address] for address in (early, late, other)] == [AWAITED, IN_USE, IN_USE]


def test_a_replay_under_other_rules_is_not_exact_and_says_so(tmp_path):
    made = exercised(Recorder(Rules(divisions=(2,) * 16), ONE, 3), 300, 3).snapshot()
    made["allocator_settings"]["roundup_power2_divisions"] = {}
    (log,) = logs_of(tmp_path, made)
    recording = recording_of(log)
    exactness = exactness_of(recording, replay_as_recorded(recording))
    assert not exactness.is_exact and exactness.addresses_reproduced < exactness.allocs


def test_what_went_back_segment_by_segment_is_one_request_for_other_settings(tmp_path):
    made = Recorder(Rules())
    held = [made.malloc(0, size) for size in (30 * MIB, 40 * MIB, 50 * MIB)]
    for address in held:
        made.free(address)
    made.empty_cache()
    made.malloc(0, 5)
    (log,) = logs_of(tmp_path, made.snapshot())
    recording = recording_of(log)
    assert np.count_nonzero(recording.requests.kind == 5) == 3
    assert without_releases(recording)[0].kind.tolist() == [0, 0, 0, 1, 1, 1, 4, 0]


def test_a_ring_that_begins_behind_the_segment_of_its_first_allocation(tmp_path):
    made = Recorder(Rules())
    made.malloc(0, 30 * MIB)
    snapshot = made.snapshot(1)
    (log,) = logs_of(tmp_path, snapshot)
    recording = recording_of(log)
    assert recording.reserved_at_start == 30 * MIB and not recording.is_whole
    assert str(exactness_of(recording, replay_as_recorded(recording))) == (
        "no segment was allocated in the history; addresses reproduced 1 of 1"
    )


def public(format_name):
    """Snapshots of the folders of public traces, whether the catalogue lists them or not."""
    result = {}
    for folder in public_traces.FOLDERS:
        facts = json.loads((folder / "facts.json").read_text())
        result |= {file: (folder / file, reply) for file, reply in facts.items() if reply["format"] == format_name}
    return result


PUBLIC = public("torch_snapshot")


@pytest.mark.slow
@pytest.mark.needs("public traces")
@pytest.mark.parametrize("file", thinned(sorted(PUBLIC), 4))
def test_public_snapshots_come_out_to_the_byte(file):
    place, reply = PUBLIC[file]
    (log,) = read_trace(place).logs
    recording = recording_of(log)
    played = replay_as_recorded(recording)
    exactness = exactness_of(recording, played)
    assert exactness.segment_allocs_reproduced == reply["segment_allocs_reproducible"] == exactness.segment_allocs
    assert exactness.addresses_reproduced == reply["alloc_addresses_reproducible"] == exactness.allocs
    assert recording.reserved_at_start == reply["reserved_at_start"]
    assert played.reserved_peak == reply["reserved_peak_in_window"]
    assert played.reserved[-1] == reply["reserved_at_end"]


def test_unlimited_is_what_both_sides_call_it():
    assert UNLIMITED == 1 << 62
