"""What `workbench` alone prints: four ways to start, a command each."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Start(NamedTuple):
    """One way to begin: its name, what one does, and its command."""

    name: str
    description: str
    command: str
    file: str
    """What the command begins with where it lies below the working folder, as in a copy of the repository."""
    otherwise: str
    """What it begins with elsewhere: a name that is installed, or a file of the user's, in capitals."""


STARTS = (
    Start("compare", "two policies on the same requests", "workbench run", "sweeps/placement/drain.yaml", "SWEEP.yaml"),
    Start("replay", "your own memory snapshot", "workbench trace replay", "", "SNAPSHOT.pickle"),
    Start("tune", "a policy's levers", "workbench tune", "sweeps/tune/placement.yaml", "STUDY.yaml"),
    Start(
        "look", "with sliders, in a browser", "workbench open dashboard", "sweeps/placement/drain.yaml", "shared_memory"
    ),
)


def quickstart(folder: Path | None = None) -> str:
    """Return the four ways to start as text, two lines each; files that are not below a folder are not named.

    Parameters
    ----------
    folder : path, optional
        The working folder by default.
    """
    lines = [f"  {start.name:<9}{start.description}\n  {'':<9}$ {command_of(start, folder)}" for start in STARTS]
    text = "\n".join(["Four roads, each with a command to start on:", "", *lines])
    yours = "\n\nSWEEP.yaml and STUDY.yaml are files of yours; workbench list schema says\nwhat may stand in a sweep."
    return text + (yours if "SWEEP.yaml" in text else "")


def command_of(start: Start, folder: Path | None = None) -> str:
    """Return the command of a start, with its file if that is below a folder.

    >>> command_of(STARTS[3], Path("nowhere"))
    'workbench open dashboard shared_memory'
    """
    there = bool(start.file) and ((folder or Path()) / start.file).is_file()
    return f"{start.command} {start.file if there else start.otherwise}"
