"""The four roads of the workbench, each with a command to start on: what `workbench` alone prints."""

from __future__ import annotations

ROADS = (
    ("compare", "two policies on the same requests", "workbench run sweeps/placement/drain.yaml"),
    ("replay", "your own memory snapshot", "workbench replay my_snapshot.pickle"),
    ("tune", "a policy's levers", "workbench tune sweeps/tune/placement.yaml"),
    ("look", "with sliders, in a browser", "workbench dashboard sweeps/placement/drain.yaml"),
)
"""Each road: its name, what one does on it, and its command."""


def roads() -> str:
    """Return the four roads as text, two lines a road."""
    lines = [f"  {name:<9}{says}\n  {'':<9}$ {command}" for name, says, command in ROADS]
    return "\n".join(["Four roads, each with a command to start on:", "", *lines])
