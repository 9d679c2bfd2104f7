"""What a lever answers for the card that it gets on top of a page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from workbench.dashboards._settings import Setting
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
        """Return what a side has."""

    @abstractmethod
    def change(self, setting: Setting, side: str, value: Any) -> Change:
        """Return what is turned where this lever is moved, the policy that it belongs to included."""

    def turned_off(self, setting: Setting, side: str) -> Change:
        """Return what is turned so that the lever counts no more."""
        return {}

    def can_turn_off(self, setting: Setting, side: str) -> bool:
        """Return whether the lever counts on a side by a policy of the side's own."""
        return False

    def offers(self, setting: Setting, side: str) -> Sequence[float]:
        """Return where a slider stops, given the other levers; nothing = anywhere."""
        return ()

    def instead(self, setting: Setting, side: str, nearest: Any) -> Sequence[Any]:
        """Return what may stand in place of a value that is none of the lever's, of which the nearest that is one."""
        return (nearest,)

    def drawing(self, setting: Setting) -> str:
        """Return what the lever does in a setting, as SVG."""
        return ""

    def cures(self, setting: Setting, sentence: str) -> Iterable[tuple[Any, Change]]:
        """Return values of this lever that may mend a refusal, and what is turned for each; the nearest first."""
        return ()
