"""Why a decision was taken: both sides' runs of one seed, step by step, to where they part."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ipywidgets as widgets

from workbench.dashboards._background import InThread
from workbench.dashboards._decision import decision_picture, decision_words
from workbench.dashboards._elements import alert, escaped, narrow_button, small_print
from workbench.engines.kit.engine import Setup
from workbench.errors import WorkbenchError
from workbench.explain.decisions import Decision, decisions_of, first_difference

ALL = ""
_INSTRUCTION = (
    "Press the button: both runs of the seed that is drawn are done once more in plain Python, and every question that "
    "a policy was asked is kept with what it saw and answered."
)

Runs = Callable[[], tuple[Sequence[str], Sequence[Setup], int]]
"""Gives the names of both sides, their setups, and the seed."""


class WhyPanel(widgets.VBox, InThread):
    """A button that runs both sides; a slider over the decisions; words and a picture of either side's."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._names: Sequence[str] = ("", "")
        self._decisions: list[list[Decision]] = [[], []]
        self.begin = narrow_button(
            "step through the decisions", "run both sides of the drawn seed in plain Python", self._go
        )
        self.begin.layout.width = "auto"
        self.question = widgets.Dropdown(options=[("every question", ALL)], description="question")
        self.question.observe(lambda _: self._filtered(), "value")
        self.place = widgets.IntSlider(
            0, 0, 0, description="decision", readout=False, layout={"flex": "1 1 200px", "width": "auto"}
        )
        self.place.observe(lambda _: self._show(), "value")
        self.back = narrow_button("◀", "the decision before", lambda: self.step(-1))
        self.forth = narrow_button("▶", "the next decision", lambda: self.step(1))
        self.part = narrow_button(
            "first difference", "the first decision at which the sides part", self.go_to_difference
        )
        self.words, self.sides = widgets.HTML(small_print(_INSTRUCTION)), [widgets.HTML(), widgets.HTML()]
        for side in self.sides:
            side.add_class("wb-decision")
        self.moves = widgets.HBox([self.back, self.forth, self.part, self.place])
        self.moves.add_class("wb-beside")
        both = widgets.HBox(self.sides)
        both.add_class("wb-beside")
        super().__init__([widgets.HBox([self.begin, self.question]), self.moves, self.words, both])
        self.add_class("wb-why")

    def step(self, by: int) -> None:
        """Go forwards, or backwards, by so many decisions."""
        self.place.value = min(max(self.place.value + by, 0), self.place.max)

    def go_to_difference(self) -> None:
        """Go to the first decision at which the two sides part."""
        number = first_difference(*self._filtered_sides())
        if number is None:
            self.words.value = small_print("The two sides do not part in the decisions that are kept.")
        else:
            self.place.value = min(number, self.place.max)
            self._show()

    def _go(self) -> None:
        if self._working is None or not self._working.is_alive():
            self.words.value = small_print("Both sides run in plain Python, which takes some seconds ...")
            self._begin(self._run)

    def _run(self) -> None:
        try:
            names, setups, seed = self._runs()
            decisions = [decisions_of(setup, seed) for setup in setups]
        except WorkbenchError as mistake:
            self._decisions = [[], []]
            self._filtered()
            self.words.value = alert(mistake)
            return
        self._names, self._decisions = names, decisions
        questions = sorted({decision.question for side in decisions for decision in side})
        self.question.options = [("every question", ALL), *((one, one) for one in questions)]
        self.question.value = ALL
        self._filtered()

    def _filtered_sides(self) -> list[list[Decision]]:
        question = self.question.value
        return [[one for one in side if question in (ALL, one.question)] for side in self._decisions]

    def _filtered(self) -> None:
        self.place.max = max(max(map(len, self._filtered_sides())) - 1, 0)
        self.place.value = min(self.place.value, self.place.max)
        self._show()

    def _show(self) -> None:
        sides, at = self._filtered_sides(), self.place.value
        if not any(sides):
            answered = any(self._decisions)
            self.words.value = small_print(
                "Neither side was asked anything." if not answered else "Nobody was asked this."
            )
        else:
            self.words.value = small_print(_where(sides, at))
        for name, side, panel in zip(self._names, sides, self.sides, strict=True):
            panel.value = _side(name, side, at)


def _where(sides: Sequence[Sequence[Decision]], at: int) -> str:
    """Return in a sentence where one stands, and where the sides part."""
    part = first_difference(*sides)
    parts = "they do not part" if part is None else f"they part at decision {part + 1:,}"
    after = " From there on the two runs are in different states." if part is not None and at > part else ""
    return f"Decision {at + 1:,}; {len(sides[0]):,} and {len(sides[1]):,} are kept, and {parts}.{after}"


def _side(name: str, side: Sequence[Decision], at: int) -> str:
    title = f"<h4>{escaped(name)}</h4>"
    if at >= len(side):
        return title + small_print(
            "No such decision on this side." if side else "This side decides without being asked."
        )
    return f"{title}{decision_picture(side[at])}{decision_words(side[at])}"
