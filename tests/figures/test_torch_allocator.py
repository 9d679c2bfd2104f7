"""The figures of PyTorch's allocator: what is drawn is what the runs recorded."""

import pickle

import pytest

import workbench as wb
from tests.oracles.torch_allocator import Rules
from tests.recorded_torch import Recorder, exercised
from workbench.errors import InputError
from workbench.figures._recorded_against_replayed import RECORDED_AGAINST_REPLAYED_FIGURE as SCATTER
from workbench.figures.reserved_memory import RESERVED_OVER_PROGRAM_FIGURE as CURVES

MIB = 1 << 20


def run(workload, **options):
    return wb.run({"engine": "torch_allocator", "workload": workload, "options": options, "seeds": 1}, workers=1)


def test_curves_of_every_setting_lie_above_what_is_live():
    result = run({"synthetic": "growing_cycle", "cycles": 9}, expandable_segments={"vary": [False, True]})
    data = CURVES.data(result)
    live, *lines = data.lines
    assert (live.name, live.style, [line.style for line in lines]) == ("live", -1, [0, 1])
    for line, peak in zip(lines, result.table["reserved_peak_bytes"], strict=True):
        assert (line.means.mean >= live.means.mean).all()
        assert line.means.mean.max() == peak / MIB
    assert CURVES.draw(data).axes


def test_recordings_lie_on_the_diagonal_with_what_was_reproduced(tmp_path):
    places = []
    for seed in (1, 2):
        place = tmp_path / f"made_{seed}.pickle"
        place.write_bytes(pickle.dumps(exercised(Recorder(Rules(), seed=seed), 100, seed).snapshot()))
        places.append(str(place))
    result = run({"trace": {"vary": places}}, settings="recorded")
    data = SCATTER.data(result)
    assert (data.recorded_gib == data.replayed_gib).all()
    assert data.counts[:, 3].tolist() == result.table["addresses_reproduced"].tolist()
    assert (data.counts[:, 2] > 0).all()
    assert set(data.columns()) >= {"recording", "recorded_gib", "replayed_gib", "allocs"}
    assert len(SCATTER.draw(data).axes) == 2


def test_what_was_not_recorded_has_no_diagonal():
    with pytest.raises(InputError, match="needs memory snapshots replayed as they were recorded: settings: recorded"):
        SCATTER.data(run({"synthetic": "awaited_block"}))
