"""Which lever a refusal is about: the one whose path its sentence names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.dashboards.controls import Control

_Path = tuple[list[str], Control]
_NAME = re.compile(r"[a-z]\w*(?:\[\d+\])*(?:\.\w+(?:\[\d+\])*)*")


def wrong_levers(walked: Iterable[tuple[str, Control]], sentence: str) -> list[Control]:
    """Return the controls that a sentence names, the innermost of several; none where it names none.

    A path of several words says more than a word alone, which may be no lever's name at all.

    >>> from workbench.dashboards.controls import control_for
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
    """Return what may be a lever's path in a sentence, also without the place in a list at its end."""
    names = _NAME.findall(sentence)
    return [*names, *(re.sub(r"\[\d+\]$", "", name) for name in names if name.endswith("]"))]
