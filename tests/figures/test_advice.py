"""The figure of an advice: what is drawn is what the advice says, and a CSV has it whole."""

import pickle

import numpy as np
import pytest

import workbench as wb
from tests.advice.torch_memory.test_answer import cards
from tests.oracles.torch_allocator import Rules
from tests.recorded_torch import Recorder, exercised
from workbench.figures._flame_graph import GIB, draw_flames, flame_data
from workbench.figures._memory_timeline import draw_timeline, timeline_data
from workbench.figures.advice import MOST_SETTINGS_DRAWN, advice_data, draw, save_advice


@pytest.fixture(scope="module")
def advice(tmp_path_factory):
    place = tmp_path_factory.mktemp("made") / "made.pickle"
    place.write_bytes(pickle.dumps(exercised(Recorder(Rules(), seed=4), 200, 4).snapshot()))
    return wb.advise(place)


def test_it_shows_the_curves_and_the_settings_of_the_advice(advice):
    data = advice_data(advice)
    assert [line.name for line in data.lines] == [curve.name for curve in advice.curves()]
    for line, curve in zip(data.lines, advice.curves(), strict=True):
        assert line.gib.max() == curve.bytes.max() / GIB
    assert data.reserved_gib[0, 0] == min(trial.reserved_peak_bytes for trial in advice.trials) / GIB
    assert list(data.reserved_gib[0]) == sorted(set(data.reserved_gib[0]))
    assert sum(name.endswith("(recorded)") for name in data.settings) == 1
    assert len(data.settings) <= MOST_SETTINGS_DRAWN
    assert data.live_gib[0] <= data.planned_gib[0] <= data.reserved_gib[0, 0]


def test_it_is_saved_for_a_paper(advice, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.figures.figure_files.rendered", lambda sheet, kind: kind.encode())
    places = save_advice(advice, tmp_path / "paper")
    kinds = ("pdf", "png", "csv")
    assert [place.name for place in places] == [
        f"{name}.{kind}" for name in ("advice", "flame", "timeline") for kind in kinds
    ]
    rows = places[2].read_text().splitlines()
    assert rows[0] == "kind,card,name,event,gib"
    assert rows[-1].startswith("bound,GPU 0,addresses planned beforehand,-1,")
    data = advice_data(advice)
    assert len(rows) == 1 + sum(len(line.gib) for line in data.lines) + len(data.settings) + 2


@pytest.mark.slow
def test_frames_of_the_flame_graph_lie_within_their_callers_and_add_up(tmp_path):
    """`step` asked for 4 of 10 MiB, 3 of them from `train` and 1 from `warm_up`."""
    main, train, warm_up, step = (
        {"name": name, "filename": "/me/run.py", "line": line}
        for line, name in enumerate(("main", "train", "warm_up", "step"), 1)
    )
    stacks = {4: [train, main], 3: [step, train, main], 2: [], 1: [step, warm_up, main]}
    made = Recorder(Rules())
    for mib, frames in stacks.items():
        made.malloc(0, mib << 20)
        made.events[-1]["frames"] = frames
    made.free(made.malloc(0, 512))
    place = tmp_path / "own.pickle"
    place.write_bytes(pickle.dumps(made.snapshot()))
    data = flame_data(wb.advise(place))
    assert data.of == "live on GPU 0 where memory was tightest"
    columns = (data.name, data.depth, 1024 * data.start_gib, 1024 * data.gib)
    assert [(name, *map(int, numbers)) for name, *numbers in zip(*columns, strict=True)] == [
        ("live", 0, 0, 10),
        ("me/run.py:1 main", 1, 0, 8),
        ("me/run.py:2 train", 2, 0, 7),
        ("me/run.py:4 step", 3, 0, 3),
        ("me/run.py:3 warm_up", 2, 7, 1),
        ("me/run.py:4 step", 3, 7, 1),
        ("(no stack recorded)", 1, 8, 2),
    ]
    assert len(draw_flames(data).axes[0].patches) == len(data.name)


def test_every_card_has_its_own_peaks_and_none_is_a_sum(tmp_path):
    """The bars, the bounds and the totals of `--json` were sums: 106.8 GiB "reserved" on cards of 80."""
    recorders = [exercised(Recorder(Rules(), seed=seed), 150, seed) for seed in (4, 5)]
    place = tmp_path / "two.pickle"
    place.write_bytes(pickle.dumps(cards(*recorders)))
    advice = wb.advise(place)
    data, plain = advice_data(advice), advice.plain()
    assert data.cards == tuple(card.name for card in advice.cards) and len(set(data.cards)) == 2
    assert len(draw(data).axes) == 3
    for k, card in enumerate(advice.cards):
        alone = wb.advise(saved_alone(tmp_path, recorders[card.log.device]))
        assert plain["cards"][k]["requested_peak_bytes"] == alone.active_peak_bytes == data.live_gib[k] * GIB
        rows = {row["conf"]: row["cards"][k] for row in plain["settings"]}
        known = [trial for trial in alone.trials if trial.conf in rows]
        assert len(known) > 20
        for trial in known:
            assert rows[trial.conf]["reserved_peak_bytes"] == trial.reserved_peak_bytes
            assert rows[trial.conf]["driver_calls"] == trial.driver_calls
        assert data.planned_gib[k] <= data.reserved_gib[k].min()
    assert plain["active_peak_bytes"] == plain["cards"][0]["requested_peak_bytes"]
    assert plain["best"]["reserved_peak_bytes"] == plain["best"]["cards"][0]["reserved_peak_bytes"]
    assert [row["device"] for row in plain["recorded"]["cards"]] == [card.log.device for card in advice.cards]
    table = advice.table
    assert len(table) == 2 * len(advice.trials) and set(table["card"]) == set(data.cards)
    ends = table[table["runs_out_at_event"].notna()]
    assert len(ends) and not ends["conf"].duplicated().any()


def saved_alone(folder, recorder):
    place = folder / "alone.pickle"
    place.write_bytes(pickle.dumps(recorder.snapshot()))
    return place


def test_a_notebook_gets_it_in_one_call(advice):
    assert len(wb.advice_figure(advice).axes) == 2


def test_the_timeline_adds_up_in_its_csv(advice):
    data = timeline_data(advice)
    rows = data.columns()
    kind, gib, event = (np.asarray(rows[name]) for name in ("kind", "gib", "event"))
    until = np.asarray(rows["until_event"])
    live = kind == "live"
    for moment, size in zip(event[live].tolist(), gib[live].tolist(), strict=True):
        there = np.isin(kind, ("piece", "band", "rest")) & (event <= moment) & (moment < until)
        assert gib[there].sum() == pytest.approx(size)
    assert len(draw_timeline(data).axes) == 2
