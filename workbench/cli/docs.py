"""`workbench docs`: the documentation's site in a browser, from this host's files; built first where it is not."""

from __future__ import annotations

import argparse
import subprocess
import sys
import webbrowser
from pathlib import Path

import workbench
from workbench.cli.command import DONE, Command
from workbench.errors import InputError, WorkbenchError

ROOT = Path(workbench.__file__).resolve().parents[1]
SITE = ROOT / "docs" / "_build" / "html" / "index.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--build", action="store_true", help="build it anew, as `make docs` does")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser: say where it is")


def run(given: argparse.Namespace) -> int:
    if given.build or not SITE.exists():
        _build()
    print(SITE)
    if not given.no_browser:
        webbrowser.open(SITE.as_uri())
    return DONE


def _build() -> None:
    """Build the site in a process of its own, which compiles nothing.

    Raises
    ------
    InputError
        The package does not lie in a checkout of the project.
    WorkbenchError
        The build failed; its sentence stands above.
    """
    if not (ROOT / "docs" / "conf.py").is_file():
        raise InputError(
            "the documentation is built from a checkout of the project (`make docs`; its pages can then be copied), "
            "and this package was installed without one; "
            "`workbench COMMAND --help` and `workbench policies | measures | figures | workloads | levers NAME` say "
            "the same."
        )
    print("workbench: building the documentation once, in a minute or two ...", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "workbench.docs"]
    if subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL).returncode:
        raise WorkbenchError("the documentation could not be built; the sentences above say why.")


COMMAND = Command("docs", "Open the documentation, without any request off this host.", add_arguments, run)
