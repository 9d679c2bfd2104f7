"""The answer in five lines: which card, when, why, what to set, where it fits; of cards apart, and of several files."""

import pickle

import numpy as np
import pytest

import workbench as wb
from tests import public_traces
from tests.advice.torch_memory.test_lives import plain
from tests.oracles import torch_memory
from tests.oracles.torch_allocator import MIB, Allocator, Rules
from tests.recorded_torch import Recorder, exercised
from tests.slow import thinned
from workbench.advice.torch_memory import advice as advice_module
from workbench.advice.torch_memory.advice import advice_or_segments
from workbench.advice.torch_memory.diagnosis import rank_trials
from workbench.advice.torch_memory.holdings import SegmentSnapshot
from workbench.advice.torch_memory.search_space import EXPANDABLE
from workbench.advice.torch_memory.snapshot import card_histories
from workbench.advice.torch_memory.trial import CardTrial, Trial, evaluate, replay_on_card, with_smallest_card
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.errors import InputError
from workbench.workloads.importers import read_trace


@pytest.fixture(autouse=True)
def few_proposals(monkeypatch):
    """The grid alone and a few more: what Optuna proposes makes no difference to what is said of it."""
    monkeypatch.setattr(advice_module, "TRIALS", 2)
    monkeypatch.setattr(advice_module, "FEWEST", 2)


def written(folder, snapshot, name="made.pickle"):
    place = folder / name
    place.write_bytes(pickle.dumps(snapshot))
    return place


def full_of_live():
    """120 MiB live on a card of 130, and 40 more are asked for."""
    made = Recorder(Rules(card=130 * MIB))
    for _ in range(6):
        made.malloc(0, 20 * MIB)
    assert made.malloc(0, 40 * MIB) is None
    return made


def full_of_holes():
    """Three segments of 40 MiB, in each 8 live and 32 free, on a card of 130: 60 MiB find no run. Pages of expandable
    segments go back one by one."""
    made = Recorder(Rules(card=130 * MIB))
    back = []
    for _ in range(3):
        made.free(made.malloc(0, 40 * MIB))
        made.malloc(0, 8 * MIB)
        back.append(made.malloc(0, 32 * MIB))
    for address in back:
        made.free(address)
    assert made.malloc(0, 60 * MIB) is None
    return made


def cards(*recorders):
    """One snapshot of several cards."""
    whole = [made.snapshot() for made in recorders]
    segments = [{**it, "device": k} for k, one in enumerate(whole) for it in one["segments"]]
    return {**whole[0], "segments": segments, "device_traces": [one["device_traces"][0] for one in whole]}


def test_what_is_too_much_is_said_to_have_to_go(tmp_path):
    advice = wb.advise(written(tmp_path, full_of_live().snapshot()))
    assert advice.lines() == [
        "GPU 0 ran out of memory at event 13 of 13. me/model.py:9 loss asked for 40 MiB; 10 MiB were left on the card.",
        "At that moment 120 MiB were reserved: 120 MiB live and 0 B free. The largest holder is "
        f"{advice.holders()[0].name} ({advice.holders()[0].bytes // MIB} MiB).",
        "Too much is live; fragmentation is 0.0%: no allocator setting helps. The card lacked 30 MiB.",
        "Change no allocator setting: keep PyTorch's defaults, as recorded. 30 MiB must go: look first at "
        f"{advice.holders()[0].name} and {advice.holders()[1].name}.",
        "GPU 0: with that request served, what was recorded reserves 160 MiB at its peak and fits where PyTorch gets "
        "160 MiB or more. It had 130 MiB.",
    ]
    assert advice.plain()["must_go_bytes"] == 30 * MIB and advice.plain()["paste"] is None


def test_what_lies_in_pieces_is_said_to_fit_under_the_setting_to_paste(tmp_path):
    advice = wb.advise(written(tmp_path, full_of_holes().snapshot()))
    lines = advice.lines()
    assert advice.best == "expandable_segments:True" and lines[2].startswith("The cause is fragmentation: 80.0%")
    assert lines[3].startswith("Before Python starts: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; it took if ")
    assert 'torch.cuda.memory._snapshot()["allocator_settings"]' in lines[3]
    assert "Price: reserved peak 180 MiB before, 160 MiB after; 4 driver calls before, 4 after." in lines[3]
    assert lines[3].endswith("CUDA IPC, NIXL, MemPool): no other setting is enough.")
    assert lines[1].startswith(
        "At that moment 120 MiB were reserved: 24 MiB live and 96 MiB free. Of the free bytes live neighbors pin 96 MiB"
    )
    assert lines[2].endswith(" The same requests fit under expandable_segments:True. The card lacked 50 MiB.")
    assert lines[4] == (
        "GPU 0: with that request served, what was recorded reserves 180 MiB at its peak and fits where PyTorch gets "
        "180 MiB or more. It had 130 MiB. Under expandable_segments:True it fits from 120 MiB on."
    )
    assert "The newest versions of PyTorch read PYTORCH_ALLOC_CONF too" in advice.sentences()[5]


def test_live_bytes_beyond_what_was_asked_for_are_called_rounding(tmp_path):
    """A recording of 41.57 GiB live was said to fit 40.95: blocks keep up to 1 MiB too much, which a card need not."""
    made = Recorder(Rules())
    for _ in range(4):
        made.malloc(0, 20 * MIB - (MIB >> 1))
    advice = wb.advise(written(tmp_path, made.snapshot()))
    assert advice.lines()[1].startswith(
        "At that moment 80 MiB were reserved: 80 MiB live (78 MiB asked for, the rest are rounding and tails) and"
    )
    assert "rounding" not in wb.advise(written(tmp_path, full_of_holes().snapshot())).lines()[1]


@pytest.mark.slow
def test_a_peak_of_what_failed_is_not_called_recorded(tmp_path):
    """160 MiB "as recorded" stood below 120 that were reserved when the card of 130 failed."""
    advice = wb.advise(written(tmp_path, full_of_live().snapshot()))
    (own,) = (line for line in advice.sentences() if "driver call" in line)
    assert own.startswith("The recorded settings (PyTorch's defaults), had nothing failed: 160 MiB reserved at most, ")
    made = exercised(Recorder(Rules(), seed=4), 150, 4)
    usual = wb.advise(written(tmp_path, made.snapshot()))
    assert "had nothing failed" not in " ".join(usual.sentences()) and "laid out again" not in usual.lines()[4]
    late = wb.advise(written(tmp_path, made.snapshot(kept=100)))
    assert late.is_change == ("Packed from an empty card it fits from " in late.lines()[4])


@pytest.mark.parametrize("name", ["PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"])
def test_the_variable_is_the_one_that_the_recording_names(tmp_path, name):
    """`PYTORCH_ALLOC_CONF` was printed always, which only the newest versions read (pytorch#183387, #149601)."""
    snapshot = full_of_holes().snapshot()
    snapshot["allocator_settings"][name] = snapshot["allocator_settings"].pop("PYTORCH_CUDA_ALLOC_CONF")
    advice = wb.advise(written(tmp_path, snapshot))
    assert f" {name}=expandable_segments:True;" in advice.lines()[3]
    assert advice.plain()["paste"] == f"{name}=expandable_segments:True"


def test_cards_are_said_apart_and_the_one_that_failed_first(tmp_path):
    """Reserved bytes of different moments and cards were added up, and the first card stood for the one that failed."""
    usual = exercised(Recorder(Rules(), seed=4), 150, 4)
    place = written(tmp_path, cards(usual, full_of_live()))
    advice = wb.advise(place)
    assert [card.log.device for card in advice.cards] == [1, 0]
    assert advice.lines()[0].startswith("GPU 1 (the other 1 did not fail) ran out of memory at event 13 of 13")
    assert advice.lines()[1].startswith("At that moment 120 MiB were reserved") and advice.lines()[4].startswith(
        "GPU 1: "
    )
    rows = {row["device"]: row for row in advice.plain()["cards"]}
    snapshot = plain(place)
    for device in (0, 1):
        reserved, kept = torch_memory.history(snapshot, device, {rows[device]["after_events"]})
        (held,) = kept.values()
        assert rows[device]["reserved_peak_bytes"] == max(reserved)
        assert rows[device]["reserved_bytes"] == reserved[rows[device]["after_events"]]
        assert rows[device]["live_bytes"] == sum(held.live.values())
    said = {row["device"]: row["reserved_peak_bytes"] for row in advice.recorded.cards}
    assert said == {device: row["reserved_peak_bytes"] for device, row in rows.items()}
    assert [trial.cards[0].reserved_peak_bytes for trial in advice.trials] == [
        evaluate([advice.cards[0].requests], trial.settings).reserved_peak_bytes for trial in advice.trials
    ]


def test_it_was_decided_when_most_was_live_of_the_times_when_most_was_reserved(tmp_path):
    """The last event at the highest reserve was taken, long after tensors were let go."""
    made = Recorder(Rules())
    held = [made.malloc(0, 30 * MIB) for _ in range(3)]
    for address in held:
        made.free(address)
    advice = wb.advise(written(tmp_path, made.snapshot()))
    (card,) = advice.cards
    assert card.decisive == 6 and sum(holder.bytes for holder in advice.holders()) == 90 * MIB
    assert card.recorded.reserved[-1] == 90 * MIB and card.recorded.allocated[-1] == 0


def test_a_recording_with_expandable_segments_is_not_told_to_turn_them_on(tmp_path):
    made = exercised(Recorder(Rules(expandable=True), seed=3), 200, 3)
    advice = wb.advise(written(tmp_path, made.snapshot()))
    assert advice.own_trial.settings == EXPANDABLE
    if not advice.is_change:
        assert advice.lines()[3] == (
            "Change no allocator setting: keep PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, as recorded."
        )
    else:
        assert advice.best_trial.needed_bytes <= 0.99 * advice.own_trial.needed_bytes


def trial(conf, needed):
    settings = AllocatorSettings.parse(conf)
    return Trial(conf, settings, needed, 1, 1, 0, needed, cards=(CardTrial(needed, needed),))


@pytest.mark.parametrize(
    ("needs", "best"),
    [
        ({"": 1000, "expandable_segments:True": 995, "max_split_size_mb:64": 991}, ""),
        ({"": 1000, "expandable_segments:True": 990, "max_split_size_mb:64": 990}, "expandable_segments:True"),
        ({"": 1000, "expandable_segments:True": 990, "max_split_size_mb:64": 981}, "expandable_segments:True"),
        ({"": 1000, "expandable_segments:True": 990, "max_split_size_mb:64": 901}, "expandable_segments:True"),
        ({"": 1000, "expandable_segments:True": 990, "max_split_size_mb:64": 900}, "max_split_size_mb:64"),
        ({"": 900, "expandable_segments:True": 990, "max_split_size_mb:64": 980}, ""),
    ],
)
def test_another_setting_must_save_a_hundredth_of_the_card_and_a_limit_on_splitting_a_tenth(needs, best):
    trials = [trial(conf, needed) for conf, needed in needs.items()]
    assert rank_trials(trials, trials[0], [None])[0].conf == best


def test_one_event_is_read_as_a_moment(tmp_path):
    """`workbench advise` refused it and sent the user to `workbench advise`."""
    made = exercised(Recorder(Rules(), seed=1), 60, 1)
    still = advice_or_segments(written(tmp_path, made.snapshot(kept=1)))
    assert isinstance(still, SegmentSnapshot) and still.reserved_bytes == made.reserved()


def test_a_moment_of_several_cards_says_what_each_has_and_does_not_turn_on_what_is_on(tmp_path):
    """Cards were added up in silence; a moment with expandable segments was told to make them expandable."""

    def holed(rules: Rules) -> Recorder:
        made = Recorder(rules)
        blocks = [made.malloc(0, 5 * MIB) for _ in range(16)]
        for block in blocks[::2]:
            made.free(block)
        return made

    snapshot = cards(holed(Rules()), full_of_live())
    snapshot["device_traces"] = [[], []]
    still = advice_or_segments(str(written(tmp_path, snapshot)))
    cards_of = [(card.device, card.reserved_bytes, card.live_bytes) for card in (still, *still.others)]
    assert cards_of == [(1, 120 * MIB, 120 * MIB), (0, 80 * MIB, 40 * MIB)]
    assert still.sentences()[1].startswith("GPU 1: 120 MiB reserved in 6 segments, 120 MiB live, 0 B free;")
    assert still.sentences()[-2:] == [
        "Nearly all that is reserved is live: no setting of the allocator makes room, less must be held.",
        "GPU 0: 80 MiB reserved in 4 segments, 40 MiB live, 40 MiB free.",
    ]
    plain = still.plain()
    assert [card["reserved_bytes"] for card in plain["cards"]] == [120 * MIB, 80 * MIB]
    assert plain["reserved_bytes"] == 120 * MIB, "no sum over cards"
    alone = holed(Rules()).snapshot()
    alone["device_traces"] = [[]]
    words = advice_or_segments(str(written(tmp_path, alone))).sentences()
    assert words[-1].startswith("expandable_segments:True would have let ")
    grown = holed(Rules(expandable=True)).snapshot()
    grown["device_traces"] = [[]]
    assert (
        advice_or_segments(str(written(tmp_path, grown)))
        .sentences()[-1]
        .startswith("Its segments are expandable already")
    )


def test_what_the_replay_does_not_reproduce_is_refused_or_said_first(tmp_path):
    made = exercised(Recorder(Rules(divisions=(2,) * 16), seed=3), 300, 3).snapshot()
    made["allocator_settings"]["roundup_power2_divisions"] = {}
    place = written(tmp_path, made)
    with pytest.raises(InputError) as refused:
        wb.advise(place)
    assert str(refused.value).startswith(f"{place}: the replay by PyTorch's rules reproduces ")
    assert "% of what GPU 0 recorded (segment allocations reproduced " in str(refused.value)
    assert "and no advice rests on less than 90%" in str(refused.value)
    made = Recorder(Rules())
    for _ in range(30):
        made.free(made.malloc(0, 3 * MIB))
    moved = made.snapshot()
    for event in moved["device_traces"][0][-3:]:
        event["addr"] += 4 * MIB  # the last block lies where the rules do not put it
    lines = wb.advise(written(tmp_path, moved)).lines()
    assert len(lines) == 6
    assert lines[0] == (
        "Take this with care: the replay reproduces 96.8% of the recording (segment allocations reproduced 1 of 1, "
        "addresses 29 of 30)."
    )


@pytest.mark.slow
def test_several_files_get_one_setting_for_all_and_the_worst_first(tmp_path):
    made = exercised(Recorder(Rules(), seed=6), 100, 6)
    places = [written(tmp_path, made.snapshot(), "rank0.pickle")]
    places += [written(tmp_path, full_of_holes().snapshot(), "rank1.pickle")]
    advice = wb.advise(places)
    assert advice.lines()[0].startswith("GPU 0 of rank1.pickle (the other 1 did not fail) ran out of memory")
    assert [card.file for card in advice.cards] == [str(place) for place in reversed(places)]
    alone = [
        with_smallest_card(evaluate([card.requests], advice.best_trial.settings), [card.requests])
        for card in advice.cards
    ]
    assert [it.smallest_card_bytes for it in alone] == [it.smallest_card_bytes for it in advice.best_trial.cards]
    assert advice.best_trial.smallest_card_bytes == max(it.smallest_card_bytes for it in alone)


def test_what_a_line_asks_for_can_be_thought_away(tmp_path):
    """As if its blocks went back at once: the allocator of lists does the same with the requests in that order."""
    made = exercised(Recorder(Rules(), seed=5), 200, 5)
    for event in made.events:
        event["frames"] = [{"name": "f", "filename": "/home/me/net.py", "line": 1 + event["addr"] // 512 % 3}]
    advice = wb.advise(written(tmp_path, made.snapshot()))
    changed = advice.what_if_freed("net.py:2")
    twin, where, peak, dropped = Allocator(Rules(), (0,)), {}, 0, set()
    for event in made.events:
        action, address = event["action"], event["addr"]
        if action == "alloc":
            where[address] = twin.malloc(0, event["size"])
            peak = max(peak, twin.reserved())
            if event["frames"][0]["line"] == 2:
                twin.free(where[address])
                dropped.add(address)
            else:
                dropped.discard(address)
        elif action == "free_completed" and address not in dropped:
            twin.free(where[address])
        elif action == "segment_free":
            twin.empty_cache()
    assert changed.blocks == sum(e["action"] == "alloc" and e["frames"][0]["line"] == 2 for e in made.events) > 5
    assert changed.own.reserved_peak_bytes == peak < advice.own_trial.reserved_peak_bytes
    with pytest.raises(InputError, match=r"no block was asked for at net\.py:22; most is held by me/net\.py:"):
        advice.what_if_freed("net.py:22")


@pytest.mark.needs("public traces")
@pytest.mark.parametrize("place", thinned(public_traces.recordings(), 9), ids=lambda place: place.name)
def test_a_public_recording_fits_the_card_that_is_named_and_no_smaller_one(place):
    for card in card_histories(place):
        for settings in (card.own, EXPANDABLE):
            (named,) = with_smallest_card(evaluate([card.requests], settings), [card.requests]).cards
            assert not replay_on_card(card.requests, settings, named.smallest_card_bytes).refused
            assert replay_on_card(card.requests, settings, named.smallest_card_bytes - 2 * MIB).refused


@pytest.mark.needs("public traces")
@pytest.mark.parametrize("place", thinned(public_traces.recordings(), 9), ids=lambda place: place.name)
def test_peaks_of_a_public_recording_are_those_of_an_independent_count(place):
    snapshot, devices = plain(place), {card.log.device: card for card in card_histories(place)}
    imported = {card.pop("device"): card for card in read_trace(place).facts()["by_card"]}
    for device, card in devices.items():
        reserved, _ = torch_memory.history(snapshot, device, set())
        assert int(card.recorded.reserved.max()) == max(reserved)
        live = np.cumsum([0, *(_change(event) for event in snapshot["device_traces"][device])])
        end = sum(
            block["requested_size"]
            for it in snapshot["segments"]
            if it["device"] == device
            for block in it["blocks"]
            if block["state"] != "inactive"
        )
        assert int(card.recorded.allocated.max()) == end - int(live[-1]) + int(live.max())
        peaks = {
            "reserved_peak_bytes": card.recorded.reserved.max(),
            "active_peak_bytes": card.recorded.allocated.max(),
        }
        assert imported[device] == peaks


def _change(event):
    return event["size"] * ((event["action"] == "alloc") - (event["action"] == "free_completed"))
