"""The four roads of the workbench, each with a command to start on: what `workbench` alone prints."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Road(NamedTuple):
    """One road: its name, what one does on it, and its command."""

    name: str
    says: str
    command: str
    file: str
    """What the command begins with where it lies below the working folder, as in a copy of the repository."""
    otherwise: str
    """What it begins with elsewhere: a name that is installed, or a file of the user's, in capitals."""


ROADS = (
    Road("compare", "two policies on the same requests", "workbench run", "sweeps/placement/drain.yaml", "SWEEP.yaml"),
    Road("replay", "your own memory snapshot", "workbench replay", "", "SNAPSHOT.pickle"),
    Road("tune", "a policy's levers", "workbench tune", "sweeps/tune/placement.yaml", "STUDY.yaml"),
    Road("look", "with sliders, in a browser", "workbench dashboard", "sweeps/placement/drain.yaml", "shared_memory"),
)


def roads(folder: Path | None = None) -> str:
    """Return the four roads as text, two lines a road; files that are not below a folder are not named.

    Parameters
    ----------
    folder : path, optional
        The working folder by default.
    """
    lines = [f"  {road.name:<9}{road.says}\n  {'':<9}$ {command_of(road, folder)}" for road in ROADS]
    text = "\n".join(["Four roads, each with a command to start on:", "", *lines])
    yours = "\n\nSWEEP.yaml and STUDY.yaml are files of yours; workbench schema says what\nmay stand in a sweep."
    return text + (yours if "SWEEP.yaml" in text else "")


def command_of(road: Road, folder: Path | None = None) -> str:
    """Return the command of a road, with its file if that is below a folder.

    >>> command_of(ROADS[3], Path("nowhere"))
    'workbench dashboard shared_memory'
    """
    there = bool(road.file) and ((folder or Path()) / road.file).is_file()
    return f"{road.command} {road.file if there else road.otherwise}"
