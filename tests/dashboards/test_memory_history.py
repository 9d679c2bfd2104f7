"""The pool dashboard shows what a dropped snapshot recorded: curves, and its segments at any moment."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tests.oracles.torch_allocator import MIB, Rules
from tests.recorded_torch import Recorder, exercised
from workbench.advice.torch_memory.snapshot import CardHistory
from workbench.dashboards._advice_panel import AdvicePanel, snapshot_of, trace_of
from workbench.dashboards._memory_history import MemoryHistoryPanel
from workbench.dashboards._pool import SnapshotAnswer
from workbench.dashboards._snapshot_pictures import (
    AGE_KEY,
    ROWS,
    Line,
    age_fills,
    curves_scene,
    highest,
    map_scene,
    places_of,
)
from workbench.workloads.importers import torch_snapshot
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.torch_snapshot import read_snapshot
from workbench.workloads.recorded_memory import TracePool
from workbench.workloads.synthetic.memory_jobs import MixedJobs


def dropped(folder, snapshot, name="own.pickle"):
    place = folder / name
    place.write_bytes(pickle.dumps(snapshot))
    return snapshot_of(TracePool(trace=str(place)))


def numbers(column: bytes) -> np.ndarray:
    return np.frombuffer(column, "<f8")


@pytest.fixture
def made():
    return exercised(Recorder(Rules(), seed=2), 60, 2)


@pytest.fixture
def panel(made, tmp_path):
    panel = MemoryHistoryPanel()
    panel.show(dropped(tmp_path, made.snapshot()))
    panel.wait()
    return panel


def card_of(folder, made) -> CardHistory:
    place = folder / "made.pickle"
    place.write_bytes(pickle.dumps(made.snapshot()))
    return CardHistory(read_snapshot(Source(place)).logs[0])


def test_the_recorded_curve_stands_beside_the_replayed_one(panel):
    assert panel.layout.display is None and panel.content.layout.display is None
    names = [line["name"] for line in panel.curves.scene["curves"]]
    assert names == [
        "allocated (the same replayed)",
        "reserved, recorded",
        "reserved, replayed under expandable_segments:True",
    ]
    assert [bool(line["dash"]) for line in panel.curves.scene["curves"]] == [False, False, True]
    assert "GPU 0: reserved at most " in panel.words.value and "segment allocations reproduced" in panel.words.value
    panel.settings.index = 0
    recorded, replayed = (numbers(line["value"]) for line in panel.curves.scene["curves"][1:])
    assert recorded.max() == replayed.max() and recorded[-1] == replayed[-1]
    panel.own_settings.value = "max_split_size_mb:64"
    assert panel.curves.scene["curves"][2]["name"] == "reserved, replayed under max_split_size_mb:64"
    panel.own_settings.value = "max_split_size_mb:much"
    assert "max_split_size_mb" in panel.words.value and "wb-mistake" in panel.words.value


def test_the_slider_goes_through_the_moments(panel, made):
    assert panel.place.max == len(made.events)
    held = panel.map.scene
    panel.place.value = panel.place.max
    assert panel.curves.at == panel.map.scene["after"] == panel.place.max
    segments = numbers(panel.map.scene["segments"]["size"])
    assert segments.sum() == made.reserved() and len(segments) == len(made.segments)
    assert panel.map.scene != held and f"After event {panel.place.max:,} of " in panel.moment_text.value
    panel.step(1)
    assert panel.place.value == panel.place.max
    panel.curves._on_message(panel.curves, {"what": "pick", "k": -3}, [])
    assert panel.place.value == 0 and "Before the first event" in panel.moment_text.value
    assert not len(numbers(panel.map.scene["blocks"]["at"]))
    panel.go_to_decisive()
    assert numbers(panel.map.scene["segments"]["size"]).sum() / MIB == pytest.approx(
        numbers(panel.curves.scene["curves"][1]["value"]).max() * (1024 if panel.curves.scene["unit"] == "GiB" else 1)
    )


def test_a_block_says_which_frames_asked(panel):
    panel.place.value = panel.place.max
    stacks = {int(k) for k in numbers(panel.map.scene["blocks"]["stack"])}
    assert {panel.map.stacks[k][0] for k in stacks} <= {f"me/model.py:9 {name}" for name in ("load", "step", "loss")}


def test_colours_are_of_ages_or_of_states(panel):
    panel.place.value = panel.place.max
    assert panel.map.scene["key"] == [list(pair) for pair in AGE_KEY]
    panel.colour.value = "state"
    assert len(panel.map.scene["key"]) == 2
    fill = numbers(panel.map.scene["blocks"]["fill"])
    assert np.array_equal(fill, numbers(panel.map.scene["blocks"]["awaited"]))


def test_a_segment_keeps_its_place_while_the_moment_moves(tmp_path, made):
    card = card_of(tmp_path, made)
    peak, seen = int(card.recorded.reserved.max()), {}
    for after in range(card.events + 1):
        moment = card.moment(after)
        scene = map_scene(card.lives, moment, card.log.events.time_us, "age", peak)
        assert scene["rows"] <= ROWS
        for address, at in zip(moment.segment_address.tolist(), numbers(scene["segments"]["at"]), strict=True):
            assert seen.setdefault(address, at) == at
        edges = numbers(scene["blocks"]["at"])
        assert (np.diff(edges) >= numbers(scene["blocks"]["size"])[:-1]).all(), "blocks do not overlap"


def test_ages_begin_with_the_allocation(tmp_path, made):
    card = card_of(tmp_path, made)
    moment = card.moment(card.events)
    for born, fill in zip(moment.born.tolist(), age_fills(moment).tolist(), strict=True):
        age = card.events - born
        assert fill == sum(age >= least for least in (10, 100, 1_000, 10_000))
    older = moment._replace(born=np.zeros(len(moment.born), np.int64))
    assert set(age_fills(older).tolist()) == {len(AGE_KEY) - 1}


def test_what_lay_at_many_places_is_drawn_without_gaps(tmp_path):
    """Memory that always goes back and comes from elsewhere."""
    made = Recorder(Rules())
    for _ in range(12):
        made.free(made.malloc(0, 30 * MIB))
        made.empty_cache()
    card = card_of(tmp_path, made)
    peak = int(card.recorded.reserved.max())
    assert places_of(card.lives.segments.address, card.lives.segments.size).total == 12 * peak
    moment = card.moment(card.decisive)
    scene = map_scene(card.lives, moment, card.log.events.time_us, "age", peak)
    assert numbers(scene["segments"]["at"]).tolist() == [0] and scene["row"] * scene["rows"] < 2 * peak


def test_a_snapshot_without_a_history_says_so_and_shows_its_moment(tmp_path, made):
    snapshot = made.snapshot() | {"device_traces": [[]]}
    panel = MemoryHistoryPanel()
    panel.show(dropped(tmp_path, snapshot))
    panel.wait()
    assert "holds no history" in panel.words.value and panel.curves.layout.display == "none"
    assert numbers(panel.map.scene["segments"]["size"]).sum() == made.reserved()
    panel.show(None)
    assert panel.layout.display == "none"


def test_a_file_that_is_none_is_a_sentence_without_its_folder(tmp_path, made):
    known = dropped(tmp_path, made.snapshot())
    (tmp_path / "own.pickle").write_bytes(b"\x80\x04]")
    panel = MemoryHistoryPanel()
    panel.show(known)
    panel.wait()
    assert "own.pickle" in panel.words.value and str(tmp_path) not in panel.words.value
    assert panel.content.layout.display == "none"


def test_two_cards_are_chosen_between(tmp_path, made):
    snapshot = made.snapshot()
    other = exercised(Recorder(Rules(), seed=5), 20, 5).snapshot()
    snapshot["segments"] += [{**segment, "device": 1} for segment in other["segments"]]
    snapshot["device_traces"] += other["device_traces"]
    panel = MemoryHistoryPanel()
    panel.show(dropped(tmp_path, snapshot))
    panel.wait()
    assert [name for name, _ in panel.card.options] == ["GPU 1", "GPU 0"] and panel.card.layout.display is None
    assert panel.place.max == len(other["device_traces"][0]), "most was reserved on it"
    panel.card.index = 1
    assert panel.place.max == len(made.events)


def test_the_card_that_failed_opens_at_the_moment_that_the_five_lines_are_about(tmp_path, made):
    """The first card reserves more and does not fail; the second fails long after its own peak."""
    snapshot = made.snapshot()
    other = Recorder(Rules())
    kept = [other.malloc(0, 30 * MIB) for _ in range(4)]
    for block in kept:
        other.free(block)
    other.empty_cache()
    other.malloc(0, 2 * MIB)
    failed = other.snapshot()
    first = len(failed["device_traces"][0])
    failed["device_traces"][0].append({"action": "oom", "size": 64 * MIB, "device_free": 8 * MIB, "stream": 0})
    snapshot["segments"] += [{**segment, "device": 1} for segment in failed["segments"]]
    snapshot["device_traces"] += failed["device_traces"]
    panel = MemoryHistoryPanel()
    panel.show(dropped(tmp_path, snapshot))
    panel.wait()
    assert [name for name, _ in panel.card.options] == ["GPU 1", "GPU 0"]
    assert panel.place.value == first and panel.decisive.description == "before it failed"
    assert panel.moment_text.value.startswith(f"<p>After event {first:,} of {first + 1:,}")
    panel.card.index = 1
    assert panel.decisive.description == "at the tightest"
    assert panel.place.value == panel._cards[1].decisive


def test_other_workloads_show_nothing(tmp_path):
    log = tmp_path / "rmm.csv"
    log.write_text("Thread,Time,Action,Pointer,Size,Stream\n1,9:00:00.0,allocate,0x1,2097152,0\n")
    trace = TracePool(trace=str(log))
    assert trace_of(trace) is not None and snapshot_of(trace) is None
    assert snapshot_of(MixedJobs()) is None
    answer = SnapshotAnswer(AdvicePanel())
    assert not answer.show(trace) and not answer.show(MixedJobs())
    assert answer.history.layout.display == "none" and answer.advice.answer.value == ""


def test_peaks_stay_where_a_line_is_thinned_out():
    values = np.zeros(40_000, np.int64)
    values[12_345] = 7 << 30
    assert len(highest(values)) == 1500 and highest(values).max() == 7 << 30
    scene = curves_scene([Line("one", values, "#222222")])
    assert scene["unit"] == "GiB" and numbers(scene["curves"][0]["value"]).max() == 7 and scene["events"] == 39_999
    assert curves_scene([])["curves"] == []


def test_a_dropped_snapshot_is_read_once_for_its_advice_and_its_history(made, tmp_path, monkeypatch):
    place, whole, read = tmp_path / "once.pickle", torch_snapshot._logs, []
    place.write_bytes(pickle.dumps(made.snapshot()))

    def noting(content, where):
        read.append(where)
        return whole(content, where)

    monkeypatch.setattr(torch_snapshot, "_logs", noting)
    monkeypatch.setattr("workbench.dashboards._advice_panel.caches_of", lambda _: "")
    answer = SnapshotAnswer(AdvicePanel())
    assert answer.show(TracePool(trace=str(place)))
    answer.history.wait()
    answer.advice.wait()
    assert "GPU 0" in answer.advice.answer.value and answer.history.content.layout.display is None
    assert len(read) == 1
