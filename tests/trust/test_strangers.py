"""Nothing of a stranger's results folder or bundle is executed, whatever command reads it, until the user signs it."""

from __future__ import annotations

import copy
import json
import shutil

import pytest
import yaml

import workbench as wb
from tests.trust.strangers import KINDS, STUDY, SWEEP, forgotten, made, moved, written
from workbench.cli.commands import COMMANDS
from workbench.cli.main import main
from workbench.errors import InputError, WorkbenchError
from workbench.experiments.sweep import KEYS, override

READING = {
    "results": ["results {}", "results {} --json", "results {} --wide --only first_fit", "results {} --figure pareto"],
    "status": ["status {}"],
    "figure": ["figure pareto {}", "figure drain_difference {}", "figure evil_means {}"],
    "export": ["export {} --to paper"],
    "explain discover": ["explain discover {}"],
    "gather": ["gather {} --out elsewhere"],
    "plan": ["plan {}/sweep.yaml", "plan {}/sweep.yaml --out {}"],
    "run": ["run {}/sweep.yaml --out {}", "run {}/sweep.yaml --out elsewhere"],
    "explain sensitivity": ["explain sensitivity {}/sweep.yaml --out elsewhere"],
    "explain blame": ["explain blame {}/sweep.yaml --out elsewhere"],
    "open dashboard": ["open dashboard {} --no-browser --port 0"],
    "trust": ["trust {}"],
}
"""Every command that reads a results folder, and how."""
STUDIES = {
    "tune": ["tune {}/study.yaml --out {}", "tune {}/study.yaml --dashboard --out {}"],
    "open dashboard": READING["open dashboard"],
    "run": ["run {}/best.yaml", "run {}/points/trial_0.yaml", "run front.yaml --out elsewhere"],
    "results": ["results {}"],
    "plan": ["plan front.yaml"],
}
OTHERS = {
    *(name for name in COMMANDS if name.split()[0] in ("list", "circuit", "trace", "new")),
    *("notebook", "claims", "advise", "validate", "occupancy", "coresident"),
    *("open lab", "open docs", "bench", "doctor", "completion"),
}
"""Commands that take no results folder."""


CODE_AS = ["evil.py:Evil", {"evil.py:Evil": {}}, {"vary": ["evil.py:Evil"]}, ["evil.py:Evil"]]


@pytest.mark.parametrize("value", CODE_AS, ids=str)
def test_no_other_key_of_a_sweep_executes_code(value, tmp_path, mark):
    """Say so of a sweep that the user names: its policies, baselines, measures, figures and workload alone may."""
    written(tmp_path)
    others = [key for key in KEYS if key not in ("policy", "baseline", "measures", "figures", "workload")]
    inner = [("machine", "topology"), ("machine", "preset"), ("machine", "segments"), ("options", "latency_cycles")]
    inner += [("workload", key) for key in ("file", "trace", "regime", "importer", "count")]
    for path in [*((key,) for key in others), *inner]:
        sweep = copy.deepcopy(SWEEP)
        override(sweep, ".".join(path), value)
        (tmp_path / "s.yaml").write_text(yaml.safe_dump(sweep))
        assert main(["plan", "s.yaml"]) == (0 if path == ("question",) else 2), path
        assert not mark.exists(), path


@pytest.mark.parametrize("text", ["!!python/object/apply:os.system ['touch mark']", "!!python/name:os.system"])
def test_no_tag_of_yaml_executes_code(text, tmp_path, mark):
    (tmp_path / "s.yaml").write_text(yaml.safe_dump(SWEEP) + f"options: {text}\n")
    assert main(["plan", "s.yaml"]) == 2
    assert not mark.exists()


@pytest.fixture(scope="module")
def templates(tmp_path_factory):
    return {}, tmp_path_factory.mktemp("theirs")


@pytest.fixture
def mark(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STRANGERS_MARK", str(tmp_path / "mark"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    yield tmp_path / "mark"
    forgotten()


@pytest.fixture
def stranger(templates, tmp_path, mark, monkeypatch):
    known, root = templates

    def folder(kind):
        if kind not in known:
            with monkeypatch.context() as theirs:
                theirs.setenv("XDG_CONFIG_HOME", str(root / "config"))
                known[kind] = made(root / kind, KINDS[kind])
        forgotten()
        mark.unlink(missing_ok=True)
        return moved(known[kind], tmp_path / "theirs")

    return folder


def called(line, folder):
    return main([word.format(folder) if word != "{}" else str(folder) for word in line.split()])


def test_every_command_is_in_one_of_the_tables():
    assert {*READING, *STUDIES, *OTHERS, "verify"} == {*COMMANDS}


@pytest.mark.parametrize("kind", KINDS)
def test_no_command_executes_code_of_a_results_folder(kind, stranger, mark, capsys):
    folder = stranger(kind)
    for line in (line for lines in READING.values() for line in lines):
        assert called(line, folder) in (0, 2), line
        assert not mark.exists(), line
    assert not (mark.parent / "paper").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_its_rows_are_shown_with_the_reason(kind, stranger, mark, capsys):
    folder = stranger(kind)
    assert main(["results", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert f"the code of evil.py was not run: the signature of {folder} is not yours" in printed
    assert f"`workbench trust {folder}`" in printed
    assert " runs, 0 failed" in printed
    assert not mark.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_shown_without_the_code_is_what_is_shown_with_it(kind, stranger, mark):
    folder = stranger(kind)
    kept = wb.open_results(folder)
    assert not mark.exists() and kept.code_notes
    assert main(["trust", str(folder), "--yes"]) == 0
    assert not mark.exists()
    results = wb.open_results(folder)
    assert mark.exists() and not results.code_notes
    assert kept.table.to_dict("list") == results.table.to_dict("list")
    assert kept.summary().to_csv() == results.summary().to_csv()
    assert kept.sentences() == results.sentences()


def test_points_of_the_package_are_drawn_and_simulated_as_ever(stranger, mark):
    results = wb.open_results(stranger("policy"))
    first, evil = results.points
    assert results.label(first) == "first_fit" and results.label(evil) == "evil"
    of_first = next(run.id for run in results.plan.runs() if run.point is first)
    assert results.record(of_first) is not None
    of_evil = next(run.id for run in results.plan.runs() if run.point is evil)
    with pytest.raises(InputError, match=r"the code of evil\.py was not run"):
        results.record(of_evil)
    assert not mark.exists()


def test_trust_lists_the_code_in_json_and_signs_with_yes_alone(stranger, mark, capsys):
    folder = stranger("policy")
    for options, status, signed in ((["--json"], 1, []), (["--json", "--yes"], 0, [str(folder)])):
        capsys.readouterr()
        assert main(["trust", str(folder), *options]) == status
        reply = json.loads(capsys.readouterr().out)
        assert {one["name"] for one in reply["code"][str(folder)]} == {"evil.py", "beside.py"}
        assert reply["signed"] == signed and bool(wb.open_results(folder).code_notes) == (not signed)


def test_a_quiet_trust_asks_nothing(stranger, mark, capsys):
    folder = stranger("policy")
    capsys.readouterr()
    assert main(["trust", str(folder), "--quiet"]) == 2
    assert "--yes signs without asking" in capsys.readouterr().err
    assert main(["trust", str(folder), "--quiet", "--yes"]) == 0
    assert capsys.readouterr() == ("", "")
    assert not wb.open_results(folder).code_notes


@pytest.mark.parametrize("change", ["evil.py", "beside.py", "sweep.yaml", "deleted helper"])
def test_a_change_takes_the_signature_back(change, stranger, mark, capsys):
    folder = stranger("policy")
    assert main(["trust", str(folder), "--yes"]) == 0
    if change == "deleted helper":
        (folder / "beside.py").unlink()
    else:
        with (folder / change).open("a") as file:
            file.write("\n# changed\n")
    capsys.readouterr()
    assert main(["results", str(folder)]) == 0
    printed = capsys.readouterr().out
    if change == "deleted helper":
        assert "evil.py does not run: ModuleNotFoundError" in printed
    else:
        assert f"the code of {change} was not run: it was edited since you signed it in {folder}" in printed
        assert not mark.exists()


def test_the_run_of_the_original_sweep_signs_an_edit(tmp_path, mark, capsys):
    written(tmp_path / "mine")
    sweep = tmp_path / "mine" / "s.yaml"
    sweep.write_text(yaml.safe_dump({**SWEEP, **KINDS["policy"]}))
    assert main(["run", str(sweep), "--out", "out", "--workers", "0"]) == 0
    with (tmp_path / "mine" / "beside.py").open("a") as file:
        file.write("LATER = 1\n")
    assert wb.open_results("out").code_notes[0].startswith("the code of beside.py was not run: it was edited since")
    assert main(["run", "out/sweep.yaml", "--out", "out"]) == 2
    assert main(["run", str(sweep), "--out", "out", "--workers", "0"]) == 0
    assert not wb.open_results("out").code_notes


def test_a_module_that_appears_beside_signed_code_is_not_executed(stranger, mark):
    folder = stranger("policy")
    (folder / "evil.py").write_text((folder / "evil.py").read_text() + "\n__import__('la' + 'ter')\n")
    assert main(["trust", str(folder), "--yes"]) == 0
    (folder / "later.py").write_text(
        "import os, pathlib\npathlib.Path(os.environ['STRANGERS_MARK']).write_text('later')"
    )
    problem = wb.open_results(folder).code_notes[0]
    assert problem.startswith("the code of later.py was not run: it is not among the files that you signed")
    assert not mark.exists() or mark.read_text() != "later"


def test_a_signature_of_another_key_counts_for_nothing(stranger, mark, tmp_path, monkeypatch):
    folder = stranger("policy")
    assert main(["trust", str(folder), "--yes"]) == 0
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "another"))
    assert main(["trust", str(folder), "--yes"]) == 0
    assert not wb.open_results(folder).code_notes
    forgotten()
    mark.unlink()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert "is not yours" in wb.open_results(folder).code_notes[0]
    assert not mark.exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": 3, "hmac": "00"}', "[" * 100_000])
def test_a_damaged_signature_counts_for_nothing(text, stranger, mark):
    folder = stranger("policy")
    (folder / ".trusted").write_text(text)
    assert "cannot be read" in wb.open_results(folder).code_notes[0] and not mark.exists()


def test_a_process_that_ran_the_code_needs_the_signature_too(stranger, mark):
    folder = stranger("policy")
    assert main(["trust", str(folder), "--yes"]) == 0
    with (folder / "beside.py").open("a") as file:
        file.write("LATER = 1\n")
    wb.plan({**SWEEP, "policy": {"placement": f"{folder}/evil.py:Evil"}})
    assert mark.exists()
    assert wb.open_results(folder).code_notes[0].startswith("the code of beside.py was not run: it was edited since")


def test_a_link_leads_to_no_code(stranger, mark, tmp_path):
    folder = stranger("policy")
    (tmp_path / "elsewhere").mkdir()
    shutil.move(folder / "evil.py", tmp_path / "elsewhere" / "evil.py")
    shutil.move(folder / "beside.py", tmp_path / "elsewhere" / "beside.py")
    (folder / "evil.py").symlink_to(tmp_path / "elsewhere" / "evil.py")
    (tmp_path / "link").symlink_to(folder)
    (folder / "inside").symlink_to(tmp_path / "elsewhere")
    shutil.copy(folder / "sweep.yaml", tmp_path / "elsewhere" / "sweep.yaml")
    for name in ("theirs", "link", "theirs/../link", "theirs/inside/../theirs"):
        if name != "theirs/inside/../theirs":
            assert main(["results", name]) == 0
        assert main(["plan", f"{name}/sweep.yaml"]) == 2
    assert main(["plan", "theirs/inside/sweep.yaml"]) == 2
    written(folder / "points")
    shutil.copy(folder / "sweep.yaml", folder / "points" / "sweep.yaml")
    (tmp_path / "points").symlink_to(folder / "points")
    assert main(["plan", "points/sweep.yaml"]) == 2
    assert not mark.exists()


def test_a_file_of_the_user_is_not_run_for_a_stranger(stranger, mark, tmp_path):
    folder = stranger("policy")
    for name in ("evil.py", "beside.py"):
        shutil.move(folder / name, tmp_path / name)
    assert wb.open_results(folder).code_notes[0].startswith("the code of evil.py was not run")
    assert main(["plan", str(folder / "sweep.yaml")]) == 2
    assert not mark.exists()


def test_a_folder_is_a_stranger_s_from_inside_it_too(stranger, mark, monkeypatch):
    monkeypatch.chdir(stranger("policy"))
    assert main(["results", "."]) == 0 and main(["plan", "sweep.yaml"]) == 2 and main(["plan", "./sweep.yaml"]) == 2
    assert not mark.exists()


def test_a_sweep_that_the_user_names_runs_its_code_without_a_question(tmp_path, mark):
    written(tmp_path / "mine")
    (tmp_path / "mine" / "s.yaml").write_text(yaml.safe_dump({**SWEEP, **KINDS["policy"]}))
    assert main(["plan", "mine/s.yaml"]) == 0
    assert mark.exists()
    assert not (tmp_path / "config").exists()


def test_a_sweep_in_its_own_results_folder_is_run_again(tmp_path, mark):
    written(tmp_path / "mine")
    (tmp_path / "mine" / "s.yaml").write_text(yaml.safe_dump({**SWEEP, **KINDS["policy"]}))
    for seeds in ("2", "3"):
        assert main(["run", "mine/s.yaml", "--out", "mine", "--workers", "0", "--seeds", seeds]) == 0
    assert not wb.open_results("mine").code_notes
    (tmp_path / "mine" / "t.yaml").write_text(yaml.safe_dump({**SWEEP, **KINDS["policy"], "seeds": 3}))
    assert main(["plan", "mine/t.yaml"]) == 2


def test_a_folder_without_code_needs_no_signature(tmp_path, mark, capsys):
    wb.run(SWEEP, "plain", workers=0)
    assert not wb.open_results("plain").notes
    assert not (tmp_path / "config").exists() and not (tmp_path / "plain" / ".trusted").exists()
    assert main(["trust", "plain"]) == 0
    assert "names no code" in capsys.readouterr().out


def test_trust_asks_on_a_terminal_alone(stranger, mark, capsys, monkeypatch):
    folder = stranger("policy")
    capsys.readouterr()
    assert main(["trust", str(folder)]) == 2
    printed = capsys.readouterr()
    assert "--yes signs without asking" in printed.err
    assert "evil.py  Evil" in printed.out and "beside.py  (imported)" in printed.out
    for reply, status in (("n\n", 1), ("y\n", 0)):
        import io
        import sys

        terminal = io.StringIO(reply)
        terminal.isatty = lambda: True
        monkeypatch.setattr(sys, "stdin", terminal)
        assert main(["trust", str(folder)]) == status
        assert bool(wb.open_results(folder).code_notes) == bool(status)


def test_trust_refuses_what_is_no_results_folder(tmp_path, mark, capsys):
    assert main(["trust", str(tmp_path)]) == 2
    assert "is no results folder and no bundle" in capsys.readouterr().err


def test_the_key_is_the_user_s_alone(stranger, mark, tmp_path):
    folder = stranger("policy")
    assert main(["trust", str(folder), "--yes"]) == 0
    key = tmp_path / "config" / "workbench" / "trust.key"
    assert key.stat().st_mode & 0o777 == 0o600 and len(key.read_bytes()) == 32
    key.chmod(0o644)
    assert "is open to other users" in wb.open_results(folder).code_notes[0] and not mark.exists()
    assert main(["trust", str(folder), "--yes"]) == 2


def bundle_of(kind, tmp_path, mark, monkeypatch):
    written(tmp_path / "mine")
    (tmp_path / "mine" / "s.yaml").write_text(yaml.safe_dump({**SWEEP, **KINDS[kind]}))
    with monkeypatch.context() as theirs:
        theirs.setenv("XDG_CONFIG_HOME", str(tmp_path / "their_config"))
        wb.run("mine/s.yaml", workers=0).export(tmp_path / "paper")
    shutil.rmtree(tmp_path / "mine")
    forgotten()
    mark.unlink()
    return tmp_path / "paper"


@pytest.mark.parametrize("kind", KINDS)
def test_no_code_of_a_bundle_is_executed_or_called_verified(kind, tmp_path, mark, monkeypatch, capsys):
    bundle = bundle_of(kind, tmp_path, mark, monkeypatch)
    assert main(["results", str(bundle)]) == 0
    assert "the code of evil.py was not run" in capsys.readouterr().out and not mark.exists()
    status = main(["verify", str(bundle), "--runs", "all"])
    printed = capsys.readouterr().out
    assert not mark.exists()
    assert "the code of evil.py was not run" in printed and "No run of that code was done again" in printed
    assert status == (0 if kind == "figure" else 1), printed
    assert main(["plan", str(bundle / "sweep.yaml")]) == 2
    assert not mark.exists()
    assert main(["trust", str(bundle), "--yes"]) == 0
    assert not mark.exists()
    capsys.readouterr()
    assert main(["verify", str(bundle), "--runs", "all"]) == 0, capsys.readouterr().out
    assert mark.exists()
    with (bundle / "inputs" / "beside.py").open("a") as file:
        file.write("# changed\n")
    forgotten()
    mark.unlink()
    main(["verify", str(bundle), "--runs", "all"])
    assert not mark.exists()


def test_a_bundle_of_this_user_is_verified_where_it_was_moved(tmp_path, mark):
    written(tmp_path / "mine")
    (tmp_path / "mine" / "s.yaml").write_text(yaml.safe_dump({**SWEEP, **KINDS["policy"]}))
    wb.run("mine/s.yaml", workers=0).export(tmp_path / "paper")
    shutil.move(tmp_path / "paper", tmp_path / "moved")
    forgotten()
    assert main(["verify", "moved", "--runs", "3"]) == 0


def test_a_manifest_names_no_code(tmp_path, mark, monkeypatch):
    wb.run(SWEEP, workers=0).export(tmp_path / "paper")
    written(tmp_path / "paper" / "inputs")
    manifest = json.loads((tmp_path / "paper" / "manifest.json").read_text())
    manifest["selected"] = {"figures": [f"{tmp_path}/paper/inputs/evil.py:evil_means"]}
    (tmp_path / "paper" / "manifest.json").write_text(json.dumps(manifest))
    assert main(["verify", "paper"]) == 2
    assert not mark.exists()


@pytest.fixture
def study(tmp_path, mark, monkeypatch):
    written(tmp_path / "mine")
    (tmp_path / "mine" / "t.yaml").write_text(yaml.safe_dump(STUDY))
    with monkeypatch.context() as theirs:
        theirs.setenv("XDG_CONFIG_HOME", str(tmp_path / "their_config"))
        wb.tune("mine/t.yaml", tmp_path / "theirs", workers=0)
    front = {**SWEEP, "policy": {"placement": {"vary": {"front": "theirs"}}}, "baseline": {"placement": "first_fit"}}
    (tmp_path / "front.yaml").write_text(yaml.safe_dump(front))
    forgotten()
    mark.unlink()
    return tmp_path / "theirs"


def test_no_command_executes_code_of_a_study(study, mark):
    text = (study / "sweep.yaml").read_text().replace("- first_fit", f"- {mark.parent}/mine/evil.py:Evil")
    assert "evil.py:Evil" in text
    (study / "points").mkdir(exist_ok=True)
    for name in ("sweep.yaml", "best.yaml", "points/trial_0.yaml"):
        (study / name).write_text(text)
    for line in (line for lines in STUDIES.values() for line in lines):
        assert called(line, study) in (0, 2), line
        assert not mark.exists(), line
    with pytest.raises(WorkbenchError, match="was not run"):
        wb.open_study(study)
    assert not mark.exists()


def test_a_study_that_is_signed_opens(study, mark):
    assert main(["trust", str(study), "--yes"]) == 0
    assert not mark.exists()
    assert len(wb.open_study(study).trials) == 2  # there are two settings
    if "evil.py" not in (study / "sweep.yaml").read_text():
        text = (study / "sweep.yaml").read_text().replace("- first_fit", f"- {mark.parent}/mine/evil.py:Evil")
        (study / "sweep.yaml").write_text(text)
        assert main(["trust", str(study), "--yes"]) == 0
    assert main(["plan", "front.yaml"]) == 0
    with (mark.parent / "mine" / "beside.py").open("a") as file:
        file.write("# changed\n")
    forgotten()
    mark.unlink()
    assert main(["plan", "front.yaml"]) == 2
    assert not mark.exists()


def test_a_study_of_this_user_opens_with_its_front(tmp_path, mark):
    written(tmp_path / "mine")
    (tmp_path / "mine" / "t.yaml").write_text(yaml.safe_dump(STUDY))
    wb.tune("mine/t.yaml", "tuned", workers=0)
    forgotten()
    opened = wb.open_study("tuned")
    assert opened.holdout is not None and not opened.holdout.code_notes
    assert main(["plan", "tuned/best.yaml"]) == 0
