"""The PDF of a paper, where this machine has a TeX; where it has none, the sentence that says so."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

LATEX, BIBTEX = "pdflatex", "bibtex"
DEBIAN = "texlive-latex-recommended texlive-pictures"
LIMIT_SECONDS = 120


class Typeset(NamedTuple):
    """What came of setting a paper."""

    pdf: Path | None
    """None where it could not be set."""
    sentence: str


def set_pdf(folder: str | Path, main: str = "main") -> Typeset:
    """Set `main.tex` of a folder with its bibliography.

    Returns
    -------
    Typeset
        The PDF; or None and why: a program of TeX is missing, or TeX stopped, with the first line that says why.
    """
    folder = Path(folder)
    missing = [name for name in (LATEX, BIBTEX) if shutil.which(name) is None]
    if missing:
        programs = " and ".join(missing)
        return Typeset(None, f"no PDF: {programs} not found (Debian: {DEBIAN}); all else is in {folder}.")
    latex = [LATEX, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", main]
    for command in (latex, [BIBTEX, main], latex, latex):
        problem = _problem(command, folder)
        if problem and command[0] == LATEX:
            return Typeset(None, f"no PDF: {LATEX} stopped at {folder / main}.tex: {problem}")
    return Typeset(folder / f"{main}.pdf", f"paper: {folder / main}.pdf")


def _problem(command: list[str], folder: Path) -> str:
    """Return what a program of TeX complains about, empty where it is content."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=LIMIT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"it took more than {LIMIT_SECONDS} seconds."
    if done.returncode == 0:
        return ""
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return next((line for line in lines if line.startswith("!")), f"exit status {done.returncode}.")
