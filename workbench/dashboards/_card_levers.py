"""Levers as their cards need them, and the cures that they offer for a refused setting.

A cure turns one lever, to the nearest value that goes with the others or to the one that the refusal names; each is
tried before it is offered.
"""

from __future__ import annotations

import ast
import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from workbench.dashboards._settings import Setting, put
from workbench.errors import WorkbenchError
from workbench.levers import Lever

BOTH = "both sides"
Change = Mapping[str, Any]
"""What is turned: plain values by the paths of their controls."""


class State(NamedTuple):
    """What a side has of a lever."""

    value: Any
    """The value, or the one that it would begin with; None where the lever is not to be had."""
    on: bool
    """Whether the lever counts."""
    words: str


class CardLever(ABC):
    """A lever of a page as its card needs it; a setting is what `Sidebar.setting` returns."""

    letter: str
    """As the specification writes it."""
    title: str
    names: Sequence[str]
    """The last words of the paths that refusals call it by."""
    refused_by: str
    """What its refusals look like, as a regular expression."""
    lever: Lever
    sides: ClassVar[Sequence[str]]

    @abstractmethod
    def state(self, setting: Setting, side: str) -> State:
        """Return the values of a side."""

    @abstractmethod
    def change(self, setting: Setting, side: str, value: Any) -> Change:
        """Return the settings that a move of this lever turns, the policy that it belongs to included."""

    def turned_off(self, setting: Setting, side: str) -> Change:
        """Return the settings to turn so that the lever counts no more."""
        return {}

    def can_turn_off(self, setting: Setting, side: str) -> bool:
        """Return whether the lever counts on a side by a policy of the side's own."""
        return False

    def offers(self, setting: Setting, side: str) -> Sequence[float]:
        """Return the stops of a slider, given the other levers; nothing = anywhere."""
        return ()

    def instead(self, setting: Setting, side: str, nearest: Any) -> Sequence[Any]:
        """Return the substitute for a value that is none of the lever's: the nearest that is one."""
        return (nearest,)

    def drawing(self, setting: Setting) -> str:
        """Return a drawing of the lever's effect in a setting, as SVG."""
        return ""

    def cures(self, setting: Setting, sentence: str) -> Iterable[tuple[Any, Change]]:
        """Return values of this lever that may avoid a refusal, and the settings to turn for each; the nearest
        first."""
        return ()


MOST_CURES = 3
_ROOTS = {"policy": "baseline"}
_REFUSED = re.compile(r"(?:[\w\[\]]+\.)+(\w+) (must .*?)\. Got (.*?)\.(?: Nearest: (.*))?$")

Check = Callable[[Setting], object]


class Cure(NamedTuple):
    """One thing to turn."""

    words: str
    change: Change


def refused_levers(levers: Iterable[CardLever], sentence: str, moved: str = "") -> list[CardLever]:
    """Return the levers that a refusal is about, the one that was moved last before the others."""
    hits = [lever for lever in levers if re.search(lever.refused_by, sentence)]
    return sorted(hits, key=lambda lever: lever.letter != moved)


def short_refusal(levers: Sequence[CardLever], sentence: str) -> str:
    """Return a refusal as a card says it: the lever by its letter, without its path and the nearest value.

    >>> short_refusal([], "policy.probe.grouped_run.groups must divide vgpr (112 blocks). Got 32. Nearest: 16.")
    'groups must divide N = 112 (vgpr). Got 32.'
    >>> short_refusal([], "where policy.stuck = never_split: group 3 needs 9 blocks.")
    'group 3 needs 9 blocks.'
    """
    hit = _REFUSED.search(sentence)
    if hit is None:
        return re.sub(r"^where policy\..*?: (?=\w+ \d)", "", sentence)
    name, expected, got, _ = hit.groups()
    letters = {one: lever.letter for lever in levers for one in lever.names}
    expected = re.sub(r"vgpr \((\d+) blocks\)", r"N = \1 (vgpr)", expected)
    if name not in letters:
        return f"{name.replace('_', ' ')} {expected}. Got {got}."
    return f"{letters[name]} = {got} {expected}."


def nearest_of(sentence: str) -> tuple[Any, Any] | None:
    """Return the refused value and the nearest one that the message names, where both are values; None otherwise.

    >>> nearest_of("policy.priority.priority_windows.lengths must not grow. Got (1, 2). Nearest: (2, 1).")
    ((1, 2), (2, 1))
    """
    hit = _REFUSED.search(sentence)
    try:
        return None if hit is None else (ast.literal_eval(hit[3]), ast.literal_eval((hit[4] or "").rstrip(".")))
    except (ValueError, SyntaxError):
        return None


def cures_of(levers: Iterable[CardLever], sentence: str, setting: Setting, check: Check) -> list[Cure]:
    """Return changes that would make a refused setting valid, a few of each lever, and none that would be refused
    again."""
    offered = ((lever, *one) for lever in levers for one in lever.cures(setting, sentence))
    return list(itertools.islice(accepted_cures(offered, setting, check), MOST_CURES))


def accepted_cures(offered: Iterable[tuple[CardLever, Any, Change]], setting: Setting, check: Check) -> Iterator[Cure]:
    """Yield those of some values of levers, each with what is turned for it, that are not refused."""
    for lever, value, change in offered:
        if _mends(changed(setting, change), check):
            listed = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
            yield Cure(f"set {lever.letter} = {listed}", change)


def changed(setting: Setting, change: Change) -> Setting:
    """Return a setting in which something else is turned.

    >>> changed({"baseline": {"probe": "exact_run"}, "seeds": 3}, {"policy.probe": {"grouped_run": {"groups": 4}}})
    {'baseline': {'probe': {'grouped_run': {'groups': 4}}}, 'seeds': 3}
    """
    result = dict(setting)
    for path, value in change.items():
        root, _, rest = path.partition(".")
        result = put(result, f"{_ROOTS.get(root, root)}.{rest}", value)
    return result


def _mends(setting: Setting, check: Check) -> bool:
    try:
        check(setting)
    except WorkbenchError:
        return False
    return True
