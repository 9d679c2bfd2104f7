"""The number that is kept under an id is that of the code that the id is of, whatever is edited when."""

import os
import sys

import pytest
import yaml

import workbench as wb
from tests.identity.lowest import from_aim
from tests.identity.table import AFTER, BEFORE, Case, edited, policy
from workbench.errors import WorkbenchError
from workbench.experiments.plan import make_plan
from workbench.experiments.results import gather
from workbench.experiments.runner import run_missing
from workbench.experiments.store import Store
from workbench.experiments.sweep import read_sweep
from workbench.policies import Placement

SWEEP = {
    "engine": "shared_memory",
    "machine": {"segments": 64},
    "workload": {"synthetic": "random_workgroups", "count": 40, "size": {"uniform": [1, 20]}},
    "measures": ["drain_cycles"],
}
FILE = """
from numba import njit
from tests.identity.lowest import from_aim
from workbench.policies import Placement

AIM = {:02d}


class Mine(Placement):
    def answer(see):
        return from_aim(see.free, see.segments, see.length, AIM)
"""


def make(aim):
    """Return a policy class that differs from another made here in a closure cell alone."""

    class Mine(Placement):
        def answer(see):
            return from_aim(see.free, see.segments, see.length, aim)

    return Mine


def drains(placement, seeds=2, **more):
    """Return the drain times of a policy, seed by seed."""
    results = wb.run({**SWEEP, "seeds": seeds, "policy": {"placement": placement}}, **{"workers": 0, **more})
    assert set(results.table["error"]) == {""}
    return list(results.table["drain_cycles"])


@pytest.fixture(scope="module")
def low():
    """Return the drain times with an aim of 0."""
    return drains(make(BEFORE))


@pytest.fixture(scope="module")
def high(low):
    """Return the drain times with an aim of 40."""
    times = drains(make(AFTER))
    assert times != low
    return times


def write_sweep(folder, aim):
    """Write a policy file and a sweep that names it."""
    (folder / "mine.py").write_text(FILE.format(aim))
    (folder / "sweep.yaml").write_text(
        yaml.safe_dump({**SWEEP, "seeds": 2, "policy": {"placement": f"{folder / 'mine.py'}:Mine"}})
    )


def test_an_edited_policy_file_is_run_anew_in_the_same_folder(tmp_path, low, high):
    """The edit changes neither the size nor the time of the file."""
    write_sweep(tmp_path, 0)
    before = wb.run(tmp_path / "sweep.yaml", tmp_path / "out", workers=0).table
    stamp = (tmp_path / "mine.py").stat()
    write_sweep(tmp_path, 40)
    os.utime(tmp_path / "mine.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    after = wb.run(tmp_path / "sweep.yaml", tmp_path / "out", workers=0).table
    assert list(before["drain_cycles"]) == low
    assert list(after["drain_cycles"]) == high
    assert not set(before["run_id"]) & set(after["run_id"])


def test_more_seeds_do_not_mix_two_versions(tmp_path, high):
    write_sweep(tmp_path, 0)
    wb.run(tmp_path / "sweep.yaml", tmp_path / "out", workers=0)
    write_sweep(tmp_path, 40)
    table = wb.run(tmp_path / "sweep.yaml", tmp_path / "out", workers=0, seeds=4).table
    assert list(table["drain_cycles"]) == drains(make(AFTER), seeds=4)
    assert list(table["drain_cycles"])[:2] == high


def test_a_module_that_was_edited_is_not_run_until_it_is_imported_anew(tmp_path, monkeypatch, low, high):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "identity_module.py"
    file.write_text(FILE.format(0))
    import identity_module

    before = wb.run({**SWEEP, "seeds": 2, "policy": {"placement": identity_module.Mine()}}, workers=0).table
    file.write_text(FILE.format(40))
    with pytest.raises(WorkbenchError, match=r"identity_module\.py was edited since this process imported it"):
        wb.run({**SWEEP, "seeds": 2, "policy": {"placement": identity_module.Mine()}}, workers=0)
    del sys.modules["identity_module"]
    import identity_module as again

    after = wb.run({**SWEEP, "seeds": 2, "policy": {"placement": again.Mine()}}, workers=0).table
    assert list(before["drain_cycles"]) == low
    assert list(after["drain_cycles"]) == high
    assert not set(before["run_id"]) & set(after["run_id"])


@pytest.mark.parametrize("given", [lambda cls: cls, lambda cls: cls()], ids=["classes", "policies"])
def test_two_classes_of_one_name_are_two_points_and_told_apart(given, low, high):
    both = [given(make(BEFORE)), given(make(AFTER))]
    results = wb.run({**SWEEP, "seeds": 2, "policy": {"placement": {"vary": both}}}, workers=0)
    assert len(results.points) == 2
    labels = [point.coordinates["policy.placement"] for point in results.points]
    assert len(set(labels)) == 2
    assert all(label.startswith("mine#") for label in labels)
    assert [list(results.values(point, "drain_cycles").values()) for point in results.points] == [low, high]


def test_two_files_with_a_class_of_one_name_are_two_points(tmp_path, low, high):
    for name, aim in (("one.py", 0), ("two.py", 40)):
        (tmp_path / name).write_text(FILE.format(aim))
    both = [f"{tmp_path / name}:Mine" for name in ("one.py", "two.py")]
    results = wb.run({**SWEEP, "seeds": 2, "policy": {"placement": {"vary": both}}}, workers=0)
    assert [list(results.values(point, "drain_cycles").values()) for point in results.points] == [low, high]


def planned(placement, store):
    """Return the plan of a policy, and what runs it."""
    plan = make_plan(read_sweep({**SWEEP, "seeds": 2, "policy": {"placement": placement}}))
    return plan, lambda: run_missing(plan, store, workers=0)


def test_what_changes_between_plan_and_run_is_refused_by_name():
    with edited(Case("constant", policy("AIM", "AIM = 0"), "AIM = 40")) as here:
        store = Store(None)
        plan, go = planned(here.policy, store)
        here.edit()
        go()
        rows = list(store.kept())
        assert {row.status for row in rows} == {"failed"}
        assert "mine: its code, or something it refers to, is not what it was when" in rows[0].error
        with pytest.raises(WorkbenchError, match="when this run was planned"):
            gather(plan, store).record(rows[0].id)


def test_what_changes_during_a_run_is_refused_by_name():
    within = "seen = []\ndef parameters(self):\n    self.seen.append(1)\n    return np.array([0.0])"
    with edited(Case("list", policy("0", within=within))) as here:
        store = Store(None)
        planned(here.policy, store)[1]()
        errors = [row.error for row in store.kept()]
        begun = [error for error in errors if "mine: something it refers to changed while this run went on" in error]
        assert (len(begun), len(errors)) == (1, 2)  # rows are in the order of their ids


def test_a_name_that_has_no_digest_is_one_sentence():
    case = Case("file", policy("0", "LOG = open('/dev/null')", "def parameters(self):\n    print(LOG)"))
    sentence = r"Mine\.parameters reads LOG, an open file: no run can be named by it"
    with edited(case) as here, pytest.raises(WorkbenchError, match=sentence):
        planned(here.policy, Store(None))
