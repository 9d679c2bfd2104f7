"""A new policy for every question passes as written, beside a notebook and as a part of the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.slow import LONG
from workbench.cli import main
from workbench.cli._new_policy import QUESTIONS, class_name, policy_text, write_policy
from workbench.compiled import fields_of
from workbench.errors import InputError
from workbench.policies.catalogue import load_all
from workbench.policies.policy import base_of, policies, questions

ROOT = Path(__file__).parent.parent.parent


def name_of(question: str) -> str:
    return f"my_{question}"


def ran(folder: Path, *command: object, path: Path = ROOT) -> str:
    """What a command prints that ends well, in a folder; modules are found in another."""
    reply = subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert reply.returncode == 0, reply.stdout + reply.stderr
    return reply.stdout


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """One policy and its test for every question, in one folder."""
    folder = tmp_path_factory.mktemp("mine")
    for question in QUESTIONS:
        write_policy(question, name_of(question), folder)
    return folder


def test_there_is_a_template_for_every_question():
    load_all()
    assert questions() == QUESTIONS
    recipes = (ROOT / "docs" / "pages" / "recipes.md").read_text(encoding="utf-8")
    assert "A policy answers one of {{fact questions}} questions;" in recipes


@pytest.mark.slow
def test_policies_their_examples_and_their_tests_pass_as_written(written):
    names = [f"{name_of(question)}.py" for question in QUESTIONS[:: 1 if LONG else 8]]
    files = [file for name in names for file in (name, f"test_{name}")]
    ran(written, "pytest", "-q", "-p", "no:cacheprovider", "--doctest-modules", *files)


def test_they_are_formatted_and_without_a_fault(written):
    ran(written, "ruff", "check", "--isolated", "--line-length=120", "--select=E,F,W,I,B,UP,SIM,RUF", ".")
    ran(written, "ruff", "format", "--isolated", "--line-length=120", "--check", ".")


@pytest.mark.slow
def test_their_types_are_right(written):
    files = [f"{name_of(question)}.py" for question in QUESTIONS]
    ran(written, "mypy", f"--config-file={ROOT / 'pyproject.toml'}", *files)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_field_that_an_answer_sees_stands_in_the_file(question):
    load_all()
    asks = base_of(question).asks
    text = policy_text(question, "mine")
    assert all(f"# see.{name}  {field}" in text for name, field in (fields_of(asks.see) if asks else {}).items())
    assert "SEES" not in text
    assert "QUESTION" not in text


@pytest.mark.slow
def test_all_of_them_moved_into_the_package_as_the_recipe_says(tmp_path):
    """Each file to the room of its question, its class exported there, its test beside the others."""
    for part in ("workbench", "tests", "data", "pyproject.toml"):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, tmp_path / part)
    load_all()
    tests = [moved(tmp_path, question) for question in QUESTIONS]
    ran(tmp_path, "pytest", "-q", *tests, path=tmp_path)
    ran(tmp_path, "ruff", "check", *tests, path=tmp_path)
    reply = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/policies/test_completeness.py"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    failed = [line for line in reply.stdout.splitlines() if line.startswith("FAILED")]
    assert len(failed) == len(QUESTIONS), reply.stdout
    assert all("test_tells_its_source" in line for line in failed), "a reference that is the template's is refused"


def moved(root: Path, question: str) -> Path:
    """Put a new policy where the recipe says; return the file of its test."""
    name, parts = name_of(question), base_of(question).__module__.split(".")[1:-1]
    room = root.joinpath("workbench", *parts)
    policy, test = write_policy(question, name, root / "new")
    shutil.move(policy, room / policy.name)
    module = ".".join(["workbench", *parts, name])
    init = room / "__init__.py"
    export = f"\nfrom {module} import {class_name(name)}\nfrom workbench.policies."
    init.write_text(init.read_text().replace("\nfrom workbench.policies.", export, 1))
    place = root / "tests" / "policies" / test.name
    place.write_text(test.read_text().replace(f"from {name} import", f"from {module} import"))
    ran(root, "ruff", "check", "--fix", "-q", place, init, path=root)
    return place


@pytest.mark.parametrize(
    ("question", "name", "sentence"),
    [
        ("placment", "my_fit", "unknown question 'placment'"),
        ("placement", "best_fit", "best_fit is already a placement policy"),
        ("placement", "My Fit", "a policy's name must be words in small letters"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(tmp_path, question, name, sentence):
    with pytest.raises(InputError, match=sentence) as refused:
        write_policy(question, name, tmp_path)
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_command_says_how_it_is_used_and_overwrites_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "policy", "placement", "aimed_fit"]) == 0
    assert "workbench run SWEEP --set policy.placement=aimed_fit.py:AimedFit" in capsys.readouterr().out
    sweep = next((ROOT / "sweeps" / "placement").glob("drain.yaml"))
    mine = ["--set", "policy.placement=aimed_fit.py:AimedFit", "--set", "figures=[]"]
    assert main(["run", str(sweep), "--seeds", "2", "--out", "out", *mine]) == 0
    assert main(["new", "policy", "placement", "aimed_fit"]) == 2
    assert "exists already" in capsys.readouterr().err


def test_the_list_of_policies_says_what_an_answer_sees(capsys):
    assert main(["list", "policies", "stuck"]) == 0
    output = capsys.readouterr().out
    assert "workbench new policy stuck NAME, derived from Stuck" in output
    assert "    see.waves  int64: waves of the group\n" in output
    assert "It returns into how many sub-groups the group is split" in output
    assert all(name in output for name in policies("stuck"))
