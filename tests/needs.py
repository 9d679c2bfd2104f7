"""What tests need that a machine may lack: each thing by its name, how it is found, and what brings it.

`@needs("pdflatex")` above a test (or in `pytestmark`, or in the marks of a parameter) skips it by that name where the
program is not installed; `require("chromium")` does the same inside a fixture. With `CI=true` in the environment a
missing program is a failure; the public traces alone may be absent. `python -m tests.needs` says what is not here.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import pytest

from benchmarks.faults import postgresql
from tests import public_traces

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
TEX = ("texlive-latex-base", "texlive-latex-recommended", "texlive-pictures", "lmodern", "cm-super")


class Need(NamedTuple):
    """One thing that a machine may lack."""

    found: Callable[[], object]
    packages: tuple[str, ...] = ()
    """The Debian packages that bring it."""
    cure: str = ""
    """What brings it where no package does."""


def browser() -> str | None:
    """The browser that the variable CHROMIUM names, or the first that is installed."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


def _program(name: str, *packages: str) -> Need:
    return Need(lambda: shutil.which(name), packages)


TRACES = "public traces"
NEEDS = {
    "pdflatex": _program("pdflatex", *TEX),
    "xelatex": _program("xelatex", *TEX, "texlive-xetex"),
    "pdftotext": _program("pdftotext", "poppler-utils"),
    "chromium": Need(browser, ("chromium", "fonts-dejavu-core", "fonts-liberation")),
    "postgresql": Need(postgresql.programs, ("postgresql",)),
    "libcachesim": Need(
        lambda: importlib.util.find_spec("libcachesim"), cure="use Linux on x86-64, for which the lock file brings it"
    ),
    "pyosys": Need(lambda: importlib.util.find_spec("pyosys"), cure="install the extra `circuits`"),
    "bitwuzla": Need(lambda: importlib.util.find_spec("bitwuzla"), cure="install the extra `circuits`"),
    "iverilog": _program("iverilog", "iverilog"),
    "g++": _program("g++", "g++"),
    "root": Need(lambda: os.geteuid() == 0, cure="run the tests as root, who alone gives files to another user"),
    TRACES: Need(
        lambda: public_traces.FACTS, cure="let WORKBENCH_TRACES name their folders, or put them into ../shared/traces"
    ),
}
ABSENT = re.compile("needs (" + "|".join(map(re.escape, NEEDS)) + ")$")


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark a test with the things that it needs.

    Raises
    ------
    KeyError
        No thing has this name.
    """
    return pytest.mark.needs(*(name for name in names if NEEDS[name]))


def require(name: str) -> None:
    """Skip the running test by name if the machine lacks a thing; with `CI=true` fail, but for the public traces."""
    need = NEEDS[name]
    if need.found():
        return
    if name != TRACES and os.environ.get("CI") == "true":
        cure = command([name]) or need.cure
        pytest.fail(f"with CI=true nothing may be missing, and this machine lacks {name}: {cure}")
    pytest.skip(f"needs {name}")


def missing() -> list[str]:
    """What this machine lacks."""
    return [name for name, need in NEEDS.items() if not need.found()]


def command(names: Iterable[str]) -> str:
    """The one command that brings some things; empty where no package does."""
    packages = list(dict.fromkeys(package for name in names for package in NEEDS[name].packages))
    return f"apt-get install -y --no-install-recommends {' '.join(packages)}" if packages else ""


def counted(reasons: Iterable[str]) -> Counter[str]:
    """How many tests each missing thing has cost, of the reasons for which tests were skipped.

    >>> counted(["Skipped: needs xelatex", "Skipped: is about compiled code", "Skipped: needs xelatex"])
    Counter({'xelatex': 2})
    """
    return Counter(result[1] for result in map(ABSENT.search, reasons) if result)


def report(names: Iterable[str], counts: Counter[str] | None = None) -> list[str]:
    """What was not tested for want of some things, and how to bring them, in lines."""
    names = [name for name in NEEDS if name in set(names)]
    if not names:
        return ["Nothing that the tests need is missing on this machine."]
    messages = [f"{name} ({counts[name]} tests)" if counts else name for name in names]
    lines = [f"Not tested, because this machine lacks: {', '.join(messages)}."]
    if command(names):
        lines.append(f"What brings it: {command(names)}")
    return [*lines, *(f"For the {name}: {NEEDS[name].cure}." for name in names if NEEDS[name].cure)]


if __name__ == "__main__":
    sys.stdout.write("\n".join(report(missing())) + "\n")
