"""`workbench lab`: JupyterLab on the project's notebooks."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.cli.command import Command
from workbench.dashboards.leash import call_on_leash

QUIET = ("--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.news_url=None")
"""JupyterLab would ask public hosts for news and updates; a workbench makes no request off the host."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", default=None, help="where to open it (default: notebooks/ if there is one)"
    )
    parser.add_argument("--port", type=int, default=8888)


def run(given: argparse.Namespace) -> int:
    folder = given.folder or ("notebooks" if Path("notebooks").is_dir() else ".")
    return call_on_leash([sys.executable, "-m", "jupyterlab", f"--port={given.port}", *QUIET, folder])


COMMAND = Command("lab", "Open JupyterLab on the notebooks.", add_arguments, run)
