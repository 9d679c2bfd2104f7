"""The levers that a page is about, on top of it: a card each, for both sides, with a drawing of what it does."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import ipywidgets as widgets

from workbench.dashboards import markup
from workbench.dashboards.controls import Control, control_for
from workbench.dashboards.controls.number import NumberControl
from workbench.dashboards.history import Setting
from workbench.dashboards.number_chips import LengthsControl, NumbersControl
from workbench.dashboards.sidebar import Sidebar
from workbench.errors import InputError
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


class LeverCards:
    """A row of cards; a move turns the same controls that stand in the sidebar."""

    def __init__(self, levers: Sequence[CardLever], sidebar: Sidebar) -> None:
        self.cards = {lever.letter: Card(lever, sidebar) for lever in levers}
        self.widget = widgets.Box([card.widget for card in self.cards.values()])
        self.widget.add_class("wb-cards")
        self._sidebar = sidebar
        self.refresh()

    def refresh(self) -> None:
        """Show what the sidebar says; where that is no setting, cards stay as they are."""
        try:
            setting = self._sidebar.setting()
        except InputError:
            return
        for card in self.cards.values():
            card.refresh(setting)


class Card:
    """One lever: what it is, a drawing, and a control a side."""

    def __init__(self, lever: CardLever, sidebar: Sidebar) -> None:
        self.lever, self._sidebar = lever, sidebar
        letter, title = markup.text(lever.letter), markup.text(lever.title)
        head = widgets.HTML(f"<b>{letter}</b> {title}", tooltip=lever.lever.description)
        head.add_class("wb-card-head")
        self.sides = {side: CardSide(lever.lever, side) for side in lever.sides}
        for side, row in self.sides.items():
            row.control.on_change(partial(self._moved, side))
            row.off.on_click(lambda _, side=side: self._turned_off(side))
        self.refusal = widgets.VBox([])
        self.refusal.add_class("wb-refusal")
        self.widget = widgets.VBox([head, *(row.widget for row in self.sides.values()), self.refusal])
        self.widget.add_class("wb-card")

    def refresh(self, setting: Setting) -> None:
        """Show what a setting says."""
        for side, row in self.sides.items():
            state = self.lever.state(setting, side)
            row.show(state, self.lever.offers(setting, side), self.lever.can_turn_off(setting, side))

    def _moved(self, side: str) -> None:
        setting = self._sidebar.setting()
        self._sidebar.turn(self.lever.change(setting, side, self.sides[side].control.plain()))

    def _turned_off(self, side: str) -> None:
        self._sidebar.turn(self.lever.turned_off(self._sidebar.setting(), side))


class CardSide:
    """A lever's control on one side."""

    def __init__(self, lever: Lever, side: str) -> None:
        self.control = _control(lever)
        self.words = widgets.HTML()
        self.words.add_class("wb-card-words")
        self.off = widgets.Button(description="×", tooltip="turn it off on this side")
        self.off.add_class("wb-card-off")
        self._side = side
        self.widget = widgets.VBox([widgets.HBox([self.words, self.off]), self.control.widget])
        self.widget.add_class("wb-card-side")
        self.widget.add_class(f"wb-card-{side.split()[0]}")

    def show(self, state: State, offers: Sequence[float], can_turn_off: bool) -> None:
        """Show a state and where the slider stops; nobody is called."""
        self.words.value = f"<b>{markup.text(self._side)}</b> {markup.text(state.words)}"
        self.off.layout.visibility = "visible" if can_turn_off else "hidden"
        self.control.widget.layout.display = "none" if state.value is None else ""
        if state.on:
            self.widget.remove_class("wb-card-idle")
        else:
            self.widget.add_class("wb-card-idle")
        if state.value is not None:
            if isinstance(self.control, NumberControl) and offers:
                self.control.offer(offers)
            self.control.show(state.value)


def _control(lever: Lever) -> Control:
    """Return the control of a lever without its name, which the card says."""
    nameless = dataclasses.replace(lever, name="", default=lever.default if lever.kind == "integer" else ())
    if lever.kind == "integer":
        return control_for(nameless)
    return LengthsControl(nameless) if lever.name == "run_lengths" else NumbersControl(nameless)
