"""What a machine lacks is skipped by name and told in the end; with CI=true it is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import needs
from tests.needs import NEEDS, command, report, require
from tests.waiting import wait_until

ROOT = Path(__file__).parents[1]
SUITE = """
import pytest

from tests.needs import needs, require


@needs("pdflatex")
def test_paper():
    raise AssertionError("it was run without a TeX")


@pytest.mark.parametrize("which", ["plain", pytest.param("traced", marks=needs("public traces"))])
def test_traces(which):
    assert which == "plain"


@pytest.fixture
def browser():
    require("chromium")


def test_page(browser):
    raise AssertionError("it was run without a browser")
"""


def told(folder: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    """How a suite of its own ends on a machine that has nothing, and what is said last."""
    (folder / "test_suite.py").write_text(SUITE)
    (folder / "conftest.py").write_text("from tests.conftest import pytest_runtest_setup, pytest_terminal_summary\n")
    nothing = folder / "nothing"
    nothing.mkdir()
    (nothing / "facts.json").write_text("{}")
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "CHROMIUM")}
    kept |= {"PATH": str(nothing), "WORKBENCH_TRACES": str(nothing), "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", *arguments, str(folder)]
    message = subprocess.run(command, capture_output=True, text=True, env=kept, cwd=folder)
    return message.returncode, message.stdout + message.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "workers", ["0", pytest.param("1", marks=pytest.mark.slow), pytest.param("2", marks=pytest.mark.slow)]
)
def test_what_is_missing_is_skipped_by_name_and_told_in_the_end(tmp_path, workers):
    code, message = told(tmp_path, "-n", workers)
    assert code == 0, message
    assert "1 passed, 3 skipped" in message
    assert "needs chromium" in message
    tail = message[message.index(" not tested ") :]
    assert "this machine lacks: pdflatex (1 tests), chromium (1 tests), public traces (1 tests)." in tail
    assert "What brings it: apt-get install -y --no-install-recommends texlive-latex-base" in tail
    assert " chromium fonts-dejavu-core fonts-liberation\n" in tail
    assert "For the public traces: let WORKBENCH_TRACES name their folders" in tail


@pytest.mark.slow
def test_with_ci_a_missing_program_is_a_failure_and_missing_traces_are_not(tmp_path):
    code, message = told(tmp_path, CI="true")
    assert code == 1
    assert "1 passed, 1 skipped" in message
    assert "2 errors" in message
    assert "with CI=true nothing may be missing, and this machine lacks pdflatex: apt-get install" in message
    assert "with CI=true nothing may be missing, and this machine lacks chromium: apt-get install" in message
    assert "lacks: public traces (1 tests)." in message


def test_what_is_here_is_not_skipped(monkeypatch):
    monkeypatch.setitem(NEEDS, "pdflatex", needs.Need(lambda: "/usr/bin/pdflatex", ("texlive",)))
    require("pdflatex")
    monkeypatch.setitem(NEEDS, "pdflatex", needs.Need(lambda: None, ("texlive",)))
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"^needs pdflatex$"):
        require("pdflatex")


def test_a_need_that_nobody_knows_is_refused():
    with pytest.raises(KeyError, match="pdflatx"):
        needs.needs("pdflatx")


def test_one_command_brings_everything_each_package_once():
    assert command(["public traces"]) == ""
    packages = command(["xelatex", "pdflatex", "postgresql"]).split()
    assert packages.count("texlive-latex-base") == 1
    assert {"texlive-xetex", "postgresql"} <= set(packages)
    assert report([]) == ["Nothing that the tests need is missing on this machine."]
    assert report(["postgresql"])[1] == "What brings it: apt-get install -y --no-install-recommends postgresql"


def test_the_packages_are_those_that_continuous_integration_installs():
    text = (ROOT / ".ci" / "run").read_text()
    listed = text[text.index("packages=(") + len("packages=(") : text.index(")", text.index("packages=("))].split()
    assert set(listed) == {package for need in NEEDS.values() for package in need.packages}


def test_waiting_ends_when_the_condition_holds_and_fails_with_what_was_waited_for():
    answers = iter([0, None, 7])
    assert wait_until(lambda: next(answers)) == 7
    with pytest.raises(AssertionError, match="not within 0 s: the sun to rise"):
        wait_until(lambda: False, seconds=0, what="the sun to rise")
