"""The levers that a page is about, on top of it: a card each, for both sides, with a drawing of what it does.

Next to the card that a refusal is about stands its cure.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import ipywidgets as widgets

from workbench.dashboards._background import Later
from workbench.dashboards._card_levers import (
    CardLever,
    Check,
    Cure,
    State,
    accepted_cures,
    cures_of,
    nearest_of,
    refused_levers,
    short_refusal,
)
from workbench.dashboards._controls import Control, LengthsControl, NumberControl, NumbersControl
from workbench.dashboards._elements import alert, escaped
from workbench.dashboards._settings import Setting
from workbench.dashboards._sidebar import Sidebar
from workbench.dashboards._spec_controls import control_for
from workbench.errors import WorkbenchError
from workbench.levers import Lever

REST_SECONDS = 0.15
"""How long levers must rest before cures are looked for: each is tried."""
OFF = "wb-card-off"
"""The class of a card whose lever counts on neither side: it cannot change a picture."""
Button = tuple[str, Callable[[], object]]
Listener = Callable[[str, str], None]


class LeverCards:
    """A row of cards; a move turns the same controls that stand in the sidebar."""

    def __init__(self, levers: Sequence[CardLever], sidebar: Sidebar, check: Check = lambda _: None) -> None:
        """Take as `check` what refuses a setting."""
        self.cards = {lever.letter: Card(lever, self._moved, self._turned_off) for lever in levers}
        self.widget = widgets.Box([card.widget for card in self.cards.values()])
        self.widget.add_class("wb-cards")
        self._sidebar, self._check = sidebar, check
        self._last, self._refusal = "", ""
        self._rest = Later(self._cure)
        self.refresh()

    def refuse(self, sentence: str) -> bool:
        """Say why a setting was refused next to the lever that it is about; the cure follows when levers rest.

        Return whether one of the cards is about it.
        """
        self.accept()
        hits = self._concerned(sentence)
        if hits:
            self._refusal = sentence
            self.cards[hits[0].letter].say(short_refusal(hits, sentence), [])
            self._rest.start(REST_SECONDS)
        return bool(hits)

    def accept(self) -> None:
        """Take away what was said about an earlier setting."""
        self._rest.cancel()
        for card in self.cards.values():
            card.say("", [])

    def stop(self) -> None:
        """Look for no more cures."""
        self._rest.cancel()

    def _concerned(self, sentence: str) -> list[CardLever]:
        return refused_levers([card.lever for card in self.cards.values()], sentence, self._last)

    def _cure(self) -> None:
        hits = self._concerned(self._refusal)
        try:
            cures = cures_of(hits, self._refusal, self._sidebar.setting(), self._check)
        except WorkbenchError:
            return  # what was typed elsewhere is no value
        self.cards[hits[0].letter].say(short_refusal(hits, self._refusal), self._buttons(cures))

    def _buttons(self, cures: Iterable[Cure]) -> list[Button]:
        return [(cure.words, partial(self._sidebar.turn, cure.change)) for cure in cures]

    def _moved(self, letter: str, side: str) -> None:
        """Turn what a card's control says; what is none of the lever's values is turned nowhere, and why is said."""
        card = self.cards[letter]
        self._last, value = letter, card.sides[side].control.plain()
        try:
            setting = self._sidebar.setting()
            self._sidebar.turn(card.lever.change(setting, side, value))
        except WorkbenchError as mistake:
            self.accept()
            near = nearest_of(str(mistake))
            values = [] if near is None else card.lever.instead(setting, side, near[1])
            offered = ((card.lever, one, card.lever.change(setting, side, one)) for one in values)
            cures = itertools.islice(accepted_cures(offered, setting, self._check), 1)
            card.say(short_refusal([card.lever], str(mistake)), self._buttons(cures))

    def _turned_off(self, letter: str, side: str) -> None:
        self._sidebar.turn(self.cards[letter].lever.turned_off(self._sidebar.setting(), side))

    def refresh(self) -> None:
        """Show what the sidebar says; where that is no setting, cards stay as they are."""
        try:
            setting = self._sidebar.setting()
            for card in self.cards.values():
                card.refresh(setting)
        except WorkbenchError:
            return


class Card:
    """One lever: what it is, a drawing, and a control a side."""

    def __init__(self, lever: CardLever, on_move: Listener, on_turn_off: Listener) -> None:
        """Call `on_move` and `on_turn_off` with the letter of the lever and the side."""
        self.lever = lever
        letter, title = escaped(lever.letter), escaped(lever.title)
        head = widgets.HTML(f"<b>{letter}</b> {title}", tooltip=lever.lever.description)
        head.add_class("wb-card-head")
        self.drawing = widgets.HTML()
        self.drawing.add_class("wb-card-drawing")
        self.sides = {side: CardSide(lever.lever, side) for side in lever.sides}
        for side, row in self.sides.items():
            row.control.on_change(partial(on_move, lever.letter, side))
            row.switch.on_click(
                lambda _, row=row, side=side: (on_turn_off if row.can_turn_off else on_move)(lever.letter, side)
            )
        self.refusal = widgets.VBox([])
        self.refusal.add_class("wb-refusal")
        rows = [row.widget for row in self.sides.values()]
        self.widget = widgets.VBox([head, self.drawing, *rows, self.refusal])
        self.widget.add_class("wb-card")

    def refresh(self, setting: Setting) -> None:
        """Show what a setting says; a lever that counts on neither side is folded."""
        counts = False
        for side, row in self.sides.items():
            state = self.lever.state(setting, side)
            row.show(state, self.lever.offers(setting, side), self.lever.can_turn_off(setting, side))
            counts = counts or state.on or state.value is None
        (self.widget.remove_class if counts else self.widget.add_class)(OFF)
        self.drawing.value = self.lever.drawing(setting)

    def say(self, sentence: str, cures: Sequence[Button]) -> None:
        """Show a refusal with a button a cure; nothing for an empty sentence."""
        if not sentence:
            if self.refusal.children:
                self.refusal.children = []
            return
        buttons = [widgets.Button(description=words) for words, _ in cures]
        for button, (_, mend) in zip(buttons, cures, strict=True):
            button.on_click(lambda _, mend=mend: mend())
        self.refusal.children = [widgets.HTML(alert(sentence)), *buttons]


class CardSide:
    """A lever's control on one side."""

    def __init__(self, lever: Lever, side: str) -> None:
        self.control = _control(lever)
        self.words = widgets.HTML()
        self.words.add_class("wb-card-words")
        self.switch = widgets.Button()
        self.switch.add_class("wb-card-switch")
        self.can_turn_off = False
        """Whether the lever counts here by a policy of this side's own, so that it can be turned off."""
        self._side = side
        self.widget = widgets.VBox([widgets.HBox([self.words, self.switch]), self.control.widget])
        self.widget.add_class("wb-card-side")
        self.widget.add_class(f"wb-card-{side.split()[0]}")

    def show(self, state: State, offers: Sequence[float], can_turn_off: bool) -> None:
        """Show a state and the stops of the slider; no listener is called."""
        self.words.value = f"<b>{escaped(self._side)}</b> {escaped(state.words)}"
        self.can_turn_off = can_turn_off
        self.switch.description, way = ("×", "off") if can_turn_off else ("on", "on, with the value below,")
        self.switch.tooltip = f"turn it {way} on this side"
        idle = state.value is not None and not state.on
        self.switch.layout.visibility = "visible" if can_turn_off or idle else "hidden"
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
