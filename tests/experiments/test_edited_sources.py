"""A process whose sources of the workbench were edited after it imported them runs nothing more."""

import os
import time

import pytest

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.mechanisms import mechanism
from workbench.runs import origin, worker
from workbench.runs.pickled_setups import PackedEngine

SENTENCE = r"^.*{} was edited after this process imported the workbench; restart the process"
SECOND = 10**9


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Return a folder that stands for the package's, with one file as old as the import."""
    (tmp_path / "engine.py").write_text("one = 1\n")
    stamp(tmp_path / "engine.py", wb.IMPORTED_NS - SECOND)
    monkeypatch.setattr(origin, "_ROOT", tmp_path)
    monkeypatch.setattr(origin, "LOOK_SECONDS", 0.0)
    for kept in (origin._taken, origin.origin):
        kept.cache_clear()
    yield tmp_path
    for kept in (origin._taken, origin.origin):
        kept.cache_clear()


def stamp(path, ns):
    os.utime(path, ns=(ns, ns))


def test_an_edit_before_the_digest_is_taken_is_refused(root):
    stamp(root / "engine.py", time.time_ns())  # stands for an edit
    with pytest.raises(WorkbenchError, match=SENTENCE.format(r"engine\.py")):
        origin.sources()


@pytest.mark.parametrize("of_a_clock_ahead", [False, True])
def test_files_of_before_the_import_and_times_of_other_clocks_are_not(root, of_a_clock_ahead):
    ahead = time.time_ns() + 3600 * SECOND  # stands for the time of another machine
    stamp(root / "engine.py", ahead if of_a_clock_ahead else wb.IMPORTED_NS - SECOND)
    assert len(origin.sources()) == 16
    origin.check_unedited()


def test_times_of_a_network_tell_nothing(root, monkeypatch):
    stamp(root / "engine.py", time.time_ns())  # stands for an edit
    monkeypatch.setattr(origin, "on_network", lambda folder: True)
    assert len(origin.sources()) == 16


def test_a_later_edit_is_refused_and_a_touch_is_not(root):
    before = origin.sources()
    stamp(root / "engine.py", time.time_ns())  # stands for an edit
    origin.check_unedited()
    (root / "engine.py").write_text("one = 2\n")
    with pytest.raises(WorkbenchError, match=SENTENCE.format(r"engine\.py")):
        origin.check_unedited()
    assert origin.sources() == before
    (root / "engine.py").unlink()
    with pytest.raises(WorkbenchError, match=SENTENCE.format(r"engine\.py")):
        origin.check_unedited()


def test_a_sweep_runs_nothing_then(root, tmp_path):
    origin.sources()
    (root / "engine.py").write_text("one = 2\n")
    sweep = {"engine": "shared_memory", "workload": "large_uniform", "seeds": 1}
    with pytest.raises(WorkbenchError, match=SENTENCE.format(r"engine\.py")):
        wb.run(sweep, workers=0)


def test_a_worker_imports_no_engine_then(root, monkeypatch):
    monkeypatch.setattr(mechanism, "MECHANISMS", {})
    reply = origin.origin()
    monkeypatch.setattr(worker, "check_origin", lambda driver: origin.sources())
    worker.check_origin(reply)
    (root / "engine.py").write_text("one = 2\n")
    with pytest.raises(WorkbenchError, match=SENTENCE.format(r"engine\.py")):
        worker.worker_entry({}, [], 1.0, reply, engine=PackedEngine("shared_memory", "", ("", 0)))
    assert not mechanism.is_loaded("shared_memory")


def test_this_process_runs_what_its_sources_say():
    origin.check_unedited()
