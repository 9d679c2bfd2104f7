"""`workbench open dashboard`, `open lab` and `open docs`: pages in a browser, from this host alone.

A dashboard as a page of its own, JupyterLab on the project's notebooks, the documentation's site, built first where it
is not.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import webbrowser
from pathlib import Path

from workbench.cli._output import add_output_arguments, say_json
from workbench.cli.commands import DONE, PASSED_ON
from workbench.dashboards import DASHBOARDS
from workbench.dashboards.page_access import MOST_PAGES
from workbench.dashboards.process_supervisor import run_supervised
from workbench.dashboards.voila_server import serve
from workbench.errors import InputError, WorkbenchError, no_file


def _arguments_of_dashboard(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        default="shared_memory",
        help=f"which one: {', '.join(DASHBOARDS.names())} (default: shared_memory); FILE.py:NAME of yours; "
        "a sweep file; a results folder",
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


def _run_dashboard(args: argparse.Namespace) -> int:
    return serve(args.name, args.port, not args.no_browser, args.token, args.pages)


DASHBOARD = _arguments_of_dashboard, _run_dashboard

QUIET = ("--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.news_url=None")
"""JupyterLab would ask public hosts for news and updates; a workbench makes no request off the host."""


def _arguments_of_lab(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", default=None, help="where to open it (default: notebooks/ if there is one)"
    )
    parser.add_argument("--port", type=int, default=8888, metavar="PORT", help="where it listens (default: 8888)")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    parser.epilog = "Any other option, and all behind it, goes to JupyterLab: workbench open lab --ip=0.0.0.0"
    parser.set_defaults(**{PASSED_ON: []})


def _run_lab(args: argparse.Namespace) -> int:
    if args.folder and not Path(args.folder).exists():
        raise no_file(args.folder, "there is no such folder.")
    folder = args.folder or ("notebooks" if Path("notebooks").is_dir() else ".")
    return run_supervised([sys.executable, "-m", "jupyterlab", *lab_options(args), folder])


def lab_options(args: argparse.Namespace) -> list[str]:
    """Return the options of JupyterLab: as root it runs where it is told to, as in a container."""
    own = [f"--port={args.port}", *(["--no-browser"] if args.no_browser else [])]
    as_root = ["--allow-root"] if os.geteuid() == 0 else []
    return [*own, *as_root, *QUIET, *getattr(args, PASSED_ON)]


LAB = _arguments_of_lab, _run_lab

CHECKOUT = Path(__file__).resolve().parents[2]
SITE = CHECKOUT / "docs" / "_build" / "html" / "index.html"


def _arguments_of_docs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--build", action="store_true", help="build it again, as `make docs` does")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser: say where it is")
    add_output_arguments(parser)


def _run_docs(args: argparse.Namespace) -> int:
    if args.build or not SITE.exists():
        _build_site()
    if args.json:
        say_json({"site": str(SITE)})
    else:
        print(SITE)
    if not args.no_browser:
        webbrowser.open(SITE.as_uri())
    return DONE


def _build_site() -> None:
    """Build the site in a process of its own, which compiles nothing.

    Raises
    ------
    InputError
        The package does not lie in a checkout of the project.
    WorkbenchError
        The build failed; its sentence stands above.
    """
    if not (CHECKOUT / "docs" / "conf.py").is_file():
        raise InputError(
            "the documentation is built from a checkout of the project (`make docs`; its pages can then be copied), "
            "and this package was installed without one; `workbench COMMAND --help` and "
            "`workbench list policies | measures | figures | workloads | levers NAME` say the same."
        )
    print("workbench: building the documentation once, in a minute or two ...", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "workbench.docs"]
    if subprocess.run(command, cwd=CHECKOUT, stdout=subprocess.DEVNULL).returncode:
        raise WorkbenchError("the documentation could not be built; the sentences above say why.")


DOCS = _arguments_of_docs, _run_docs
