"""A batch of notebooks: parameters checked first, outputs whole and named by run, finished ones kept."""

import json
import os

import nbformat
import pytest

from tests.depth import long
from workbench.errors import InputError
from workbench.experiments.notebooks import run_notebook
from workbench.experiments.notebooks.source import read_notebook
from workbench.experiments.notebooks.tasks import plan_tasks, short_names

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


def planned(path, sweep=None, **chosen):
    return [task.parameters for task in plan_tasks(read_notebook(path), sweep, chosen)]


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

    assert wb.planned(first["sweep"]).points[0].id == first["point_id"]


def test_a_mapping_of_its_own_parameters_can_vary_too(tmp_path):
    path = written(tmp_path)
    given = {"segments": {"vary": [1, 2], "zip": "z"}, "placement": {"vary": ["a", "b"], "zip": "z"}}
    assert planned(path, given) == [{"segments": 1, "placement": "a"}, {"segments": 2, "placement": "b"}]
    assert planned(path, given, placement="c") == [{"segments": 1, "placement": "c"}, {"segments": 2, "placement": "c"}]
    assert planned(path, None, segments=5) == [{"segments": 5}]
    assert planned(path) == [{}]


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
        ({"segmnts": 3}, {}, "unknown parameter 'segmnts'"),
        ({"engine": "shared_memory", "workload": "bimodal", "options": {"latency_cycles": {"vary": [0, 1]}}}, {},
         "unknown parameter 'latency_cycles'; there are placement, segments."),
        ({"engine": "shared_memory", "workload": "bimodl"}, {}, "Did you mean bimodal?"),
        ("no_such.yaml", {}, "no_such.yaml: cannot be read"),
    ],
)  # fmt: skip
def test_a_parameter_that_is_not_known_is_one_sentence_and_nothing_runs(tmp_path, sweep, chosen, sentence):
    path = written(tmp_path, "raise SystemExit(3)")
    with pytest.raises(InputError) as refused:
        run_notebook(path, sweep, chosen, tmp_path / "out")
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
            run_notebook(path, sweep, chosen, tmp_path / "out")
    assert planned(path) == [{}]


def test_what_is_no_notebook_is_one_sentence(tmp_path):
    (tmp_path / "text.ipynb").write_text("hello")
    (tmp_path / "list.ipynb").write_text("[1]")
    for name in ("text.ipynb", "list.ipynb"):
        with pytest.raises(InputError, match=f"{name}: is no notebook"):
            run_notebook(tmp_path / name)
    with pytest.raises(InputError, match=r"needs the kernel 'fortran'; installed are .*python3"):
        run_notebook(written(tmp_path, kernel="fortran"))
    bare = nbformat.v4.new_notebook()
    nbformat.write(bare, tmp_path / "bare.ipynb")
    with pytest.raises(InputError, match=r"bare.ipynb: names no kernel; open it in JupyterLab"):
        run_notebook(tmp_path / "bare.ipynb")


@long
def test_a_batch_runs_once_keeps_what_is_finished_and_names_the_failing_cell(tmp_path, capfd):
    (tmp_path / "beside.txt").write_text("beside")
    path = written(
        tmp_path,
        "print(open('beside.txt').read(), segments)",
        "assert segments < 9, 'too wide'\nprint('not', 'reached')",
        parameters="segments = 8",
    )
    seen = []
    batch = run_notebook(path, {"segments": {"vary": [4, 40]}}, out=tmp_path / "out", progress=seen.append, html=True)
    assert seen == batch.runs
    assert [run.status for run in batch.runs] == ["done", "failed"]
    done, failed = batch.runs
    assert "beside 4" in texts(done.output)
    assert done.output.name == f"{done.id}.ipynb"
    assert failed.output.name == f"{failed.id}.failed.ipynb"
    assert (failed.cell, failed.error) == (3, "assert segments < 9, 'too wide': AssertionError: too wide")
    mark = nbformat.read(done.output, as_version=4).metadata["workbench"]
    assert mark["run_id"] == done.id
    assert mark["parameters"] == {"segments": 4}
    assert mark["packages"]["numpy"]
    assert mark["commit"]
    index = json.loads((tmp_path / "out" / "notebooks.json").read_text())
    assert [row["status"] for row in index["runs"]] == ["done", "failed"]

    assert capfd.readouterr() == ("", "")

    before = done.output.stat().st_mtime_ns
    report = tmp_path / "out" / "report"
    (report / "index.html").unlink()
    again = run_notebook(path, {"segments": {"vary": [4, 40]}}, out=tmp_path / "out")
    assert [run.status for run in again.runs] == ["kept", "failed"]
    assert done.output.stat().st_mtime_ns == before
    assert again.table.segments.tolist() == [4, 40]
    assert again.runs[0].seconds == pytest.approx(done.seconds, abs=0.001)
    assert {p.name for p in report.iterdir()} == {"index.html", f"{done.id}.html", f"{failed.id}.html"}
    assert "2 runs: 1 done,\n1 failed, 0 not run." in (report / "index.html").read_text()
    assert "beside 4" in (report / f"{done.id}.html").read_text()
    assert "too wide" in (report / f"{failed.id}.html").read_text()
    assert sorted(p.name for p in (tmp_path / "out").glob("*.ipynb")) == sorted([done.output.name, failed.output.name])
    assert not list((tmp_path / "out").glob(".*partial*"))


@long
def test_a_kernel_that_dies_costs_one_notebook(tmp_path):
    path = written(tmp_path, "import os\nos.kill(os.getpid(), 9) if segments > 4 else None", parameters="segments = 8")
    batch = run_notebook(path, {"segments": {"vary": [5, 4]}}, out=tmp_path / "out")
    assert [run.status for run in batch.runs] == ["failed", "done"]
    assert not (tmp_path / "out" / "report").exists()
    assert batch.failures[0].error == "the kernel died"


def test_a_kernel_that_does_not_start_is_a_failure_too(tmp_path, monkeypatch):
    kernel = tmp_path / "share" / "kernels" / "stillborn"
    kernel.mkdir(parents=True)
    config = {"argv": ["false", "{connection_file}"], "display_name": "stillborn", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(config))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share"))
    run = run_notebook(written(tmp_path, kernel="stillborn"), out=tmp_path / "out").runs[0]
    assert (run.status, run.cell) == ("failed", 0)
    assert run.error.startswith("the kernel did not start: ")
    assert nbformat.read(run.output, as_version=4).metadata["workbench"]["error"] == run.error


def test_widgets_are_not_stored(tmp_path):
    path = written(tmp_path, "import ipywidgets\nipywidgets.IntSlider()", parameters=None)
    run = run_notebook(path, out=tmp_path / "out").runs[0]
    assert "widgets" not in nbformat.read(run.output, as_version=4).metadata
    assert os.path.getsize(run.output) < 10_000


def test_an_edited_notebook_is_another_run_and_an_executed_one_is_not(tmp_path):
    path = written(tmp_path, "1")
    first = plan_tasks(read_notebook(path), None, {})[0].id
    node = nbformat.read(path, as_version=4)
    node.cells[-1].outputs = [nbformat.v4.new_output("stream", text="hello")]
    node.cells[-1].execution_count = 7
    nbformat.write(node, path)
    assert plan_tasks(read_notebook(path), None, {})[0].id == first
    assert plan_tasks(read_notebook(written(tmp_path, "2")), None, {})[0].id != first
