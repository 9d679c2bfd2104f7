"""Levers by path: those that a search box or a pattern names, and those that a refusal is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import ipywidgets as widgets

from workbench.dashboards._controls import Control

MISS = "wb-miss"
Walked = Iterable[tuple[str, Control]]
_Path = tuple[list[str], Control]
_NAME = re.compile(r"[a-z]\w*(?:\[\d+\])*(?:\.\w+(?:\[\d+\])*)*")


def search_box() -> widgets.Text:
    """Return the box in which one types what is sought."""
    box = widgets.Text(placeholder="find a lever or a policy: nx, window, groups ...")
    box.tooltip = "shows the levers and policies whose names hold these words; empty, everything is as it was folded"
    box.add_class("wb-search")
    return box


def matching(walked: Iterable[tuple[str, Control]], sought: str) -> set[str]:
    """Return the paths that are seen while words are sought: hits, what they stand in, and what stands in them.

    >>> from workbench.dashboards._spec_controls import control_for
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


def first_of(walked: Walked, patterns: Sequence[str]) -> list[tuple[str, Control]]:
    """Return the controls whose paths match, in the order of the patterns; `policy` stands for both sides."""
    paths = list(walked)
    chosen: dict[str, Control] = {}
    for pattern in patterns:
        for path, control in paths:
            if fnmatchcase(path.replace("other.", "policy.", 1) if path.startswith("other.") else path, pattern):
                chosen.setdefault(path, control)
    return list(chosen.items())


def wrong_levers(walked: Iterable[tuple[str, Control]], sentence: str) -> list[Control]:
    """Return the controls that a sentence names, the innermost of several; none where it names none.

    A path of several words says more than a word alone, which may be no lever's name at all.

    >>> from workbench.dashboards._spec_controls import control_for
    >>> from workbench.levers import Lever
    >>> low = control_for(Lever("low", "integer", 4, least=1, most=9))
    >>> high = control_for(Lever("high", "integer", 4, least=1, most=9))
    >>> walked = [("workload.groups.size.low", low), ("workload.groups.size.high", high)]
    >>> [one.lever.name for one in wrong_levers(walked, "size.high must be at most 3. Got 4.")]
    ['high']
    >>> size = control_for(Lever("size", "integer", 4, least=1, most=9))
    >>> sentence = "workload.groups.size must draw at most 3. Nearest: uniform.high = 3."
    >>> walked = [("workload.groups.size", size), ("workload.groups.size.uniform.high", high)]
    >>> [one.lever.name for one in wrong_levers(walked, sentence)]
    ['high']
    """
    paths = [(re.sub(r"^other\.", "policy.", path).split("."), control) for path, control in walked]
    best: list[Control] = []
    rank = (False, -1)
    for name in _names(sentence):
        words = name.split(".")
        hits = _named(words, paths)
        depth = (len(words) > 1, max((len(path) for path, _ in hits), default=-1))
        if hits and depth > rank:
            best, rank = [control for _, control in hits], depth
    return best


def _named(name: list[str], paths: list[_Path]) -> list[_Path]:
    """Return the levers with exactly this path, else those whose paths end so, else those with words between them."""
    exact = [one for one in paths if one[0] == name]
    ends = [one for one in paths if one[0][-len(name) :] == name]
    return exact or ends or [one for one in paths if len(name) > 1 and _in_order(name, one[0])]


def _in_order(name: list[str], path: list[str]) -> bool:
    words = iter(path)
    return path[-1] == name[-1] and all(word in words for word in name)


def _names(sentence: str) -> list[str]:
    """Return the possible paths of levers in a sentence, also without the place in a list at its end."""
    names = _NAME.findall(sentence)
    return [*names, *(re.sub(r"\[\d+\]$", "", name) for name in names if name.endswith("]"))]
