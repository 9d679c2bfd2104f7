"""Segments and blocks at any moment of a history: as the snapshot shows them, and as its events taken back tell."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from tests import public_traces
from tests.oracles import torch_memory
from tests.oracles.torch_allocator import MIB, Rules
from tests.recorded_torch import Recorder, exercised
from tests.slow import thinned
from workbench.advice.torch_memory.holdings import pins, segments_at
from workbench.advice.torch_memory.lives import moment_of
from workbench.advice.torch_memory.snapshot import card_histories
from workbench.advice.torch_memory.trial import evaluate
from workbench.engines.torch_allocator.replay import asking_of
from workbench.workloads.allocator_log import ALLOC, OOM, SEGMENT_ALLOC

SHIPPED = Path(__file__).parents[3] / "data" / "made_up_snapshot.pickle.gz"
GROWS, SHRINKS = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")
STREAMS = tuple((k * 0x5000, (0, 0)) for k in range(3))
WAYS = {
    "as PyTorch is": Rules(),
    "a full card": Rules(card=220 * MIB),
    "limited splitting": Rules(max_split=24 * MIB),
    "expandable": Rules(expandable=True),
}


def plain(path):
    content = path.read_bytes()
    return pickle.loads(gzip.decompress(content) if path.suffix == ".gz" else content)


def granules(segments):
    """Every 2 MiB of ranges: slow, and blind to where one range ends and the next begins."""
    return {place for at, size in segments for place in range(at, at + size, 2 * MIB)}


def taken_back(snapshot, afters):
    """Live addresses and ranges after so many events, from the end of the history back: {after: (blocks, ranges)}."""
    events = snapshot["device_traces"][0]
    live, held = set(), set()
    for segment in snapshot["segments"]:
        held |= granules([(segment["address"], segment["total_size"])])
        live |= {block["address"] for block in segment["blocks"] if block["state"] != "inactive"}
    result = {}
    for after in range(len(events), -1, -1):
        if after in afters:
            result[after] = set(live), set(held)
        event = events[after - 1] if after else {"action": "none"}
        if event["action"] == "alloc":
            live.discard(event["addr"])
        elif event["action"] == "free_completed":
            live.add(event["addr"])
        elif event["action"] in GROWS:
            held -= granules([(event["addr"], event["size"])])
        elif event["action"] in SHRINKS:
            held |= granules([(event["addr"], event["size"])])
    return result


def as_the_snapshot_shows(card, snapshot):
    """The moment after the last event is the snapshot's own list of segments, block by block."""
    last = card.moment(card.events)
    segments = sorted((it["address"], it["total_size"]) for it in snapshot["segments"])
    blocks = [block for it in snapshot["segments"] for block in it["blocks"] if block["state"] != "inactive"]
    assert list(zip(last.segment_address.tolist(), last.segment_size.tolist(), strict=True)) == segments
    columns = (last.address.tolist(), last.size.tolist(), last.is_awaited.tolist())
    assert list(zip(*columns, strict=True)) == sorted(
        (block["address"], block["size"], block["state"] != "active_allocated") for block in blocks
    )


def as_the_events_tell(card, snapshot, count=12):
    """At some moments every block and range is there that the events taken back leave, and the bytes add up."""
    afters = set(np.linspace(0, card.events, count).astype(int).tolist())
    for after, (live, held) in taken_back(snapshot, afters).items():
        moment = card.moment(after)
        assert set(moment.address.tolist()) == live
        ranges = zip(moment.segment_address.tolist(), moment.segment_size.tolist(), strict=True)
        assert granules(ranges) == held
        assert moment.reserved_bytes == card.recorded.reserved[after]
        free, sizes = moment.free_runs()
        assert sizes.sum() == moment.reserved_bytes - moment.block_bytes
        assert not set(free.tolist()) & live


@pytest.mark.parametrize("seed", thinned([*range(6)], 2))
@pytest.mark.parametrize("way", WAYS)
def test_any_moment_of_a_made_up_history(tmp_path, way, seed):
    owners = STREAMS[:1] if WAYS[way].expandable else STREAMS  # the recorder forgets the stream of a page in the middle
    made = exercised(Recorder(WAYS[way], owners, seed), 250, seed)
    for kept in (1 << 30, 90):
        snapshot = made.snapshot(kept)
        place = tmp_path / "made.pickle"
        place.write_bytes(pickle.dumps(snapshot))
        (card,) = card_histories(place)
        as_the_snapshot_shows(card, snapshot)
        as_the_events_tell(card, snapshot)


def test_the_shipped_snapshot_ends_as_it_shows_and_is_reserved_as_it_was_replayed():
    (card,) = card_histories(SHIPPED)
    snapshot = plain(SHIPPED)
    as_the_snapshot_shows(card, snapshot)
    as_the_events_tell(card, snapshot, 5)
    got = card.log.events.action == SEGMENT_ALLOC  # a replay gets its segment with the request, not before it
    at = np.flatnonzero(~got) + 1
    assert np.array_equal(card.reserved()[at], card.recorded.reserved[at])
    assert (np.diff(card.reserved())[got] == 0).all()
    (failed,) = np.flatnonzero(card.log.events.action == OOM)
    anew = card.reserved(card.own)  # asks for what the recorded allocator refused too
    before = np.flatnonzero(card.log.events.action[:failed] == ALLOC) + 1
    assert np.array_equal(anew[before], card.recorded.reserved[before])
    assert anew.max() == evaluate([asking_of(card.replay.recording)], card.own).reserved_peak_bytes


def test_a_segment_whose_own_event_is_cut_off_is_there_from_the_beginning(tmp_path):
    made = Recorder(Rules(max_split=24 * MIB))
    made.malloc(0, 23 * MIB)  # served from a segment that no cached one could have been: it would be too large for it
    place = tmp_path / "made.pickle"
    place.write_bytes(pickle.dumps(made.snapshot(1)))
    (card,) = card_histories(place)
    assert card.replay.recording.implied == 1 and card.events == 1
    assert card.recorded.reserved.tolist() == [24 * MIB] * 2
    assert [card.moment(after).reserved_bytes for after in (0, 1)] == [24 * MIB] * 2
    assert [card.moment(after).block_bytes for after in (0, 1)] == [0, 24 * MIB]


def test_an_allocation_keeps_the_frames_that_asked_for_it(tmp_path):
    made = Recorder(Rules())
    made.malloc(0, 3 * MIB)
    snapshot = made.snapshot()
    frames = [{"name": f"f{k}", "filename": f"/site-packages/torch/lib{k}.py", "line": k} for k in range(9)]
    frames.append({"name": "mine", "filename": "/home/me/own.py", "line": 7})
    snapshot["device_traces"][0][-1]["frames"] = frames
    place = tmp_path / "made.pickle"
    place.write_bytes(pickle.dumps(snapshot))
    (card,) = card_histories(place)
    (site,) = card.moment(card.events).site.tolist()
    assert card.log.sites[site] == "me/own.py:7 mine"
    assert card.log.stacks[site] == (*(f"torch/lib{k}.py:{k} f{k}" for k in range(5)), "me/own.py:7 mine")


def test_a_block_that_waits_for_other_streams_says_so(tmp_path):
    made = Recorder(Rules(), STREAMS)
    address = made.malloc(0, 3 * MIB)
    made.defer(address, 1)
    place = tmp_path / "made.pickle"
    place.write_bytes(pickle.dumps(made.snapshot()))
    (card,) = card_histories(place)
    last = moment_of(card.lives, card.events)
    assert last.address.tolist() == [address] and last.is_awaited.tolist() == [True]
    assert card.moment(card.events - 1).is_awaited.tolist() == [False]


def public():
    result = {}
    for folder in public_traces.FOLDERS:
        facts = json.loads((folder / "facts.json").read_text())
        result |= {file: (folder / file, reply) for file, reply in facts.items() if reply["format"] == "torch_snapshot"}
    return result


PUBLIC = public()


def as_the_pieces_tell(card, snapshot, afters):
    """At every event the segments add up to what the pieces do, and at some as much is pinned."""
    lives, device = card.lives.segments, card.log.device
    reserved, kept = torch_memory.history(snapshot, device, afters)
    change = np.zeros(card.events + 2, np.int64)
    np.add.at(change, lives.born, lives.size)
    np.subtract.at(change, np.minimum(lives.gone, card.events + 1), lives.size)
    assert np.cumsum(change)[:-1].tolist() == reserved == card.recorded.reserved.tolist()
    small = torch_memory.small_pieces(snapshot, device)
    for after, held in kept.items():
        segments = segments_at(card.moment(after), card.log)
        assert sum(it.size for it in segments) == reserved[after]
        assert sum(it.pinned for it in segments) == torch_memory.pinned(held, small)
        shares = [pin.pinned_bytes for pin in pins(segments)]
        assert abs(sum(shares) - sum(it.pinned for it in segments)) <= len(shares), "each is rounded"


@pytest.mark.parametrize("seed", thinned([*range(6)], 2))
def test_what_is_pinned_in_a_made_up_history_of_expandable_segments(tmp_path, seed):
    """Free bytes beside a live block count in its page alone: each mapped range was taken for a segment, and all that
    was free in one with any live block was called pinned."""
    snapshot = exercised(Recorder(Rules(expandable=True), STREAMS[:1], seed), 250, seed).snapshot()
    place = tmp_path / "made.pickle"
    place.write_bytes(pickle.dumps(snapshot))
    (card,) = card_histories(place)
    as_the_pieces_tell(card, snapshot, {*range(0, card.events, 7), card.events})


@pytest.mark.needs("public traces")
@pytest.mark.parametrize("place", thinned(public_traces.recordings(), 9), ids=lambda place: place.name)
def test_segments_of_a_public_recording_add_up_at_every_event(place):
    snapshot, cards = plain(place), card_histories(place)
    for card in cards:
        begins_empty = card.recorded.reserved[0] == 0  # else the ends of some blocks before it are inferred
        afters = np.linspace(0, card.events, 9).astype(int).tolist() if begins_empty else []
        as_the_pieces_tell(card, snapshot, {*afters, *(np.flatnonzero(card.log.events.action == OOM)).tolist()})


@pytest.mark.slow
@pytest.mark.needs("public traces")
def test_a_public_recording_with_expandable_segments_has_little_pinned_when_it_fails():
    """0.13 of 78.42 GiB are free on the card that failed, as the README beside the recording says; 7.6 were said to be
    pinned."""
    places = [place for place in public_traces.recordings() if "three_cards" in place.name]
    for place in places:
        card = card_histories(place)[1]
        (failed,) = np.flatnonzero(card.log.events.action == OOM).tolist()
        segments = segments_at(card.moment(failed), card.log)
        gib = [sum(getattr(it, name) for it in segments) / 2**30 for name in ("size", "free", "pinned")]
        assert [round(it, 2) for it in gib] == [78.42, 0.13, 0.13]


@pytest.mark.slow
@pytest.mark.needs("public traces")
@pytest.mark.parametrize("file", thinned(sorted(PUBLIC), 4))
def test_a_public_snapshot_ends_as_it_shows(file):
    place, reply = PUBLIC[file]
    (card,) = card_histories(place)
    snapshot = plain(place)
    as_the_snapshot_shows(card, snapshot)
    as_the_events_tell(card, snapshot, 20)
    assert card.recorded.reserved[0] == reply["reserved_at_start"]
    assert card.recorded.reserved.max() == max(reply["reserved_peak_in_window"], reply["reserved_at_start"])
    assert card.recorded.reserved[-1] == reply["reserved_at_end"]
    held = card.log.blocks.state != 0
    assert card.recorded.allocated[-1] == card.log.blocks.requested[held].sum()
