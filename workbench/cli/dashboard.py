"""`workbench dashboard [NAME]`: a dashboard as a page of its own, on this host alone."""

from __future__ import annotations

import argparse

from workbench.cli.command import Command
from workbench.dashboards import DASHBOARDS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        default="shared_memory",
        help=f"which one: {', '.join(DASHBOARDS.names())} (default: shared_memory); a sweep file; a results folder",
    )
    parser.add_argument("--port", type=int, default=8866, metavar="PORT", help="where it listens; 0 = any free port")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")


def run(given: argparse.Namespace) -> int:
    from workbench.dashboards.serve import serve

    return serve(given.name, given.port, not given.no_browser)


COMMAND = Command("dashboard", "Serve a dashboard in a browser, without any request off this host.", add_arguments, run)
