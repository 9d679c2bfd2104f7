"""Causes of a failure: snapshots made from public reports, and others of the same kinds, each with its right answer."""

import pickle
from pathlib import Path

import pytest

import workbench as wb
from tests.oracles.torch_allocator import MIB, Rules
from tests.recorded_torch import Recorder
from workbench.advice.torch_memory import advice as advice_module
from workbench.advice.torch_memory.advice import advice_or_segments
from workbench.advice.torch_memory.cause import cause_of
from workbench.advice.torch_memory.holdings import free_of
from workbench.errors import InputError

MADE = Path(__file__).parents[2] / "data" / "snapshots"
GIB = 1 << 30


@pytest.fixture(autouse=True)
def few_proposals(monkeypatch):
    """The grid alone and a few more: what Optuna proposes makes no difference to what is said of it."""
    monkeypatch.setattr(advice_module, "TRIALS", 2)
    monkeypatch.setattr(advice_module, "FEWEST", 2)


def made(name):
    return wb.advise(MADE / f"{name}.pickle.gz")


def written(folder, snapshot):
    folder.mkdir(exist_ok=True)
    place = folder / "made.pickle"
    place.write_bytes(pickle.dumps(snapshot))
    return place


def test_a_caught_failure_is_no_end_and_lacks_what_the_one_shown_lacks():
    """4 GiB were said to have to go, of the largest of three requests; one of 5 GiB was shown."""
    advice = made("caught")
    cause = cause_of(advice)
    assert (cause.kind, cause.lacked_bytes, cause.must_go_bytes) == ("too_much_live", GIB, GIB)
    assert advice.lines()[0] == (
        "GPU 0 ran out of memory 3 times, the last time at event 15 of 109; it was caught: 94 events followed. "
        "train/batch.py:12 step asked for 5 GiB; 4 GiB were left on the card."
    )
    assert "1 GiB must go" in advice.lines()[3] and advice.plain()["cards"][0]["failure"]["is_caught"]


def test_a_request_that_no_card_holds_is_called_so_and_its_line_named():
    """54.68 GiB were said to have to go, of weights of 25."""
    advice = made("larger_than_card")
    assert cause_of(advice).kind == "larger_than_card"
    assert "train/attention.py:77 step asked for 124.7 GiB" in advice.lines()[0]
    assert advice.lines()[2] == "The request alone is larger than the card: PyTorch could have 95 GiB at most."
    assert advice.lines()[3].endswith("train/attention.py:77 step must ask for less at a time.")


def test_what_was_refused_with_room_on_the_card_was_refused_from_outside():
    """It was called fragmentation, of 0.0 %."""
    advice = made("refused_with_room")
    assert cause_of(advice).kind == "limit_outside" and not advice.is_change
    assert advice.lines()[2] == (
        "The cause is a limit outside the allocator: the card had more left than the 960 MiB asked for."
    )
    assert "set_per_process_memory_fraction, a MIG slice and other processes (nvidia-smi)" in advice.lines()[3]


def test_a_private_pool_gives_nothing_back_and_its_line_is_named():
    """5 GiB were said to go back by themselves."""
    advice = made("private_pool_cached")
    cause = cause_of(advice)
    assert free_of(advice.segments) == (0, 0, 5 * GIB)
    assert cause.kind == "private_pool" and cause.pool == ((0, 1), 5 * GIB, "train/graph.py:20 step")
    assert "live neighbors pin 0 B, private pools keep 5 GiB, and 0 B go back by themselves." in advice.lines()[1]
    assert "does not go back; train/graph.py:20 step filled it. The card lacked 1.289 GiB." in advice.lines()[2]


def test_the_rest_of_a_block_that_was_not_split_is_live():
    """50 MiB were called free; only a replay knows that they went with the blocks."""
    advice = made("tail_counted_as_free")
    assert free_of(advice.segments) == (0, 0, 0) and advice.plain()["cards"][0]["live_bytes"] == 2000 * MIB
    assert "1.953 GiB live (1.904 GiB asked for, the rest are rounding and tails) and 0 B free." in advice.lines()[1]
    assert (
        "Price: reserved peak 1.954 GiB before, 1.915 GiB after; 100 driver calls before, 98 after."
        in (advice.lines()[3])
    )


def test_one_caught_failure_of_a_program_that_expands_segments(tmp_path):
    recorder = Recorder(Rules(card=200 * MIB, expandable=True))
    recorder.malloc(0, 100 * MIB)
    assert recorder.malloc(0, 140 * MIB) is None
    recorder.malloc(0, 60 * MIB)
    advice = wb.advise(written(tmp_path, recorder.snapshot()))
    assert "ran out of memory at event 3 of 5; it was caught: 2 events followed." in advice.lines()[0]
    assert cause_of(advice)[:3] == ("too_much_live", 40 * MIB, 40 * MIB)


def test_frees_alone_behind_a_failure_are_the_end_of_a_program(tmp_path):
    recorder = Recorder(Rules(card=200 * MIB))
    held = recorder.malloc(0, 100 * MIB)
    assert recorder.malloc(0, 140 * MIB) is None
    recorder.free(held)
    advice = wb.advise(written(tmp_path, recorder.snapshot()))
    assert advice.lines()[0].startswith("GPU 0 ran out of memory at event 3 of 5. ")


@pytest.mark.parametrize(("free", "kind"), [(20 * MIB, "limit_outside"), (20 * MIB - 1, "too_much_live")])
def test_a_small_request_needs_a_segment(tmp_path, free, kind):
    """3 MiB take a segment of 20 MiB: with less left, the card had too little."""
    recorder = Recorder(Rules(card=110 * MIB))
    recorder.malloc(0, 60 * MIB)
    recorder.malloc(0, 40 * MIB)
    assert recorder.malloc(0, 3 * MIB) is None
    recorder.events[-1]["device_free"] = free
    advice = wb.advise(written(tmp_path, recorder.snapshot()))
    assert cause_of(advice).kind == kind
    assert ("segment of 20 MiB that it takes" in advice.lines()[2]) == (kind == "limit_outside")


def test_a_pool_that_keeps_less_than_was_lacked_is_not_the_cause(tmp_path):
    recorder = Recorder(Rules(card=200 * MIB), ((0, (0, 0)), (0, (0, 1))))
    recorder.malloc(0, 100 * MIB)
    recorder.free(recorder.malloc(1, 40 * MIB))
    assert recorder.malloc(0, 120 * MIB) is None
    advice = wb.advise(written(tmp_path, recorder.snapshot()))
    assert free_of(advice.segments).pooled == 40 * MIB
    assert cause_of(advice)[:3] == ("too_much_live", 60 * MIB, 60 * MIB)
    assert "private pools keep 40 MiB" in advice.lines()[1]


def test_the_idle_pages_of_a_pool_that_expands_are_the_pools(tmp_path):
    recorder = Recorder(Rules(card=200 * MIB, expandable=True), ((0, (0, 0)), (0, (3, 0))), tells_pools=True)
    recorder.malloc(1, 20 * MIB)
    recorder.free(recorder.malloc(1, 100 * MIB))
    assert recorder.malloc(0, 100 * MIB) is None
    advice = wb.advise(written(tmp_path, recorder.snapshot()))
    assert cause_of(advice).kind == "private_pool" and cause_of(advice).pool[:2] == ((3, 0), 100 * MIB)


def test_a_failure_without_a_history_names_holders_by_the_frames_of_segments(tmp_path):
    """No holder was named: blocks have no frames where only segments were recorded."""
    recorder = Recorder(Rules(), ((0, (0, 0)), (0, (0, 1))))
    recorder.malloc(0, 100 * MIB)
    recorder.free(recorder.malloc(1, 40 * MIB))
    snapshot = {**recorder.snapshot(), "device_traces": []}
    for line, segment in enumerate(sorted(snapshot["segments"], key=lambda it: -it["total_size"])):
        segment["frames"] = [{"name": "f", "filename": "/me/run.py", "line": line}]
        for block in segment["blocks"]:
            del block["frames"]
    still = advice_or_segments(written(tmp_path, snapshot))
    assert "Live: me/run.py:0 f 100 MiB (by the frames of their segments)." in still.sentences()
    assert (still.whole_free_bytes, still.pooled_free_bytes) == (0, 40 * MIB)
    assert any("40 MiB are kept by private pools" in sentence for sentence in still.sentences())


def test_no_next_step_of_advise_is_advise(tmp_path):
    recorder = Recorder(Rules())
    recorder.malloc(0, 100 * MIB)
    places = [written(tmp_path / name, recorder.snapshot(1)) for name in ("one", "two")]
    with pytest.raises(InputError) as refused:
        wb.advise(places)
    assert "workbench advise" not in str(refused.value) and str(refused.value).endswith(", or leave it out.")
