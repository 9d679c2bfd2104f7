"""`workbench dashboard [NAME]`: a dashboard as a page of its own, on this host alone."""

from __future__ import annotations

import argparse

from workbench.cli.command import Command
from workbench.dashboards import DASHBOARDS
from workbench.dashboards.serve import MOST_PAGES, serve


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
    parser.add_argument(
        "--token",
        metavar="TEXT",
        help="what the address must hold (default: JUPYTER_TOKEN, which other users do not see, or a new one)",
    )
    parser.add_argument(
        "--pages",
        type=int,
        default=MOST_PAGES,
        metavar="N",
        help=f"how many may be open at once (default: {MOST_PAGES})",
    )


def run(given: argparse.Namespace) -> int:
    return serve(given.name, given.port, not given.no_browser, given.token, given.pages)


COMMAND = Command("dashboard", "Serve a dashboard in a browser, without any request off this host.", add_arguments, run)
