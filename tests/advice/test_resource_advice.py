"""The best memory setting is one that the recorded program can make, whatever wrote the recording."""

import json

import pytest

from workbench.advice.program_settings import Program
from workbench.advice.resource_advice import ResourceAdvice, ResourceTrial, advise_resources
from workbench.advice.rmm import CardRequests, serve
from workbench.advice.rmm.pool import StreamPool

MIB, GIB = 1 << 20, 1 << 30
CARDS = {"NVIDIA": {"name": "NVIDIA H100", "warpSize": 32}, "AMD": {"name": "AMD Instinct MI300X", "warpSize": 64}}


def profile(folder, maker, cards=1, blocks=6, size=12 * MIB):
    """Blocks of one size on each card, of which every other one goes before a request for two of them comes."""
    moves = [(k + 1, size) for k in range(blocks)] + [(k + 1, -size) for k in range(0, blocks, 2)]
    moves.append((blocks + 1, 2 * size))
    events = [
        {
            "ph": "i",
            "name": "[memory]",
            "ts": at,
            "tid": 1,
            "args": {"Bytes": moved, "Addr": address << 40, "Device Type": 1, "Device Id": card},
        }
        for card in range(cards)
        for at, (address, moved) in enumerate(moves)
    ]
    properties = [{"id": card, **CARDS[maker]} for card in range(cards)]
    place = folder / f"{maker}.pt.trace.json"
    place.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": properties, "traceEvents": events}))
    return place


def timeline(folder):
    place = folder / "timeline.raw.json"
    place.write_text(json.dumps([[at, 2, 3 * MIB, 0] for at in range(8)]))
    return place


def rmm_log(folder):
    rows = [f"1,9:00:00.{k:06d},allocate,0x{k + 1}00,{32 * MIB},0" for k in range(2)]
    place = folder / "rmm.csv"
    place.write_text("\n".join(["Thread,Time,Action,Pointer,Size,Stream", *rows]) + "\n")
    return place


@pytest.mark.parametrize(
    ("recorded", "framework", "settable"),
    [
        (rmm_log, "RMM", "rmm."),
        (timeline, "PyTorch", "PYTORCH_CUDA_ALLOC_CONF"),
        (lambda folder: profile(folder, "NVIDIA"), "PyTorch", "PYTORCH_CUDA_ALLOC_CONF"),
        (lambda folder: profile(folder, "AMD"), "PyTorch", "PYTORCH_HIP_ALLOC_CONF"),
    ],
)
def test_the_best_setting_is_one_that_the_program_can_make(tmp_path, recorded, framework, settable):
    advice = advise_resources(recorded(tmp_path))
    assert advice.program.framework == framework
    assert advice.best.startswith(settable) and advice.trials[0].settable
    assert all(trial.setting.startswith(settable) for trial in advice.trials if trial.settable)
    assert {"TensorFlow BFC, allow_growth"} <= {trial.setting for trial in advice.trials if not trial.settable}
    ranks = [trial.settable for trial in advice.trials]
    assert ranks == sorted(ranks, reverse=True), "what is there for comparison comes last"


def test_on_amd_expandable_segments_are_there_for_comparison(tmp_path):
    settable = {trial.setting: trial.settable for trial in advise_resources(profile(tmp_path, "AMD")).trials}
    assert settable["PYTORCH_HIP_ALLOC_CONF=expandable_segments:True"] is False
    settable = {trial.setting: trial.settable for trial in advise_resources(profile(tmp_path, "NVIDIA")).trials}
    assert settable["PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"] is True


def test_several_cards_are_ranked_by_their_calls_a_card(tmp_path):
    trials = [ResourceTrial("many", 10, 40, 0), ResourceTrial("few", 20, 8, 0), ResourceTrial("one", 30, 4, 0)]
    names = {
        cards: [it.setting for it in ResourceAdvice("x", trials, 1, (1, 1), 1, False, Program("RMM"), cards).trials]
        for cards in (1, 4)
    }
    assert names == {1: ["many", "few", "one"], 4: ["few", "one", "many"]}
    one, two = (advise_resources(profile(tmp_path, "NVIDIA", cards)) for cards in (1, 2))
    assert two.trials[0].setting == one.trials[0].setting
    assert two.trials[0].reserved_peak_bytes == 2 * one.trials[0].reserved_peak_bytes
    assert "on 2 cards together" in two.sentences()[0]


def test_of_an_unknown_program_no_setting_is_advised():
    trials = [ResourceTrial("TensorFlow BFC, allow_growth", 10, 1, 0, settable=False)]
    advice = ResourceAdvice("x", trials, 1, (1, 1), 1, False, Program(""))
    assert advice.best == "" and advice.plain()["best"] is None
    assert "What wrote this recording is not known, so no setting is advised." in advice.sentences()


@pytest.mark.parametrize(("saved", "best"), [(0.5, "default"), (2, "other")])
def test_pytorch_keeps_its_defaults_unless_one_percent_is_saved(saved, best):
    trials = [ResourceTrial("default", 10_000, 9, 0), ResourceTrial("other", round(10_000 - 100 * saved), 99, 0)]
    assert ResourceAdvice("x", trials, 1, (1, 1), 1, False, Program("PyTorch")).best == best


def test_what_fits_comes_before_what_reserves_less(tmp_path):
    trials = [ResourceTrial("small", 10, 1, 0, False), ResourceTrial("fits", 20, 1, 0, True)]
    advice = ResourceAdvice("x", trials, 1, (1, 1), 1, False, card_bytes=GIB)
    assert advice.best == "fits" and "On a card of 1 GiB, 1 of 2 settings serve everything." in advice.sentences()


def test_a_row_of_the_table_is_what_its_pool_does(tmp_path):
    rows = advise_resources(rmm_log(tmp_path)).table.set_index("setting")
    served = serve(StreamPool(MIB), CardRequests([0, 1], [32 * MIB] * 2, [-1, -1]))
    row = rows.loc["rmm.reinitialize(pool_allocator=True, initial_pool_size=1048576)"]
    assert (row.reserved_peak_bytes, row.driver_calls) == (served.reserved_peak, len(served.calls)) == (66 * MIB, 3)
