"""The workflow runs what README promises on each supported Python, and the issue forms are forms that GitHub shows."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "readme.yml"
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
FIELDS = {"textarea", "input", "dropdown", "checkboxes"}
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    """Return a YAML file, with its booleans and numbers as text: `on:` is a key, and 3.10 is not 3.1."""
    content: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    return content


def newest_and_oldest() -> tuple[str, str]:
    """Return the Python of `make test ENVIRONMENT=newest` and the lower bound of the package."""
    newest = re.search(r"filter newest,\$\(ENVIRONMENT\)\),(3\.\d+),", (ROOT / "Makefile").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert newest
    return newest[1], project["requires-python"].removeprefix(">=")


def test_the_workflow_runs_every_command_of_readme_on_every_python():
    job = read(WORKFLOW)["jobs"]["readme"]
    versions = job["strategy"]["matrix"]["python"]
    newest, oldest = newest_and_oldest()
    assert versions == [f"3.{minor}" for minor in range(int(oldest[2:]), int(newest[2:]) + 1)]
    steps = [step["run"] for step in job["steps"] if "run" in step]
    assert steps[1:] == ["make run", ".ci/readme", ".ci/run lock"]
    assert all((ROOT / step.split()[0]).is_file() for step in steps if step.startswith(".ci/"))
    assert "make test ENVIRONMENT=" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_commands_of_readme_run_in_their_order_up_to_the_first_that_fails(tmp_path):
    for name in (".ci", ".venv/bin"):
        (tmp_path / name).mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "readme", tmp_path / ".ci" / "readme")
    served = "$ workbench open dashboard pool  # serves until it is stopped\n"
    readme = served + (ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(readme, encoding="utf-8")
    program = tmp_path / ".venv" / "bin" / "workbench"
    program.write_text('#!/bin/sh\necho "$@" >> commands.txt\n[ "$1" != export ]\n', encoding="utf-8")
    program.chmod(0o755)
    reply = subprocess.run([tmp_path / ".ci" / "readme"], capture_output=True, text=True)
    ran = (tmp_path / "commands.txt").read_text(encoding="utf-8").splitlines()
    commands = [
        line.split("#")[0].removeprefix("$ workbench ").strip()
        for line in readme.splitlines()
        if line.startswith("$ workbench ")
    ]
    promised = [command for command in commands if not command.startswith("open ")]
    assert len(promised) > 8
    assert ran == promised[: len(ran)] and ran[-1].startswith("export") and reply.returncode == 1


def faults(form: dict[str, Any]) -> Iterator[str]:
    """Yield a line for everything that GitHub would refuse in an issue form."""
    yield from (f"no {key}" for key in ("name", "description", "body") if not form.get(key))
    fields = form.get("body", [])
    ids = [field.get("id") for field in fields]
    yield from (f"two fields are called {id}" for id in sorted({id for id in ids if ids.count(id) > 1}))
    for field in fields:
        keys = set(field) - {"type", "id", "attributes", "validations"}
        if field.get("type") not in FIELDS or not field.get("attributes", {}).get("label") or keys:
            yield f"{field.get('id')}: no field of a form"
        if field.get("type") in {"dropdown", "checkboxes"} and not field.get("attributes", {}).get("options"):
            yield f"{field.get('id')}: nothing to choose"


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_is_complete_and_contributing_names_it(path):
    form = read(path)
    assert list(faults(form)) == []
    assert f"*{form['name']}*" in CONTRIBUTING


def test_a_form_that_github_refuses_is_noticed():
    assert len(FORMS) == 4
    bad = {
        "name": "Bug",
        "body": [{"type": "text", "id": "a"}, {"type": "dropdown", "id": "a", "attributes": {"label": "b"}}],
    }
    assert list(faults(bad)) == [
        "no description",
        "two fields are called a",
        "a: no field of a form",
        "a: nothing to choose",
    ]
