"""The pool dashboard says what a dropped snapshot means for PyTorch's settings."""

import pickle

import pytest

from tests.oracles.torch_allocator import Rules
from tests.recorded_torch import Recorder, exercised
from workbench.advice.replay import Replayed, replayed
from workbench.dashboards import _advice_panel as advice_panel
from workbench.dashboards._advice_panel import AdvicePanel, caches_of, caches_table
from workbench.dashboards._pool import PoolPanels, SnapshotAnswer
from workbench.workloads.recorded_memory import TracePool
from workbench.workloads.synthetic.memory_jobs import MixedJobs


def dropped(folder, snapshot):
    place = folder / "own.pickle"
    place.write_bytes(pickle.dumps(snapshot))
    return TracePool(trace=str(place))


@pytest.fixture
def panel():
    return AdvicePanel()


@pytest.mark.slow
def test_a_snapshot_shows_its_best_setting_and_how_exact_that_is(panel, tmp_path):
    made = exercised(Recorder(Rules(), seed=2), 60, 2)
    panel.show(dropped(tmp_path, made.snapshot()))
    panel.wait()
    assert "GPU 0 did not run out of memory" in panel.answer.value and panel.answer.value.count("<p>") == 5
    assert "under other caches" in panel.value
    assert "<td>pytorch caching</td>" in panel.value
    assert "fits a card of" in panel.value
    assert "segment allocations reproduced" in panel.rest.value
    assert "<svg" in panel.rest.value and "PyTorch's own settings" not in panel.value
    panel.show(MixedJobs())
    assert panel.value == panel.answer.value == panel.rest.value == ""


def test_a_snapshot_without_a_history_is_read_as_it_stands(panel, tmp_path):
    made = exercised(Recorder(Rules(), seed=2), 60, 2).snapshot()
    made["device_traces"] = [[]]
    panel.show(dropped(tmp_path, made))
    panel.wait()
    assert "own.pickle: the segments of a moment" in panel.answer.value
    assert str(tmp_path) not in panel.answer.value + panel.value


def test_a_file_that_is_gone_meanwhile_is_a_sentence(tmp_path, monkeypatch):
    """A page that is closed takes what was dropped into it along."""
    file = tmp_path / "own.pickle"
    file.write_bytes(pickle.dumps(exercised(Recorder(Rules(), seed=2), 20, 2).snapshot()))
    monkeypatch.setattr(advice_panel, "replayed", lambda results: (file.unlink(), replayed(results)))
    assert caches_of(str(file)) == (
        '<span class="wb-fine">own.pickle: there is no such file, and no public trace of this name.</span>'
    )


def test_what_came_too_late_is_passed_over(panel, tmp_path, monkeypatch):
    def moved_on(path):
        panel.show(MixedJobs())
        return "advice of a snapshot that nobody looks at", "and all else"

    monkeypatch.setattr(advice_panel, "_advice", moved_on)
    panel.show(dropped(tmp_path, exercised(Recorder(Rules(), seed=2), 10, 2).snapshot()))
    panel.wait()
    assert panel.value == panel.answer.value == ""


def test_the_table_of_caches_is_in_units_that_a_person_reads():
    unknown = Replayed("recorded", *[float("nan")] * 7)
    known = unknown._replace(policy="bfc", reserved_peak_bytes=3_661_627_392.0, fragmentation=0.25, driver_calls=1200.0)
    table = caches_table([known, unknown])
    assert table.index("recorded") < table.index("bfc")
    assert "<td>bfc</td><td>3.41 GiB</td><td>-</td><td>25.0%</td><td>1,200</td><td>-</td><td>4 GiB</td>" in table


def test_it_is_part_of_the_pools_dashboard():
    panels = PoolPanels()
    answer = SnapshotAnswer(panels.advice)
    assert panels.widgets[-1] is panels.advice, "the caches"
    assert answer.widgets == [panels.advice.answer, answer.history, panels.advice.rest]
    assert not set(answer.widgets) & set(panels.widgets), "each stands once"
