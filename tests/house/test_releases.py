"""What `make test ENVIRONMENT=...` installs, and what it says where it cannot."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.releases import requirements

ROOT = Path(__file__).parents[2]
STUBS = {"pandas-stubs", "scipy-stubs", "types-PyYAML"}


def make(*arguments):
    """Return the exit status of make and what it said."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "--no-print-directory", *arguments]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stderr.strip()


def test_each_requirement_but_the_stubs_has_one_lower_bound_which_is_the_oldest_release():
    newest, oldest = requirements("newest"), requirements("oldest")
    bounds = [re.fullmatch(r"([\w-]+(?:\[\w+\])?)>=([\d.]+)(?: ;.*)?", line) for line in newest]
    assert {line for line, bound in zip(newest, bounds) if bound is None} == STUBS
    pins = [f"{bound[1]}=={bound[2]}" for bound in bounds if bound is not None]
    assert [line.partition(" ;")[0] for line in oldest if line not in STUBS] == pins


def test_the_requirements_are_read_without_any_package():
    ran = subprocess.run(
        [sys.executable, "-S", "-m", "tests.releases", "oldest"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split("\n")[:-1] == requirements("oldest")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("python", "ENVIRONMENT=newest", "PYTHON=false"),
            "ENVIRONMENT=newest needs Python 3.13 with venv, and false is not that;",
        ),
        (
            ("python", "ENVIRONMENT=oldest", "PYTHON=false"),
            "ENVIRONMENT=oldest needs Python 3.11 with venv, and false is not that;",
        ),
        (("python", "PYTHON=false"), "ENVIRONMENT=lock needs Python 3.11 or newer with venv, and false is not that;"),
        (("test", "ENVIRONMENT=new"), "ENVIRONMENT is lock, newest or oldest. Got new."),
    ],
)
def test_an_environment_that_cannot_be_is_one_sentence(arguments, says):
    status, text = make(*arguments)
    assert status == 2
    assert says in text.splitlines()[0] and len(text.splitlines()) <= 2
