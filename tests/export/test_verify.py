"""Verify: a bundle is true to the last bit, or the first thing that is not is named."""

import json
import shutil

import pytest

import workbench as wb
from tests.export.small import runs
from tests.tuning.small import FailsWhenWide
from workbench.errors import InputError
from workbench.export.verify import verify


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return runs().export(tmp_path_factory.mktemp("whole") / "paper")


@pytest.fixture
def bundle(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "paper")


def edit(folder, old, new, name="runs.csv"):
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))


def test_an_untouched_bundle_is_true(bundle):
    report = verify(bundle, sample=0)
    assert report.same
    assert len(report.checked) == report.runs == 24
    assert report.sentence == (
        f"24 of 24 runs done again gave the same bits (24 are behind {bundle}); "
        "8 files computed from them, 0 pictures drawn."
    )
    assert report.lines == []
    assert [*report.by_digest] == ["provenance.json"]


def test_a_sample_is_drawn_anew_for_each_seed_and_the_same_for_one(bundle):
    first = verify(bundle, sample=5).checked
    assert len(first) == len(set(first)) == 5
    assert first == verify(bundle, sample=5).checked != verify(bundle, sample=5, seed=1).checked
    assert len(verify(bundle, sample=100).checked) == 24


def test_the_last_bit_of_a_value_counts(bundle):
    import math

    line = (bundle / "runs.csv").read_text().splitlines()[1].split(",")
    value = next(text for text in line[6:] if "." in text and float(text) not in (0.0, 1.0) and float(text) % 1)
    near = repr(math.nextafter(float(value), math.inf))
    edit(bundle, value, near)
    report = verify(bundle, sample=0)
    assert not report.same
    (one,) = report.differences
    assert one.run_id == line[0]
    assert f"was {near} and is {value}" in one.what
    assert report.edited == ["runs.csv"]
    assert "23 of 24 runs done again gave the same bits" in report.sentence
    assert f"run {line[0]}, seed {one.seed} of {one.policy}: {one.what}" in report.lines


def test_a_run_that_is_said_to_have_failed_and_does_not_is_found(bundle):
    edit(bundle, ",done,,", ",failed,the worker died.,")
    (one,) = verify(bundle, sample=0).differences
    assert "was failed 'the worker died.' and is done" in one.what


def test_an_edited_number_is_found_and_an_edited_paper_is_not_blamed(bundle):
    (bundle / "main.tex").write_text("my paper")
    assert verify(bundle).same
    edit(bundle, "\\pm", "\\mp", "tables/drain_cycles.tex")
    report = verify(bundle)
    assert not report.same
    assert report.edited == ["tables/drain_cycles.tex"]
    assert report.differences == []
    (bundle / "numbers.tex").unlink()
    assert verify(bundle).edited == ["numbers.tex", "tables/drain_cycles.tex"]


def test_another_setup_is_found(bundle):
    edit(bundle, "tie: high", "tie: low", "sweep.yaml")
    report = verify(bundle, sample=0)
    assert len(report.differences) == 12
    assert report.differences[0].what.startswith("its setup is not what it was")


def test_another_engine_is_found(bundle, monkeypatch):
    from workbench.engines.shared_memory import SharedMemory

    monkeypatch.setattr(SharedMemory, "revision", SharedMemory.revision + 1)
    report = verify(bundle)
    assert len(report.differences) == 10
    assert "was at revision" in report.differences[0].what


def test_another_result_is_found(bundle, monkeypatch):
    from workbench.runs import execution

    real = execution._execute_run

    def other(each, task):
        row = real(each, task)
        return row._replace(measures={**row.measures, "drain_cycles": row.measures["drain_cycles"] + 1})

    monkeypatch.setattr(execution, "_execute_run", other)
    assert len(verify(bundle, sample=3).differences) == 3


def test_the_bundle_alone_is_enough(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    (work / "jobs.csv").write_text("arrival,length,duration\n" + "0,3,5\n" * 9)
    (work / "lowest.py").write_text(
        "from workbench.policies.placement import Placement\nfrom workbench.structures.bitmaps import first_start\n\n\n"
        "class Lowest(Placement):\n    def answer(see):\n"
        "        return first_start(see.free, see.length, 0)\n"
    )
    (work / "sweep.yaml").write_text(
        "engine: shared_memory\nmachine: {segments: 16}\nworkload: {vary: [{file: jobs.csv}, small_uniform]}\n"
        "policy: {placement: {vary: [first_fit, 'lowest.py:Lowest']}}\nbaseline: {placement: first_fit}\n"
        "measures: [drain_cycles]\n"
    )
    bundle = wb.run(work / "sweep.yaml").export(tmp_path / "paper")
    shutil.rmtree(work)
    moved = tmp_path / "elsewhere" / "paper"
    moved.parent.mkdir()
    bundle.rename(moved)
    assert verify(moved, sample=0).same
    (moved / "inputs" / "lowest.py").write_text((moved / "inputs" / "lowest.py").read_text() + "\n    tie = 'low'\n")
    changed = verify(moved, sample=0)
    assert changed.edited == ["inputs/lowest.py"]


def test_a_policy_of_a_notebook_has_to_be_there(tmp_path):
    from workbench.policies import policy as room

    bundle = runs(policy={"placement": {"vary": ["first_fit", FailsWhenWide]}}).export(tmp_path / "paper")
    assert verify(bundle).same
    taken = room._CATALOGUE["placement"].pop("fails_when_wide")
    try:
        report = verify(bundle, sample=0)
        missing = [one for one in report.differences if "unknown placement policy 'fails_when_wide'" in one.what]
        assert len(missing) == len(report.differences) == 12
        assert {one.policy for one in missing if one.policy.endswith("fails_when_wide")} == {o.policy for o in missing}
        assert not report.changes and not report.same
        edit(bundle, "\\pm", "\\mp", "tables/drain_cycles.tex")
        assert [one.file for one in verify(bundle).changes] == ["tables/drain_cycles.tex"]
    finally:
        room._CATALOGUE["placement"]["fails_when_wide"] = taken


def test_what_is_no_bundle_is_one_sentence(bundle, tmp_path):
    with pytest.raises(InputError, match="is no bundle that `workbench export` wrote"):
        verify(tmp_path)
    with pytest.raises(InputError, match="sample must be a whole number of at least 0"):
        verify(bundle, sample=-1)
    (bundle / "runs.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="is no table of runs"):
        verify(bundle)
    content = json.loads((bundle / "manifest.json").read_text())
    (bundle / "manifest.json").write_text(json.dumps({**content, "format": 99}))
    with pytest.raises(InputError, match="is a bundle of format 99; this version reads 2 to 3"):
        verify(bundle)
