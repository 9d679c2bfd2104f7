"""Advice: what each setting does is what the allocator of lists does with the same requests; bounds hold."""

import html
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from tests.advice.torch_memory.test_answer import full_of_holes
from tests.oracles.torch_allocator import MIB, UNLIMITED, Allocator, Rules
from tests.recorded_torch import Recorder, exercised
from tests.slow import examples
from workbench.advice.torch_memory.advice import advice_or_segments
from workbench.advice.torch_memory.diagnosis import Curve
from workbench.advice.torch_memory.holdings import pins, segments_at, segments_at_end
from workbench.advice.torch_memory.lives import lives_of, moment_of
from workbench.advice.torch_memory.page import curve_chart
from workbench.advice.torch_memory.trial import evaluate, replay_on_card, with_smallest_card
from workbench.engines.torch_allocator.offline_plan import planned_bytes
from workbench.engines.torch_allocator.replay import asking_of, replay_of
from workbench.engines.torch_allocator.settings import INTERVALS, AllocatorSettings
from workbench.errors import InputError
from workbench.records.torch_allocator import CallCosts
from workbench.workloads.importers import read_trace

pytestmark = pytest.mark.slow

STREAMS = ((0, (0, 0)), (0x40, (0, 0)), (0x80, (0, 0)))


def written(folder, made, kept=1 << 30):
    place = folder / "made.pickle"
    place.write_bytes(pickle.dumps(made.snapshot(kept)))
    return place


@pytest.fixture(scope="module")
def advice(tmp_path_factory):
    made = exercised(Recorder(Rules(), STREAMS, 1), 400, 1)
    return wb.advise(written(tmp_path_factory.mktemp("whole"), made))


def test_the_best_needs_the_smallest_card_within_a_hundredth_and_the_bounds_hold(advice):
    least = min(trial.reserved_peak_bytes for trial in advice.trials)
    needed = min(it.smallest_card_bytes for it in advice.trials if not it.settings.max_split_size_mb)
    assert needed - advice.smallest_card_bytes < 0.1 * advice.own_trial.smallest_card_bytes
    assert advice.best_trial.smallest_card_bytes * 0.99 < needed and advice.best == advice.best_trial.conf
    assert advice.active_peak_bytes <= advice.offline_plan_bytes <= least
    assert advice.smallest_card_bytes <= least + (2 << 20)
    assert advice.is_whole and advice.exactness.is_exact
    assert next(iter(advice.table["conf"])) == advice.best and len(advice.table) == len(advice.trials)


def test_the_recorded_settings_come_out_as_recorded(advice):
    assert advice.own_trial.conf == ""
    assert advice.own_trial.reserved_peak_bytes == advice.recorded.reserved_peak_bytes


def test_each_setting_is_what_the_allocator_of_lists_does(advice):
    replay = asking_of(advice.replay.replays[0].recording)
    for trial in advice.trials[::9]:
        twin = by_twin(replay, trial.settings)
        assert (trial.reserved_peak_bytes, trial.driver_calls) == twin, trial.conf


def by_twin(requested, settings):
    """The peak of reserved bytes and the number of driver calls of the allocator of lists."""
    rules = Rules(
        max_split=settings.max_split_size_mb * MIB or UNLIMITED,
        rounding=settings.max_non_split_rounding_mb * MIB,
        divisions=settings.roundup_power2_divisions,
        expandable=settings.expandable_segments,
    )
    twin, where, peak = Allocator(rules, tuple(requested.private.tolist())), {}, 0
    for kind, handle, size, owner in zip(*(c.tolist() for c in requested.requests[:4]), strict=True):
        if kind == 0:
            where[handle] = twin.malloc(owner, size)
        elif kind == 4:
            twin.empty_cache()
        else:
            step = {1: lambda at, _: twin.free(at), 2: twin.defer, 3: twin.complete}[kind]
            step(where[handle], handle)
        peak = max(peak, twin.reserved())
    return peak, len(twin.calls)


@examples(20, 100)
@given(st.integers(0, 1 << 30), st.sampled_from(["", "expandable_segments:True", "max_split_size_mb:20"]))
def test_the_smallest_card_serves_all_and_one_that_is_a_step_smaller_does_not(seed, conf):
    made = exercised(Recorder(Rules(), STREAMS, seed), 60, seed)
    recording = replay_of_made(made).recording
    replay, settings = asking_of(recording), AllocatorSettings.parse(conf)
    trial = with_smallest_card(evaluate([replay], settings), [replay])
    assert not replay_on_card(replay, settings, trial.smallest_card_bytes).refused
    below = replay_on_card(replay, settings, trial.smallest_card_bytes - (2 << 20))
    assert below.refused or trial.smallest_card_bytes <= replay.live.max() + (2 << 20)
    if trial.runs_out:
        assert replay.requests.size[below.first_refused] == trial.runs_out.asked_bytes


def replay_of_made(made):
    from workbench.workloads.importers.torch_log import torch_logs

    return replay_of(torch_logs(made.snapshot(), "made", 1 << 30).logs[0])


@examples(60, 300)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 20), st.integers(1, 50)), min_size=1, max_size=25))
def test_a_plan_lies_between_the_live_bytes_and_their_sum(blocks):
    born, lasts, size = (np.array(column) for column in zip(*blocks, strict=True))
    live = max(int(size[(born <= t) & (t < born + lasts)].sum()) for t in range(45))
    assert live <= planned_bytes(born, born + lasts, size) <= size.sum()


def test_a_plan_of_blocks_that_never_meet_is_the_largest():
    times = np.arange(10)
    assert planned_bytes(times, times + 1, np.full(10, 7)) == 7


def test_what_ran_out_of_memory_is_asked_for_and_who_carries_it_is_said(tmp_path):
    """Two halves of a segment live on while a third request finds no run: expandable segments carry it."""
    made = Recorder(Rules(card=130 * MIB))
    held = [made.malloc(0, 30 * MIB) for _ in range(4)]
    for address in held[::2]:
        made.free(address)
    made.malloc(0, 5 * MIB)
    kept = made.malloc(0, 5 * MIB)
    assert made.malloc(0, 60 * MIB) is None
    made.free(kept)
    result = wb.advise(written(tmp_path, made))
    (failure,) = result.failures
    assert failure.asked_bytes == 60 * MIB and failure.driver_free_bytes >= 0
    assert result.active_peak_bytes >= 60 * MIB + 2 * 30 * MIB
    assert any("ran out of memory at event" in message for message in result.sentences())


def test_a_card_is_named_and_where_it_runs_out_is_told(tmp_path):
    made = exercised(Recorder(Rules(), STREAMS, 3), 100, 3)
    place = written(tmp_path, made)
    unlimited = wb.advise(place)
    size = unlimited.smallest_card_bytes
    fits = wb.advise(place, card_bytes=size)
    assert fits.best_trial.fits and fits.best_trial.runs_out is None
    none = wb.advise(place, card_bytes=size - (4 << 20))
    assert not any(trial.fits for trial in none.trials)
    assert "runs under none of" in "\n".join(none.sentences())
    assert none.best_trial.runs_out.asked_bytes > 0


def test_a_history_that_begins_late_says_what_it_does_not_know(tmp_path):
    made = exercised(Recorder(Rules(), STREAMS, 2), 120, 2)
    result = wb.advise(written(tmp_path, made, kept=60))
    assert not result.is_whole and result.exactness.is_exact
    assert "knows nothing of what came and went before" in result.sentences()[-1]


def test_the_segments_at_the_end_are_those_of_the_snapshot(tmp_path):
    made = exercised(Recorder(Rules(), STREAMS, 6), 300, 6)
    (log,) = read_trace(written(tmp_path, made, kept=150)).logs
    replayed = segments_at(moment_of(lives_of(replay_of(log)), len(log.events.action)), log)
    displayed = segments_at_end(log)
    assert [(it.address, it.size) for it in replayed] == [(it.address, it.size) for it in displayed]
    assert [[b.address for b in it.blocks] for it in replayed] == [[b.address for b in it.blocks] for it in displayed]


def test_free_bytes_beside_live_blocks_are_pinned_by_them(tmp_path):
    made = Recorder(Rules())
    first, second = made.malloc(0, 5 * MIB), made.malloc(0, 5 * MIB)
    made.free(first)
    (log,) = read_trace(written(tmp_path, made)).logs
    (pin,) = pins(segments_at_end(log))
    assert (pin.pinned_bytes, pin.bytes, pin.blocks) == (15 * MIB, 5 * MIB, 1)
    assert second


def test_without_a_history_the_segments_are_read(tmp_path):
    made = exercised(Recorder(Rules(), STREAMS, 8), 200, 8)
    snapshot = made.snapshot()
    for kind in (snapshot["segments"], {"segments": snapshot["segments"]}, {**snapshot, "device_traces": []}):
        place = tmp_path / "still.pickle"
        place.write_bytes(pickle.dumps(kind))
        still = advice_or_segments(place)
        assert still.reserved_bytes == made.reserved()
        assert (
            still.whole_free_bytes + still.pinned_free_bytes + still.pooled_free_bytes
            == still.reserved_bytes - still.live_bytes
        )
        assert "the segments of a moment and no history" in still.sentences()[0]
        with pytest.raises(InputError, match="nothing to replay"):
            wb.advise(place)


def test_the_page_needs_nothing_else_and_the_notebook_shows_it(advice):
    page = advice.html()
    assert page.startswith("<!doctype html>") and "<svg" in page and "http" not in page.replace("http-equiv", "")
    assert "model.py:9" in page and advice.best_trial.conf in page
    assert "<svg" in advice._repr_html_() and len(advice._repr_html_()) < len(page)
    assert repr(advice).splitlines() == advice.lines() and len(advice.lines()) == 5


def test_stacks_that_hold_markup_are_text(tmp_path):
    made = Recorder(Rules())
    for _ in range(3):
        made.malloc(0, 3 * MIB)
    for event in made.events:
        event["frames"] = [{"name": "<script>alert(1)</script>", "filename": "/a/'\"&.py", "line": 1}]
    page = wb.advise(written(tmp_path, made)).html()
    assert "<script>" not in page and "&lt;script&gt;" in page


def test_a_conf_reads_as_it_was_written():
    chance = np.random.default_rng(3)
    for _ in range(200):
        runs = (
            chance.choice([0, 1, 2, 4, 8], size=INTERVALS)
            if chance.random() < 0.5
            else np.repeat(chance.choice([0, 2, 8], 4), 4)
        )
        settings = AllocatorSettings(
            max_split_size_mb=int(chance.choice([0, 20, 512])),
            roundup_power2_divisions=tuple(map(int, runs)),
            expandable_segments=bool(chance.integers(2)),
        )
        if set(runs.tolist()) != {1}:
            assert AllocatorSettings.parse(settings.conf) == settings, settings.conf


def test_the_legend_of_the_page_has_every_setting_whole():
    name = "reserved, expandable_segments:True,roundup_power2_divisions:[8:16,128:0,>:16],max_split_size_mb:128"
    chart = curve_chart([Curve(name, np.array([1, 2]))])
    assert html.unescape(chart.replace("<wbr>", "")).count(name) == 2, "in the legend, and when it is pointed at"
    assert "<text" not in chart.split("</svg>")[1], "nothing stands in the picture that could be cut at its edge"


def test_what_is_to_be_pasted_has_no_stop_behind_it(tmp_path):
    advice = wb.advise(written(tmp_path, full_of_holes()))
    (copied,) = re.findall(r"data-copy='(.*?)'", advice.html())
    (code,) = re.findall(r"<p>Before Python starts: <code>(.*?)</code>", advice.html())
    assert html.unescape(code) == html.unescape(copied) == f"PYTORCH_CUDA_ALLOC_CONF={advice.best}"
    assert f" PYTORCH_CUDA_ALLOC_CONF={advice.best};" in advice.lines()[3] and advice.best


def test_driver_calls_cost_what_is_said_of_a_call(advice, tmp_path):
    made = exercised(Recorder(Rules(), STREAMS, 1), 60, 1)
    result = wb.advise(written(tmp_path, made), costs=CallCosts(alloc_ns=1000, free_ns=1000, page_ns=0, ns_per_mib=0))
    assert result.own_trial.driver_ns == 1000 * result.own_trial.driver_calls
    assert result.plain()["own"]["driver_ns"] == result.own_trial.driver_ns
    assert f"({result.own_trial.driver_ns / 1e6:,.1f} ms)" in " ".join(result.sentences()).replace("about ", "")
