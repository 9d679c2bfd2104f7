"""A batch of notebooks: parameters checked first, outputs whole and named by their parameters, finished ones kept."""

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import papermill
import pytest

from tests.waiting import wait_until
from workbench.cli._notebook import choices_of
from workbench.cli.main import main
from workbench.errors import InputError, MissingPart, StoreError
from workbench.notebooks import run_notebooks
from workbench.notebooks.execution import Ended, settled
from workbench.notebooks.notebook_file import read_notebook
from workbench.notebooks.output_names import output_name, short_names
from workbench.notebooks.tasks import plan_tasks, read_batch

SWEEP = {
    "engine": "shared_memory",
    "machine": {"segments": {"vary": [32, 64]}},
    "workload": {"regime": "small_uniform", "count": 20},
    "policy": {"placement": {"vary": ["first_fit", {"nearest_boundary": {"tie": "high"}}]}},
    "seeds": 2,
}


def written(folder, *cells, name="study.ipynb", parameters="segments = 8\nplacement = 'best_fit'", kernel="python3"):
    """A notebook of code cells, the first one its parameters."""
    node = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}
    )
    if parameters is not None:
        node.cells.append(nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}))
    node.cells += [nbformat.v4.new_code_cell(cell) for cell in cells]
    nbformat.write(node, folder / name)
    return folder / name


def texts(path):
    """What the cells of an output printed."""
    cells = nbformat.read(path, as_version=4).cells
    return "".join(out.text for cell in cells for out in cell.get("outputs", []) if out.output_type == "stream")


def tasks_of(*paths, sweep=None, **chosen):
    return plan_tasks([(read_notebook(path), chosen) for path in paths], sweep)


def planned(path, sweep=None, **chosen):
    return [task.parameters for task in tasks_of(path, sweep=sweep, **chosen)]


def finished(folder, task, error="", cells=()):
    """Put the output of a task into a folder, as if its notebook had run for 1.5 seconds."""
    folder.mkdir(exist_ok=True)
    partial = folder / ".partial.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells)), partial)
    return settled(Ended(task, partial, 1.5, 2 if error else 0, error), folder, {"sources": "5e"})


def names_in(folder):
    """The names of the files in a folder, but its own marks."""
    return sorted(
        path.name for path in folder.iterdir() if path.is_file() and path.name not in (".own.json", "driver.lock")
    )


def rows_in(folder):
    with open(folder / "index.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_a_sweep_gives_each_point_its_parameters(tmp_path):
    path = written(tmp_path)
    tie = {"nearest_boundary": {"tie": "high"}}
    assert planned(path, SWEEP) == [
        {"segments": 32, "placement": "first_fit"},
        {"segments": 32, "placement": tie},
        {"segments": 64, "placement": "first_fit"},
        {"segments": 64, "placement": tie},
    ]


def test_a_notebook_that_asks_for_it_gets_the_point_as_a_sweep(tmp_path):
    path = written(tmp_path, parameters="segments = 8\nplacement = ''\nsweep = {}\nseeds = 1\npoint_id = ''")
    first = planned(path, SWEEP)[0]
    assert first["sweep"]["machine"] == {"segments": 32}
    assert first["seeds"] == {"first": 0, "count": 2}
    import workbench as wb

    assert wb.plan(first["sweep"]).points[0].id == first["point_id"]


def test_its_own_parameters_vary_alone_together_and_beside_a_sweep(tmp_path):
    path = written(tmp_path)
    given = {"segments": {"vary": [1, 2]}, "placement": {"vary": ["a", "b"]}}
    assert planned(path, **given) == [
        {"segments": 1, "placement": "a"},
        {"segments": 1, "placement": "b"},
        {"segments": 2, "placement": "a"},
        {"segments": 2, "placement": "b"},
    ]
    zipped = {name: {**choices, "zip": "z"} for name, choices in given.items()}
    assert planned(path, **zipped) == [{"segments": 1, "placement": "a"}, {"segments": 2, "placement": "b"}]
    assert planned(path, segments=5) == [{"segments": 5}]
    assert planned(path) == [{}]
    path = written(tmp_path, parameters="segments = 8\nplacement = ''\nguess = 0.5")
    assert [task["guess"] for task in planned(path, SWEEP, guess={"vary": [0, 1]})] == [0, 1] * 4


def test_what_vary_says_on_the_command_line_is_read_as_yaml():
    assert choices_of("seeds=5,10") == ("seeds", {"vary": [5, 10]})
    assert choices_of("a=0.5,true,x,'5',../b.yaml")[1] == {"vary": [0.5, True, "x", "5", "../b.yaml"]}
    assert choices_of("p={nearest_boundary: {tie: high}},x")[1] == {
        "vary": [{"nearest_boundary": {"tie": "high"}}, "x"]
    }
    assert choices_of("sizes=[1, 2],[3]")[1] == {"vary": [[1, 2], [3]]}
    for text in ("seeds", "seeds=", "=5"):
        with pytest.raises(InputError, match=r"--vary takes NAME=VALUE,VALUE,\.\.\., such as seeds=5,10\. Got "):
            choices_of(text)


def test_outputs_are_called_after_their_parameters(tmp_path):
    path = written(tmp_path, name="00_start_here.ipynb")
    names = [task.name for task in tasks_of(path, segments={"vary": [5, 10]}, placement="best_fit")]
    assert names == ["00_start_here-segments-5-placement-best_fit", "00_start_here-segments-10-placement-best_fit"]
    assert [task.name for task in tasks_of(path)] == ["00_start_here"]


HOSTILE = [
    "a/b", "a_b", "a:b", "a b", "../../etc/passwd", "..", "", " ", "5", "5.0", "true", "null", "~", "ä", "é", "\n",
    "\0", "x" * 300, "x" * 301, "-", "--", "a" * 40, "a" * 41, "2024-01-05", "0x10", "1_000", "1e3", "failed",
    "a.failed",
]  # fmt: skip


def test_values_that_no_file_can_be_called_after_have_names_without_collisions(tmp_path):
    values = [*HOSTILE, 5, 5.0, 1000.0, 16, True, None, -1, [], [1], {}, {"a": 1}, {"a": [1]}]
    names = [output_name("study", {"x": value}) for value in values]
    assert len({*names}) == len(values)
    for name in names:
        assert (tmp_path / f".{name}.partial.ipynb").parent == tmp_path
        (tmp_path / f".{name}.partial.ipynb").touch()
    assert len(list(tmp_path.iterdir())) == len(values)
    assert output_name("study", {"x": 5}) == "study-x-5"
    assert output_name("study", {"x": "5"}).startswith("study-x-5~")
    many = [output_name("study", {f"long_name_{k}": "v" * 30 for k in range(9)} | {"last": last}) for last in (1, 2)]
    assert len({*many}) == 2 and max(map(len, many)) < 190


def test_names_differ_where_capital_letters_or_dashes_would_make_them_the_same(tmp_path):
    path = written(tmp_path, parameters="a = ''\nb = ''")
    names = [task.name for task in tasks_of(path, a={"vary": ["X", "x", "y"]})]
    assert [name.split("~")[0] for name in names] == ["study-a-X", "study-a-x", "study-a-y"]
    assert [("~" in name) for name in names] == [True, True, False]
    written(tmp_path, name="study-a-y.ipynb")
    pair = plan_tasks([(read_notebook(path), {"a": "y"}), (read_notebook(tmp_path / "study-a-y.ipynb"), {})])
    assert len({task.name for task in pair}) == 2
    written(tmp_path, name="study-a-y.failed.ipynb")
    pair = plan_tasks([(read_notebook(path), {"a": "y"}), (read_notebook(tmp_path / "study-a-y.failed.ipynb"), {})])
    assert all("~" in task.name for task in pair)  # one's failed output would be the other's


def test_two_notebooks_of_one_name_are_refused(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder, "1")
    with pytest.raises(InputError, match=r"a/study\.ipynb and .*b/study\.ipynb have the same name, after which"):
        run_notebooks([tmp_path / "a" / "study.ipynb", tmp_path / "b" / "study.ipynb"], out=tmp_path / "out")


@pytest.mark.parametrize(
    ("default", "value", "sentence"),
    [
        ("20", "many", "must be a whole number, as in the notebook (20). Got 'many'."),
        ("20", 5.5, "must be a whole number, as in the notebook (20). Got 5.5."),
        ("20", True, "must be a whole number, as in the notebook (20). Got True."),
        ("20", [1], "must be a whole number, as in the notebook (20). Got [1]."),
        ("20", {"first": 0}, "must be a whole number, as in the notebook (20). Got {'first': 0}."),
        ("0.5", "half", "must be a number, as in the notebook (0.5). Got 'half'."),
        ("True", 1, "must be true or false, as in the notebook (True). Got 1."),
        ("'best_fit'", 5, "must be a text, as in the notebook ('best_fit'). Got 5. Nearest: \"5\"."),
        ("[1, 2]", 3, "must be a list, as in the notebook ([1, 2]). Got 3."),
        ("{'a': 1}", 3, "must be a mapping, as in the notebook ({'a': 1}). Got 3."),
    ],
)
def test_a_value_of_another_type_than_the_notebook_s_is_one_sentence(tmp_path, default, value, sentence):
    path = written(tmp_path, parameters=f"it = {default}")
    with pytest.raises(InputError) as refused:
        planned(path, it={"vary": [value]})
    assert str(refused.value) == f"{path}: it {sentence}"


def test_a_value_of_the_same_type_or_without_a_default_to_compare_with_is_taken(tmp_path):
    path = written(tmp_path, parameters="a = 1\nb = 0.5\nc = 'x'\nd = None\ne = dict(a=1)\nf = (1, 2)\ng = -1")
    given = {"a": 2, "b": 3, "c": {"nearest_boundary": {"tie": "high"}}, "d": "any", "e": 3, "f": [4], "g": -2}
    assert planned(path, **given) == [given]


def test_overrides_of_the_sweep_go_to_the_sweep(tmp_path):
    path = written(tmp_path, parameters="segments = 8\nplacement = ''\nshow = False")
    result = planned(path, SWEEP, **{"machine.segments": {"vary": [16]}, "show": True})
    assert result[0] == {"segments": 16, "placement": "first_fit", "show": True}
    assert len(result) == 2


def test_a_choice_within_a_choice_travels_in_the_outer_one(tmp_path):
    path = written(tmp_path, parameters="queue = 0")
    inner = {"fifo_lookahead": {"k": {"vary": [1, 2]}}}
    sweep = {"engine": "shared_memory", "workload": "bimodal", "policy": {"queue": {"vary": ["fifo_head_only", inner]}}}
    assert [one["queue"] for one in planned(path, sweep)] == [
        "fifo_head_only",
        {"fifo_lookahead": {"k": 1}},
        {"fifo_lookahead": {"k": 2}},
    ]


def test_names_of_parameters_are_different():
    names = short_names(["workload.size.uniform[0]", "workload.size.uniform[1]", "a.k", "b.k", "machine.segments"])
    assert list(names.values()) == ["uniform_0", "uniform_1", "a_k", "b_k", "segments"]


def test_names_that_papermill_overlooks_are_parameters_too(tmp_path):
    path = written(tmp_path, parameters="law = dict(low=1, high=2)\nwide: int = 3  # how wide\ntable = {\n 'a': 1,\n}")
    assert read_notebook(path).parameters == ["wide", "table", "law"]


@pytest.mark.parametrize(
    ("sweep", "chosen", "sentence"),
    [
        (None, {"segmnts": 3}, "unknown parameter 'segmnts'; there are placement, segments. Did you mean segments?"),
        (None, {"segments": {"vary": []}}, "segments.vary must be a list of at least one choice. Got []."),
        ({"engine": "shared_memory", "workload": "bimodal", "options": {"latency_cycles": {"vary": [0, 1]}}}, {},
         "unknown parameter 'latency_cycles'; there are placement, segments."),
        ({"engine": "shared_memory", "workload": "bimodl"}, {}, "Did you mean bimodal?"),
        ("no_such.yaml", {}, "no_such.yaml: cannot be read"),
    ],
)  # fmt: skip
def test_a_parameter_that_is_not_known_is_one_sentence_and_nothing_runs(tmp_path, sweep, chosen, sentence):
    path = written(tmp_path, "raise SystemExit(3)")
    with pytest.raises(InputError) as refused:
        run_notebooks(path, chosen, sweep, tmp_path / "out")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_notebook_without_parameters_is_refused_when_it_gets_some(tmp_path):
    path = written(tmp_path, "1", parameters=None)
    fixed = {"engine": "shared_memory", "workload": "bimodal"}
    for sweep, chosen in ((SWEEP, {}), (fixed, {}), (None, {"a": 1})):
        with pytest.raises(
            InputError, match='has no parameters cell; tag the cell that holds the defaults with "param'
        ):
            run_notebooks(path, chosen, sweep, tmp_path / "out")
    assert planned(path) == [{}]


def test_what_is_no_notebook_is_one_sentence(tmp_path):
    (tmp_path / "text.ipynb").write_text("hello")
    (tmp_path / "list.ipynb").write_text("[1]")
    for name in ("text.ipynb", "list.ipynb"):
        with pytest.raises(InputError, match=f"{name}: is no notebook"):
            run_notebooks(tmp_path / name)
    with pytest.raises(InputError, match=r"needs the kernel 'fortran'; installed are .*python3"):
        run_notebooks(written(tmp_path, kernel="fortran"))
    bare = nbformat.v4.new_notebook()
    nbformat.write(bare, tmp_path / "bare.ipynb")
    with pytest.raises(InputError, match=r"bare.ipynb: names no kernel; open it in JupyterLab"):
        run_notebooks(tmp_path / "bare.ipynb")


@pytest.mark.slow
def test_a_batch_runs_once_keeps_what_is_finished_and_names_the_failing_cell(tmp_path, capfd):
    (tmp_path / "beside.txt").write_text("beside")
    path = written(
        tmp_path,
        "print(open('beside.txt').read(), segments)\nimport workbench as wb\nwb.headline(twice=2 * segments)",
        "assert segments < 9, 'too wide'\nprint('not', 'reached')",
        parameters="segments = 8",
    )
    seen, choices = [], {"segments": {"vary": [4, 40]}}
    batch = run_notebooks(path, choices, out=tmp_path / "out {x}", workers=2, progress=seen.append)
    out = batch.folder
    assert sorted(run.task.name for run in seen) == ["study-segments-4", "study-segments-40"]
    assert [run.status for run in batch.runs] == ["done", "failed"]
    done, failed = batch.runs
    assert "beside 4" in texts(done.output)
    assert names_in(out) == ["index.csv", "index.html", "study-segments-4.ipynb", "study-segments-40.failed.ipynb"]
    assert (failed.cell, failed.error) == (3, "assert segments < 9, 'too wide': AssertionError: too wide")
    mark = nbformat.read(done.output, as_version=4).metadata["workbench"]
    assert mark["run_id"] == done.task.id
    assert mark["parameters"] == {"segments": 4}
    assert mark["packages"]["numpy"]
    assert mark["commit"]
    assert [[row[name] for name in ("segments", "twice", "status", "cell")] for row in rows_in(out)] == [
        ["4", "8", "done", ""],
        ["40", "80", "failed", "3"],
    ]

    assert capfd.readouterr() == ("", "")

    before = done.output.stat().st_mtime_ns
    again = run_notebooks(path, choices, out=out)
    assert [run.status for run in again.runs] == ["kept", "failed"]
    assert done.output.stat().st_mtime_ns == before
    assert again.table[["segments", "twice"]].values.tolist() == [[4, 8], [40, 80]]
    assert again.runs[0].seconds == pytest.approx(done.seconds, abs=0.001)
    assert names_in(out / "pages") == ["study-segments-4.html", "study-segments-40.html"]
    assert "2 runs: 1 done, 1 failed, 0 not run." in (out / "index.html").read_text()
    assert "beside 4" in (out / "pages" / "study-segments-4.html").read_text()
    assert "too wide" in (out / "pages" / "study-segments-40.html").read_text()
    assert names_in(out) == ["index.csv", "index.html", "study-segments-4.ipynb", "study-segments-40.failed.ipynb"]


@pytest.mark.slow
def test_a_kernel_that_dies_costs_one_notebook(tmp_path):
    path = written(tmp_path, "import os\nos.kill(os.getpid(), 9) if segments > 4 else None", parameters="segments = 8")
    batch = run_notebooks(path, {"segments": {"vary": [5, 4]}}, out=tmp_path / "out")
    assert [run.status for run in batch.runs] == ["failed", "done"]
    assert batch.failures[0].error == "the kernel died"


def test_a_kernel_that_does_not_start_is_a_failure_too(tmp_path, monkeypatch):
    kernel = tmp_path / "share" / "kernels" / "stillborn"
    kernel.mkdir(parents=True)
    config = {"argv": ["false", "{connection_file}"], "display_name": "stillborn", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(config))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
    run = run_notebooks(written(tmp_path, kernel="stillborn"), out=tmp_path / "out").runs[0]
    assert (run.status, run.cell) == ("failed", 0)
    assert run.error.startswith("the kernel did not start: ")
    assert nbformat.read(run.output, as_version=4).metadata["workbench"]["error"] == run.error


def test_a_kernel_that_does_not_answer_costs_one_notebook_and_the_folder_is_not_blamed(tmp_path, monkeypatch):
    path, real = written(tmp_path), papermill.execute_notebook

    def no_answer(*given, **more):
        real(*given, prepare_only=True, **more)
        raise TimeoutError

    monkeypatch.setattr(papermill, "execute_notebook", no_answer)
    (run,) = run_notebooks(path, out=tmp_path / "out").runs
    assert (run.status, run.cell, run.error) == ("failed", 0, "the kernel did not answer in time")


@pytest.mark.slow
def test_widgets_are_not_stored(tmp_path):
    path = written(tmp_path, "import ipywidgets\nipywidgets.IntSlider()", parameters=None)
    run = run_notebooks(path, out=tmp_path / "out").runs[0]
    assert "widgets" not in nbformat.read(run.output, as_version=4).metadata
    assert os.path.getsize(run.output) < 10_000


def test_an_edited_notebook_is_another_run_and_an_executed_one_is_not(tmp_path):
    path = written(tmp_path, "1")
    first = tasks_of(path)[0].id
    node = nbformat.read(path, as_version=4)
    node.cells[-1].outputs = [nbformat.v4.new_output("stream", text="hello")]
    node.cells[-1].execution_count = 7
    nbformat.write(node, path)
    assert tasks_of(path)[0].id == first
    assert tasks_of(written(tmp_path, "2"))[0].id != first


def test_what_is_finished_is_kept_until_cells_parameters_files_that_they_name_modules_or_sources_change(
    tmp_path, monkeypatch
):
    (tmp_path / "helper.py").write_text("import deeper\nX = 1\n")
    (tmp_path / "deeper.py").write_text("Y = 1\n")
    (tmp_path / "unrelated.py").write_text("Z = 1\n")
    (tmp_path / "question.yaml").write_text("seeds: 1\n")
    cells = ("%matplotlib inline\nfrom helper import X", "1")
    path = written(tmp_path, *cells, parameters="question = 'question.yaml'\npolicies = ['a']\nsegments = 8")
    own = written(tmp_path, *cells, name="other.ipynb", parameters="question = 'none.yaml'")
    (tmp_path / "mine.py").write_text("class Mine: ...\n")

    def ids():
        tasks = tasks_of(path, policies={"vary": [["a"], ["mine.py:Mine"]]})
        return [task.id for task in (*tasks, *tasks_of(own))]

    def changed(before):
        return [one != other for one, other in zip(before, ids())]

    before = ids()
    (tmp_path / "unrelated.py").write_text("Z = 2\n")
    os.utime(tmp_path / "helper.py", (1, 1))
    assert changed(before) == [False, False, False]
    (tmp_path / "mine.py").write_text("class Mine: x = 1\n")
    assert changed(before) == [False, True, False]
    before = ids()
    (tmp_path / "question.yaml").write_text("seeds: 2\n")
    assert changed(before) == [True, True, False]
    before = ids()
    (tmp_path / "deeper.py").write_text("Y = 2\n")
    assert changed(before) == [True, True, True]
    before = ids()
    monkeypatch.setattr("workbench.notebooks.tasks.sources", lambda: "other sources")
    assert changed(before) == [True, True, True]


def test_an_output_that_somebody_edited_is_kept_and_one_that_is_out_of_date_is_never_written_over(tmp_path):
    path, out = written(tmp_path, "1", parameters="segments = 8"), tmp_path / "out"
    (task,) = tasks_of(path, segments=4)
    run = finished(out, task)
    node = nbformat.read(run.output, as_version=4)
    node.cells.append(nbformat.v4.new_markdown_cell("notes of mine"))
    nbformat.write(node, run.output)
    edited = run.output.read_bytes()
    (again,) = run_notebooks(path, {"segments": 4}, out=out).runs
    assert (again.status, again.seconds) == ("edited", 1.5)
    assert rows_in(out)[0]["status"] == "done, edited since"
    index = (out / "index.html").read_bytes()
    written(tmp_path, "raise SystemExit(3)", parameters="segments = 8")
    with pytest.raises(StoreError, match=r"study-segments-4\.ipynb is not as a run has left it, and runs would write"):
        run_notebooks(path, {"segments": 4}, out=out)
    assert run.output.read_bytes() == edited
    assert (out / "index.html").read_bytes() == index


@pytest.mark.parametrize("name", ["study.ipynb", "study.failed.ipynb", "index.html", "index.csv", "pages/study.html"])
def test_a_file_of_the_user_s_in_the_place_of_an_output_is_refused_before_anything_runs(tmp_path, name):
    path, out = written(tmp_path, "open('ran', 'w')", parameters=None), tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).write_text("mine")
    with pytest.raises(StoreError, match=r"is not as a run has left it, and runs would write over it; move it away"):
        run_notebooks(path, out=out)
    assert (out / name).read_text() == "mine"
    assert not (tmp_path / "ran").exists()


def test_a_run_replaces_its_own_failed_output_and_an_older_one_of_its_own(tmp_path):
    path, out = written(tmp_path, "1", parameters="segments = 8"), tmp_path / "out"
    (task,) = tasks_of(path, segments=4)
    assert finished(out, task, error="1: no").output.name == "study-segments-4.failed.ipynb"
    finished(out, task._replace(id="an older one"))
    assert [name for name in names_in(out) if name.endswith("ipynb")] == ["study-segments-4.ipynb"]
    finished(out, task)
    (again,) = run_notebooks(path, {"segments": 4}, out=out).runs
    assert again.status == "kept"


def test_the_index_counts_outputs_of_other_batches_in_its_folder(tmp_path):
    path, out = written(tmp_path, "1", parameters="segments = 8"), tmp_path / "out"
    first, *others = tasks_of(path, segments={"vary": [1, 2, 3]})
    for task in (first, *others):
        finished(out, task)
    run_notebooks(path, {"segments": 1}, out=out)
    assert "2 outputs of other batches lie in this folder too." in (out / "index.html").read_text()
    assert [row["segments"] for row in rows_in(out)] == ["1"]


SLOW = """
from pathlib import Path
from time import sleep
Path(f"began-{segments}").touch()
while segments > 4 and not Path("go").exists():
    sleep(0.1)  # stands for a notebook that takes long
"""


def processes_of(folder):
    """The processes that have a folder as their own."""
    own = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd") == str(folder.resolve()):
                own.append(int(process.name))
        except OSError:
            continue
    return own


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_batch_that_was_killed_leaves_nothing_half_written_and_goes_on_where_it_was(tmp_path, number, status):
    path, out = written(tmp_path, SLOW, parameters="segments = 8"), tmp_path / "out"
    choices = ["--vary", "segments=1,2,5,6,7", "--workers", "2", "--out", str(out)]
    command = [sys.executable, "-m", "workbench", "notebook", str(path), *choices]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as batch:
        wait_until(lambda: (tmp_path / "began-5").exists() and (tmp_path / "began-6").exists(), 600)
        wait_until(lambda: (out / "study-segments-2.ipynb").exists() and "2 done" in (out / "index.html").read_text())
        os.kill(batch.pid, number)
        _, errors = batch.communicate(timeout=60)
    assert batch.returncode == status
    assert ("stopped; finished runs" in errors) == (number != signal.SIGKILL)
    wait_until(lambda: not processes_of(tmp_path), what="kernels notice that their driver is gone")
    visible = [name for name in names_in(out) if not name.startswith(".")]
    assert visible == ["index.csv", "index.html", "study-segments-1.ipynb", "study-segments-2.ipynb"]
    assert "5 runs: 2 done, 0 failed, 3 not run." in (out / "index.html").read_text()
    if number != signal.SIGKILL:
        assert names_in(out) == visible
    before = [(out / f"study-segments-{k}.ipynb").stat().st_mtime_ns for k in (1, 2)]
    (tmp_path / "go").touch()
    again = run_notebooks(path, {"segments": {"vary": [1, 2, 5, 6, 7]}}, out=out, workers=2)
    assert [run.status for run in again.runs] == ["kept", "kept", "done", "done", "done"]
    assert [(out / f"study-segments-{k}.ipynb").stat().st_mtime_ns for k in (1, 2)] == before
    assert names_in(out) == ["index.csv", "index.html", *(f"study-segments-{k}.ipynb" for k in (1, 2, 5, 6, 7))]


def test_a_batch_file_says_the_same_as_the_command(tmp_path):
    written(tmp_path, name="a.ipynb", parameters="seeds = 20\npolicy = 'a'")
    written(tmp_path, name="b.ipynb", parameters="seeds = 20\npolicy = 'a'\nshift = 8")
    (tmp_path / "batch.yaml").write_text(
        "notebooks: {a.ipynb: , b.ipynb: {shift: {vary: [4, 8]}, policy: c}}\n"
        "parameters: {seeds: {vary: [5, 10]}, policy: b}\n"
    )
    batch = read_batch(tmp_path / "batch.yaml")
    requests = [(read_notebook(path), {**batch.parameters, **own}) for path, own in batch.notebooks.items()]
    assert [task.name for task in plan_tasks(requests, batch.sweep)] == [
        "a-seeds-5-policy-b",
        "a-seeds-10-policy-b",
        "b-seeds-5-policy-c-shift-4",
        "b-seeds-5-policy-c-shift-8",
        "b-seeds-10-policy-c-shift-4",
        "b-seeds-10-policy-c-shift-8",
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("notebook: [a.ipynb]", "unknown key 'notebook'; there are notebooks, parameters, sweep. Did you mean no"),
        ("parameters: {a: 1}", "notebooks must be a list of notebooks, or a mapping of each to parameters of its"),
        ("notebooks: []", "or a mapping of each to parameters of its own. Got []."),
        ("notebooks: [no.ipynb]", "no.ipynb: cannot be read (No such file or directory)."),
        ("notebooks: {study.ipynb: 3}", "notebooks.study.ipynb must be a mapping of parameters to values. Got 3."),
        ("notebooks: [study.ipynb]\nparameters: [1]", "parameters must be a mapping of parameters to values. Got [1]."),
        ("notebooks: [study.ipynb]\nparameters: {segmnts: 1}", "unknown parameter 'segmnts'; there are placement, "),
        ("notebooks: [study.ipynb]\nsweep: 3", "sweep must be a path. Got 3."),
    ],
)  # fmt: skip
def test_a_batch_file_that_is_wrong_is_one_sentence_and_nothing_runs(tmp_path, monkeypatch, capsys, text, sentence):
    written(tmp_path, "raise SystemExit(3)")
    (tmp_path / "batch.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["notebook", "batch.yaml"]) == 2
    line = capsys.readouterr().err
    assert sentence in line and line.count("\n") == 1
    assert not (tmp_path / "results").exists()


def test_a_batch_file_stands_alone_and_a_batch_needs_a_notebook_and_a_worker(tmp_path):
    (tmp_path / "batch.yaml").write_text("notebooks: [a.ipynb]")
    for notebooks, workers, sentence in (
        (["a.ipynb", tmp_path / "batch.yaml"], 1, r"batch\.yaml is a batch file, which names its notebooks itself"),
        ([], 1, "a batch needs at least one notebook"),
        (["a.ipynb"], 0, "workers must be a whole number of at least 1. Got 0. Nearest: 1"),
    ):
        with pytest.raises(InputError, match=sentence):
            run_notebooks(notebooks, workers=workers)


@pytest.mark.slow
def test_the_command_runs_all_says_what_failed_and_where_the_index_is(tmp_path, monkeypatch, capsys):
    written(tmp_path, "assert segments < 9, 'too wide'", parameters="segments = 8")
    written(tmp_path, name="other.ipynb", parameters="segments = 8")
    monkeypatch.chdir(tmp_path)
    assert main(["notebook", "study.ipynb", "other.ipynb", "--vary", "segments=40", "--workers", "2"]) == 1
    out, err = capsys.readouterr()
    line = "assert segments < 9, 'too wide': AssertionError: too wide"
    assert out.splitlines() == [
        f"failed: study-segments-40.failed.ipynb, cell 2: {line}",
        "2 notebooks, 1 failed; see results/notebooks/study+other/index.html",
    ]
    assert sorted(line.split(" (")[0] for line in err.splitlines()) == [
        "done: other-segments-40.ipynb",
        "failed: study-segments-40.failed.ipynb",
    ]


ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "pages" / "batches.md").read_text()


def test_the_page_on_batches_gives_names_and_a_file_that_the_shipped_notebooks_take(tmp_path):
    assert "{{output workbench notebook drain.ipynb --vary seeds=5,10 2>&1}}" in PAGE
    (name, choices) = choices_of("seeds=5,10")
    tasks = tasks_of(ROOT / "docs" / "examples" / "drain.ipynb", **{name: choices})
    assert [task.name for task in tasks] == ["drain-seeds-5", "drain-seeds-10"]
    (file,) = (block.split("```")[0] for block in PAGE.split("```yaml\n")[1:])
    (tmp_path / "batch.yaml").write_text(file)
    batch = read_batch(tmp_path / "batch.yaml")
    requests = [
        (read_notebook(ROOT / "notebooks" / path.name), {**batch.parameters, **own})
        for path, own in batch.notebooks.items()
    ]
    assert [task.name for task in plan_tasks(requests)] == [
        *(f"00_start_here-seeds-{seeds}" for seeds in (5, 10)),
        *(f"01_placement-seeds-{seeds}-shift-{shift}" for seeds in (5, 10) for shift in (4, 8)),
    ]
    assert output_name("study", {"sweep": "../sweeps/placement/drain.yaml"}) + ".ipynb" in PAGE


def test_where_papermill_is_not_installed_one_sentence_names_the_optional_part(tmp_path, monkeypatch):
    path = written(tmp_path, "1")
    monkeypatch.setitem(sys.modules, "papermill", None)
    with pytest.raises(MissingPart, match=r"^running notebooks needs an optional part\. Install it with: .*notebooks"):
        run_notebooks(path, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
