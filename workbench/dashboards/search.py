"""A search box over the levers: what it names is seen, wherever it was folded away, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable

import ipywidgets as widgets

from workbench.dashboards.controls import Control

MISS = "wb-miss"


def search_box() -> widgets.Text:
    """Return the box in which one types what is sought."""
    box = widgets.Text(placeholder="find a lever or a policy: nx, window, groups ...")
    box.tooltip = "shows the levers and policies whose names hold these words; empty, everything is as it was folded"
    box.add_class("wb-search")
    return box


def matching(walked: Iterable[tuple[str, Control]], sought: str) -> set[str]:
    """Return the paths that are seen while words are sought: hits, what they stand in, and what stands in them.

    >>> from workbench.dashboards.controls import control_for
    >>> from workbench.levers import Lever
    >>> nx = control_for(Lever("nx", "integer", 4, least=1, most=9))
    >>> sorted(matching([("policy.choice", nx), ("policy.choice.sum.nx", nx), ("seeds", nx)], "NX"))
    ['policy.choice', 'policy.choice.sum.nx']
    """
    paths = dict(walked)
    words = sought.lower().split()
    hits = [path for path, control in paths.items() if all(word in _text(path, control) for word in words)]
    return {path for path in paths if any(_related(path, hit) for hit in hits)}


def _text(path: str, control: Control) -> str:
    words = path.replace("_", " ").replace(".", " ").replace("other ", "policy ", 1)
    return f"{words} {path} {control.lever.unit}".lower()


def _related(path: str, hit: str) -> bool:
    """Return whether one of two paths stands in the other."""
    short, long = sorted((path, hit), key=len)
    return long == short or (long.startswith(short) and long[len(short)] in ".[")


def miss(widget: widgets.Widget, missed: bool) -> None:
    """Hide a widget while something else is sought."""
    if missed:
        widget.add_class(MISS)
    elif MISS in widget._dom_classes:
        widget.remove_class(MISS)
