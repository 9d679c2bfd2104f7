"""The command line: what it prints, what it leaves behind, its exit statuses."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import pytest

import workbench as wb
from workbench.api import open_results
from workbench.cli.commands import COMMANDS, find
from workbench.cli.main import main
from workbench.errors import InputError

FAMILY = "no comparison can be decided at 3 seeds: the smallest corrected p is 0.56; it takes 7 seeds"
SWEEP = """
question: which is faster?
engine: shared_memory
workload: {regime: large_uniform, count: 40}
policy: {placement: {vary: [first_fit, nearest_boundary]}}
baseline: {placement: first_fit}
seeds: 3
measures: [drain_cycles]
"""


@pytest.fixture
def sweep(tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drain.yaml").write_text(SWEEP)
    (tmp_path / "folder").mkdir()
    for folder in (tmp_path, tmp_path / "folder"):
        (folder / "snapshot.pickle").write_bytes(b"")
    return "drain.yaml"


def test_every_command_can_be_found_and_says_what_it_does():
    for name in COMMANDS:
        command = find(name)
        assert command.name == name
        assert command.description.endswith(".")


WITHOUT_RESULTS = {"open dashboard", "open lab", "completion"}
"""Commands that print no results: two serve pages until they are stopped, one prints a script of a shell."""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_prints_results_has_quiet_and_json(name):
    parser = argparse.ArgumentParser()
    find(name).add_arguments(parser)
    has = {option for action in parser._actions for option in action.option_strings}
    assert has & {"--json", "--quiet", "-q"} == (set() if name in WITHOUT_RESULTS else {"--json", "--quiet", "-q"})


def test_a_circuit_is_json_with_its_files_or_its_text(tmp_path, capsys):
    words = ["circuit", "write", "exact_run", "--size", "8", "--json"]
    assert main([*words, "--out", str(tmp_path / "a.v")]) == 0
    reply = json.loads(capsys.readouterr().out)
    assert reply["files"] == [str(tmp_path / "a.v")]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out) == {"circuit": reply["circuit"], "text": (tmp_path / "a.v").read_text()}


@pytest.mark.parametrize(
    ("words", "wrote"),
    [
        (["project", "mine"], ["mine/README.md", "mine/Makefile", "mine/sweep.yaml"]),
        (["sweep", "pool"], ["pool.yaml"]),
        (["study", "pool"], ["pool_study.yaml"]),
        (["policy", "placement", "my_fit"], ["my_fit.py", "test_my_fit.py"]),
        (["preset", "machine", "my_card"], ["my_card.yaml"]),
    ],
)
def test_new_files_are_named_in_json_and_a_quiet_command_prints_nothing(words, wrote, tmp_path, monkeypatch, capsys):
    for folder, option in (("loud", "--json"), ("still", "--quiet")):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        assert main(["new", *words, option]) == 0
        output = capsys.readouterr().out
        assert output == "" or json.loads(output)["wrote"][: len(wrote)] == wrote
        assert bool(output) == (option == "--json") and all(Path(path).is_file() for path in wrote)


def test_a_sweep_in_python_is_refused_for_an_unknown_figure_too_and_kept_results_are_opened(sweep, tmp_path):
    with pytest.raises(InputError, match=r"drain.yaml: figures: unknown figure 'no_such_figure'"):
        wb.run(sweep, tmp_path / "out", set={"figures": ["no_such_figure"]})
    assert not (tmp_path / "out").exists()
    wb.run(sweep, tmp_path / "out")
    with open(tmp_path / "out" / "sweep.yaml", "a") as kept:
        kept.write("figures: [a_figure_of_another_version]\n")
    assert len(open_results(tmp_path / "out").rows) == 6


def test_run_says_that_so_few_seeds_decide_nothing_before_it_begins(sweep, capsys, monkeypatch):
    def begins(*_given, **_options):
        raise InputError("the runs would begin here.")

    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(wb.api, "run", begins)
    assert main(["run", sweep]) == 2
    assert capsys.readouterr().out.splitlines() == ["2 points x 3 seeds = 6 runs", f"{FAMILY}."]


def test_run_says_once_that_so_few_seeds_decide_nothing(sweep, capsys):
    assert main(["run", sweep]) == 0
    assert " ".join(capsys.readouterr().out.split()).count(FAMILY) == 1
    assert main(["results", "results/drain"]) == 0
    assert " ".join(capsys.readouterr().out.split()).count(FAMILY) == 1


def test_plan_counts_and_runs_nothing(sweep, capsys):
    assert main(["plan", sweep]) == 0
    assert " ".join(capsys.readouterr().out.split()) == f"2 points x 3 seeds = 6 runs, 0 of them kept {FAMILY}"
    assert not Path("results").exists()


def test_run_keeps_rows_and_plan_knows_of_them(sweep, capsys):
    assert main(["run", sweep, "--out", "out"]) == 0
    assert "6 runs" in capsys.readouterr().out
    assert main(["plan", sweep, "--out", "out", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kept"] == 6


def test_run_with_json_prints_one_object_and_nothing_else(sweep, capsys):
    assert main(["run", sweep, "--out", "out", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert output["runs"] == 6
    assert output["failed"] == []
    assert {row["measure"] for row in output["summary"]} == {"drain_cycles"}


def test_set_and_seeds_override_the_sweep(sweep, capsys):
    override = "policy.placement={vary: [best_fit, {nearest_boundary: {tie: high}}]}"
    assert main(["plan", sweep, "--set", override, "--seeds", "5", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert output["runs"] == 15
    assert [p["policy.placement"] for p in output["points"]] == ["best_fit", "first_fit", "nearest_boundary(tie=high)"]


def test_events_are_written_and_follow_the_declared_columns(sweep):
    assert main(["run", sweep, "--out", "out", "--events", "--seeds", "1"]) == 0
    logs = list(Path("out/events").iterdir())
    assert len(logs) == 2
    assert logs[0].read_text().splitlines()[0] == "run_id,cycle,serial,kind,workgroup,start,length"


def test_without_matplotlib_the_table_is_printed_and_one_line_says_that_figures_are_not_drawn(
    sweep, capsys, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "workbench.figures.plot_style", raising=False)
    monkeypatch.delattr("workbench.figures.plot_style", raising=False)
    assert main(["run", sweep, "--set", "figures=[drain_difference]"]) == 0
    output = capsys.readouterr()
    assert "drain_cycles" in output.out and "6 runs in" in output.out
    assert [line for line in output.err.splitlines() if "drawn" in line] == [
        "not drawn: drawing a figure needs an optional part. Install it with: pip install -e '.[figures]'."
    ]


def test_results_of_a_folder_as_csv(sweep, capsys):
    main(["run", sweep, "--out", "out"])
    capsys.readouterr()
    assert main(["results", "out", "--csv", "table.csv"]) == 0
    lines = Path("table.csv").read_text().splitlines()
    assert lines[0] == "run_id,status,error,seed,policy.placement,drain_cycles"
    assert len(lines) == 7


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["rnu"], "unknown command 'rnu'; there are advise, bench,"),
        (["plan"], "the following arguments are required: SWEEP"),
        (["plan", "absent.yaml"], "absent.yaml: cannot be read (No such file or directory)."),
        (["plan", "drain.yaml", "--set", "policy"], "--set takes PATH=VALUE"),
        (["plan", "/dev/zero"], "/dev/zero: is a pipe or a device; copy what it gives into a file."),
        (
            ["plan", "drain.yaml", "--set", "measures.²=x"],
            "measures.² cannot be set: '²' is not a place in a list of 1",
        ),
        (["plan", "drain.yaml", "--set", "policy.placement=&a [*a]"], "--set policy.placement: holds itself: an alias"),
        (["plan", "drain.yaml", "--seeds", "²"], "must be a whole number of at least 1. Got '²'"),
        (["plan", "drain.yaml", "--set", "policy.placement=bestfit"], "Did you mean best_fit?"),
        (["plan", "drain.yaml", "--seeds", "0"], "must be a whole number of at least 1. Got '0'"),
        (["run", "drain.yaml", "--set", "figures=[no_such_figure]"], "unknown figure 'no_such_figure'"),
        (["plan", "drain.yaml", "--set", "figures=[no_such_figure]"], "unknown figure 'no_such_figure'"),
        (["results", "nowhere"], "nowhere is not a results folder"),
        (["run", "drain.yaml", "--seed", "5"], "there is no option --seed. Did you mean --seeds? See: workbench run"),
        (["plan", "--seed=5", "drain.yaml"], "there is no option --seed. Did you mean --seeds? See: workbench plan"),
        (["claims", "--seed", "5"], "there is no option --seed. Did you mean --seeds?"),
        (["list", "levers", "--jso"], "there is no option --jso. Did you mean --json?"),
        (["run", "drain.yaml", "--zzz"], "workbench run: there is no option --zzz. See: workbench run --help"),
        *(
            ([*words, name], f"Did you mean {near}?")
            for words, name, near in (
                (["run"], "drian.yaml", "drain.yaml"),
                (["plan"], "drain.yml", "drain.yaml"),
                (["tune"], "drian.yaml", "drain.yaml"),
                (["explain", "sensitivity"], "drian.yaml", "drain.yaml"),
                (["advise"], "snapshto.pickle", "snapshot.pickle"),
                (["trace", "import"], "folder/snapshto.pickle", "folder/snapshot.pickle"),
                (["trace", "replay"], "foldre/snapshot.pickle", "folder/snapshot.pickle"),
                (["occupancy", "--trace"], "snapshto.pickle", "snapshot.pickle"),
                (["coresident", "--machine", "h100"], "snapshto.pickle", "snapshot.pickle"),
                (["notebook"], "snapshto.ipynb", "snapshot.pickle"),
                (["list", "presets"], "drian.yaml", "drain.yaml"),
                (["list", "measures"], "snapshto.py", "snapshot.pickle"),
                (["results"], "foldre", "folder"),
                (["status"], "foldre", "folder"),
                (["export", "--to", "new"], "foldre", "folder"),
                (["verify"], "foldre", "folder"),
                (["trust"], "foldre", "folder"),
                (["gather", "--out", "new"], "foldre", "folder"),
                (["open", "lab"], "foldre", "folder"),
                (["open", "dashboard"], "drian.yaml", "drain.yaml"),
                (["open", "dashboard"], "./foldre", "folder"),
            )
        ),
        *(
            (words, "there is no preset 'mi400'; nearest: mi30")
            for words in (
                ["list", "presets", "mi400"],
                ["plan", "drain.yaml", "--set", "machine=mi400"],
                ["plan", "drain.yaml", "--set", "machine={preset: mi400}"],
                ["occupancy", "--machine", "mi400", "--threads", "64"],
            )
        ),
        (["list", "presets", "zebra"], "workbench list presets shows all. For a card of yours: workbench new preset"),
        (["list", "policies", "placemnt"], "unknown question, engine or policy 'placemnt'"),
        (["list", "presets", "mi355"], "Did you mean mi355x? Else: workbench new preset machine my_card"),
        (["claims", "H9.9"], "unknown claim 'H9.9'"),
        (["claims", "--seeds", "0"], "argument --seeds: must be a whole number of at least 1. Got '0'"),
        (["status", "nowhere"], "nowhere is not a results folder: it holds no rows."),
        (["run", "drain.yaml", "--cluster", "nonsense"], "--cluster takes tcp://HOST:PORT or local:N. Got 'nonsense'."),
        (["run", "drain.yaml", "--cluster", "local:x"], "a local cluster is written local:N"),
        (
            ["run", "drain.yaml", "--cluster", "local:2", "--workers", "2"],
            "workers are counted for processes and threads",
        ),
        (["run", "drain.yaml", "--cluster", "local:2", "--executor", "threads"], "cannot both be given"),
        (["run", "drain.yaml", "--limit", "0"], "the limit of a run must be more than 0 seconds. Got 0.0."),
        (["run", "drain.yaml", "--executor", "gpu"], "unknown executor 'gpu'; there are"),
        (
            ["tune", "drain.yaml"],
            "drain.yaml: is a sweep, not a study: it has no objectives; run it with: workbench run",
        ),
        (["run", "drain.yaml", "--set", "objectives=[a]"], "run it with: workbench tune drain.yaml"),
        (["plan", "drain.yaml", "--set", "policy.x=1"], "drain.yaml: policy: unknown key 'x'; there are placement,"),
        (
            ["new", "policy", "placement", "my_own_fit", "--into", "drain.yaml/x"],
            "drain.yaml/x: no file can be written there",
        ),
    ],
)
def test_a_mistake_is_one_sentence_and_status_2_and_nothing_is_written(sweep, capsys, arguments, sentence):
    before = sorted(Path().rglob("*"))
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert sentence in output.err
    assert output.err.count("\n") == 1
    assert output.out == ""
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "must be a mapping"),
        ("- a\n- b\n", "must be a mapping"),
        ("engine: a\nengine: b\n", "comes twice"),
        ("engine: !!python/object/apply:os.getcwd []\n", "line 1"),
        ("engine: [\n", "is not YAML"),
        ("engine: \x00\n", "is not YAML"),
    ],
)
def test_a_file_that_is_no_sweep_is_refused(sweep, capsys, text, sentence):
    Path("bad.yaml").write_text(text)
    assert main(["plan", "bad.yaml"]) == 2
    output = capsys.readouterr().err
    assert sentence in output
    assert output.count("\n") == 1


def test_claims_are_not_mixed_with_the_results_of_a_sweep(sweep, capsys):
    assert main(["run", sweep, "--out", "out"]) == 0
    assert main(["claims", "H1.8", "--out", "out"]) == 2
    assert "out holds the results of a sweep or a study; choose another folder" in capsys.readouterr().err


def test_run_takes_other_workers(sweep, capsys):
    assert main(["run", sweep, "--out", "out", "--json", "--executor", "threads"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == 6
    assert main(["plan", sweep, "--out", "out"]) == 0
    planned = " ".join(capsys.readouterr().out.split())
    assert planned.startswith(f"2 points x 3 seeds = 6 runs, 6 of them kept {FAMILY} by the spread of the runs kept, ")


def test_a_failed_run_is_status_1(sweep, capsys):
    Path("occupied.py").write_text(
        "from workbench.policies.placement import Placement\n\n\n"
        "class Occupied(Placement):\n    def answer(see):\n        return 0\n"
    )
    assert main(["run", sweep, "--out", "out", "--set", "policy.placement=occupied.py:Occupied"]) == 1
    assert "failed: seed 0" in capsys.readouterr().out


def test_policies_and_presets_list_their_sources(capsys):
    assert main(["list", "policies", "placement", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["policies"]
    assert all(row["says"] and row["references"] for row in rows if row["built_in"])
    assert main(["list", "presets", "--json"]) == 0
    assert {"mi355x", "h100"} <= {row["name"] for row in json.loads(capsys.readouterr().out)["presets"]}


@pytest.mark.slow
def test_the_schema_accepts_the_shipped_sweeps_and_refuses_a_typo(capsys):
    import jsonschema
    import yaml

    assert main(["list", "schema"]) == 0
    valid = jsonschema.Draft202012Validator(json.loads(capsys.readouterr().out)).is_valid
    for path in (Path(__file__).parent.parent.parent / "sweeps" / "placement").glob("*.yaml"):
        assert valid(yaml.safe_load(path.read_text())), path.name
    assert not valid({"engine": "shared_memory", "workload": "bimodal", "polcy": {}})


def test_import_writes_the_groups_of_a_trace_for_the_dispatcher(tmp_path, capsys):
    trace = str(Path(__file__).parents[1] / "data" / "traces" / "rocprofv3.json")
    requests = [
        "trace",
        "import",
        trace,
        "--engine",
        "dispatch",
        "--out",
        str(tmp_path / "jobs.csv"),
        "--machine",
        "mi300x",
    ]
    assert main([*requests, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["groups"] == 34
    assert (
        (tmp_path / "jobs.csv")
        .read_text()
        .startswith("arrival,channel,priority,waves,independent,duration,vgpr_blocks")
    )
    assert main([*requests, "--set", "unit=3"]) == 2
    assert "unknown key 'unit'; there are arrival, channel_of," in capsys.readouterr().err
