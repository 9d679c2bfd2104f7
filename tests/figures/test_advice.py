"""The figure of an advice: what is drawn is what the advice says, and a CSV has it whole."""

import pickle

import pytest

import workbench as wb
from tests.oracles.torch_allocator import Rules
from tests.recorded_torch import Recorder, exercised
from workbench.figures.advice import GIB, SHOWN, advice_data, save_advice


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
    assert data.reserved_gib[0] == advice.best_trial.reserved_peak_bytes / GIB
    assert list(data.reserved_gib) == sorted(set(data.reserved_gib))
    assert sum(name.endswith("(recorded)") for name in data.settings) == 1
    assert len(data.settings) <= SHOWN
    assert data.live_gib <= data.planned_gib <= data.reserved_gib[0]


def test_it_is_saved_for_a_paper(advice, tmp_path):
    places = save_advice(advice, tmp_path / "paper")
    assert [place.name for place in places] == ["advice.pdf", "advice.png", "advice.csv"]
    rows = places[2].read_text().splitlines()
    assert rows[0] == "kind,name,event,gib"
    assert rows[-1].startswith("bound,addresses planned beforehand,-1,")
    data = advice_data(advice)
    assert len(rows) == 1 + sum(len(line.gib) for line in data.lines) + len(data.settings) + 2


def test_a_notebook_gets_it_in_one_call(advice):
    assert len(wb.advice_figure(advice).axes) == 2
