"""No artefact holds the folder in which it was made, and every name of a point is the same wherever it is read."""

import re
import shutil
import zlib
from pathlib import Path

import pandas as pd
import pytest

import workbench as wb
from tests.export.test_own_parts import FIGURE
from tests.notebooks.test_batch import finished, written
from workbench.experiments.designs.draw import draw
from workbench.experiments.plan import make_plan
from workbench.experiments.results import Results
from workbench.experiments.results_folder import SWEEP
from workbench.experiments.sweep import read_sweep
from workbench.export.verify import verify
from workbench.figures.registry import FIGURES
from workbench.mechanisms.measures import measures_of
from workbench.notebooks.notebook_file import read_notebook
from workbench.notebooks.report import HtmlReport
from workbench.notebooks.tasks import plan_tasks
from workbench.runs.origin import environment

POLICY = """
from workbench import lever
from workbench.policies import Placement
from workbench.structures.bitmaps import first_start


class Deep(Placement):
    depth: int = lever(4, least=1, most=64, description="how deep")

    def answer(see):
        return first_start(see.free, see.length, see.levers.depth{and_more})
"""
MEASURE = """
import workbench as wb


@wb.measure(unit="segments", better="lower", description="the mean request")
def slack(record):
    return record.length.mean() / 3
"""
JOBS = "arrival,length,duration\n" + "0,{},5\n" * 9
SWEEP_TEXT = """
engine: shared_memory
machine: {segments: 64}
workload: {file: {vary: [a/jobs.csv, b/jobs.csv]}}
policy:
  placement:
    vary:
    - first_fit
    - 'deep.py:Deep': {depth: {vary: [2, 8]}}
    - 'other.py:Deep': {depth: {vary: [2, 8]}}
    - 'b/other.py:Deep': {depth: {vary: [2, 8]}}
baseline: {placement: first_fit}
measures: [drain_cycles, 'mine.py:slack']
figures: ['drawn.py:slack_bars']
"""
STUDY_TEXT = """
engine: shared_memory
machine: {segments: 64}
workload: {regime: bimodal, count: 20}
policy: {placement: {tune: [first_fit, {'deep.py:Deep': {depth: {tune: {most: 8}}}}]}}
baseline: {placement: first_fit}
objectives: [drain_cycles, 'mine.py:slack']
sampler: {random: {seed: 1}}
trials: 3
holdout_seeds: 2
"""


@pytest.fixture(autouse=True)
def _nothing_stays():
    yield
    _forget()


def _forget():
    measures_of("shared_memory").clear()
    FIGURES.pop("slack_bars", None)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with the user's files and all that is made of them: results, a bundle, a study."""
    folder = tmp_path_factory.mktemp("where_it_was_made")
    texts = {
        "deep.py": POLICY.format(and_more=""),
        "other.py": POLICY.format(and_more=" + 1"),
        "b/other.py": POLICY.format(and_more=" + 2"),
        "mine.py": MEASURE,
        "drawn.py": FIGURE,
        "a/jobs.csv": JOBS.replace("{}", "3"),
        "b/jobs.csv": JOBS.replace("{}", "5"),
        "sweep.yaml": SWEEP_TEXT,
        "study.yaml": STUDY_TEXT,
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.figures.plot_style.tex_system", lambda: None)
        wb.run(folder / "sweep.yaml", folder / "results", workers=0).export(folder / "paper")
        wb.open_results(folder / "results").export(folder / "reopened")
        wb.tune(folder / "study.yaml", folder / "study", workers=0)
        noted(folder)
    _forget()
    return folder


def noted(folder: Path) -> None:
    """Write the index of a batch of notebooks over the points of the sweep, as if its notebooks had run."""
    path = written(folder, parameters="placement = ''\nfile = ''\nsweep = {}")
    tasks = plan_tasks([(read_notebook(path), {})], folder / "results" / "sweep.yaml")
    (folder / "index").mkdir()
    index = HtmlReport(folder / "index", tasks, environment())
    for task in tasks:
        index.add(finished(folder / "index", task))
    index.write()


def holding(folder: Path, needle: bytes) -> list[str]:
    """Return the files below a folder that hold some bytes, compressed or not."""
    return [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(needle in data for data in contents(path))
    ]


def contents(path: Path) -> list[bytes]:
    """Return the bytes of a file as they are, and decompressed where it is a table or a picture."""
    data = path.read_bytes()
    if path.suffix == ".parquet":
        return [data, pd.read_parquet(path).to_csv().encode()]
    streams = [part.partition(b"endstream")[0].strip(b"\r\n") for part in data.split(b"stream")[1:]]
    return [data, *(zlib.decompressobj().decompress(one) for one in streams if one[:1] == b"\x78")]


@pytest.mark.parametrize(
    ("artefact", "resolved"),
    [("results", [SWEEP]), ("paper", []), ("reopened", []), ("study", [f"report/{SWEEP}", SWEEP]), ("index", [])],
)
def test_no_artefact_holds_the_folder_in_which_it_was_made(made, artefact, resolved):
    """`sweep.yaml` of a results folder alone names the user's files by their place, to be run again."""
    assert holding(made / artefact, str(made).encode()) == resolved


def test_the_columns_of_every_table_are_the_same_and_name_no_file(made):
    """Three classes `Deep`, two of them of files of one name, and two traces of one name, are four columns."""
    tables = [wb.open_results(made / "results").table, pd.read_parquet(made / "results" / "results.parquet")]
    bundled = [make_plan(read_sweep(made / name / SWEEP)) for name in ("paper", "reopened")]
    first, *others = [list(table.columns[4:-2]) for table in tables] + [Results(one, ()).varied for one in bundled]
    assert all(other == first for other in others)
    assert first[:2] == ["policy.placement", "workload.file"]
    names = r"policy\.placement\.deep@(deep|other#[0-9a-f]{4}|other#[0-9a-f]{4})\.depth"
    assert len(set(first)) == 5 and all(re.fullmatch(names, name) for name in first[2:])
    assert all(re.fullmatch(r"jobs\.csv#[0-9a-f]{4}", name) for name in {*tables[0]["workload.file"]})
    assert tables[0].equals(tables[1]) and tables[0]["workload.file"].nunique() == 2


@pytest.mark.parametrize("bundle", ["paper", "reopened"])
def test_a_bundle_that_varies_levers_of_the_users_files_verifies_elsewhere(made, tmp_path, bundle):
    shutil.copytree(made / bundle, tmp_path / "moved")
    report = verify(tmp_path / "moved", sample=0)
    assert report.same, report.lines
    assert report.sentence.startswith("14 of 14 runs done again gave the same bits")


def test_a_study_is_tuned_on_and_its_points_are_run_from_its_own_files(made):
    copy = made / "again"
    copy.mkdir()
    (copy / "study.yaml").write_text((made / "study" / "study.yaml").read_text())
    assert len(wb.tune(copy / "study.yaml", made / "study", workers=0).trials) == 3
    front = [made / "study" / "best.yaml", *(made / "study" / "front").iterdir()]
    assert len(front) > 1 and all(make_plan(read_sweep(path)).points for path in front)


def test_one_class_of_a_name_is_called_by_its_name_alone(tmp_path):
    (tmp_path / "deep.py").write_text(POLICY.format(and_more=""))
    sweep = {
        "engine": "shared_memory",
        "workload": {"regime": "bimodal", "count": 9},
        "policy": {"placement": {f"{tmp_path}/deep.py:Deep": {"depth": {"vary": [2, 8]}}}},
        "design": {"random": 4},
    }
    ranged = {f"{tmp_path}/deep.py:Deep": {"depth": {"vary": {"from": 1, "to": 60}}}}
    drawn = draw(read_sweep({**sweep, "policy": {"placement": ranged}}))
    assert [axis.path for axis in drawn.axes] == ["policy.placement.deep.depth"]
    plan = make_plan(read_sweep({key: value for key, value in sweep.items() if key != "design"}))
    assert [point.coordinates for point in plan.points] == [{"policy.placement.deep.depth": depth} for depth in (2, 8)]
