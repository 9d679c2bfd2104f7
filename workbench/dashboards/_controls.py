"""Widgets of single levers: a slider with a number box, a drop-down, a tick, a text, a list as chips.

A control hands its value on as a sweep file would write it. Nothing here knows a mechanism: ranges, units and meanings
come from the lever alone. The box next to a slider takes any exact value of the lever's whole range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ipywidgets as widgets

from workbench.dashboards._elements import alert
from workbench.dashboards._slider_stops import nearest_stop, stops
from workbench.errors import wrong_value
from workbench.levers import Lever

Listener = Callable[[], None]
WRONG = "wb-wrong"
"""The class of what was refused."""
REFUSAL = "wb-refusal"
"""The class of the sentence that says why."""
MOST = 90
"""Characters of a reason that an option shows."""


class Control:
    """One lever on the screen."""

    def __init__(self, lever: Lever) -> None:
        self.lever = lever
        self.widget: widgets.Widget = widgets.Box()
        self._listeners: list[Listener] = []
        self._quiet = 0
        self._candidate: Any = None

    def plain(self) -> Any:
        """Return the value in plain types, as a sweep file writes it.

        Raises
        ------
        InputError
            What was typed is not a value of the lever.
        """
        raise NotImplementedError

    def show(self, value: Any) -> None:
        """Show a value without telling anyone; what the widget cannot show is refused by the lever first."""
        with self._quietly():
            self._show(self.lever.check(value))

    def turn(self, value: Any) -> None:
        """Show a value as if the user had turned to it: whoever listens is told."""
        self.show(value)
        self._changed()

    @contextmanager
    def trying(self, value: Any) -> Iterator[None]:
        """Let `plain` return another value meanwhile, as if it were chosen; nothing on the screen changes."""
        self._candidate = value
        try:
            yield
        finally:
            self._candidate = None

    def on_change(self, listener: Listener) -> None:
        """Call someone whenever the user changes the value."""
        self._listeners.append(listener)

    def refresh(self) -> None:
        """Look again at what there is to choose from; only controls that offer a catalogue have anything to do."""

    def walk(self, path: str) -> Iterator[tuple[str, Control]]:
        """Yield this control and those within it, each with its path as a sweep writes it."""
        yield path, self

    def mark(self, wrong: bool) -> None:
        """Show that this control's value was refused, or that it no longer is."""
        mark(self.widget, wrong)

    def say(self, refusal: str) -> None:
        """Write below the control why its value is refused; nothing for an empty sentence."""
        if not isinstance(self.widget, widgets.Box):
            return
        kept = [child for child in self.widget.children if REFUSAL not in child._dom_classes]
        if refusal:
            sentence = widgets.HTML(alert(refusal))
            sentence.add_class(REFUSAL)
            kept.insert(1 if isinstance(self.widget, widgets.VBox) else len(kept), sentence)
        if refusal or len(kept) < len(self.widget.children):
            self.widget.children = kept

    def _show(self, value: Any) -> None:
        raise NotImplementedError

    def _changed(self, _change: object = None) -> None:
        if not self._quiet:
            for listener in self._listeners:
                listener()

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1


def mark(widget: widgets.Widget, wrong: bool) -> None:
    """Give a widget the look of what was refused, or take it away."""
    if wrong:
        widget.add_class(WRONG)
    elif WRONG in widget._dom_classes:
        widget.remove_class(WRONG)


def marked(words: str, why: str | None) -> str:
    """Return the text of an option, with the reason for which the whole setting would be refused.

    >>> marked("best fit", None), marked("best fit", "sweep: segments must be at least 64. Got 8.")
    ('best fit', 'best fit (refused here: segments must be at least 64. Got 8.)')
    """
    if why is None:
        return words
    reason = " ".join(why.removeprefix("sweep: ").split())
    return f"{words} (refused here: {reason if len(reason) <= MOST else reason[: MOST - 3].rstrip() + '...'})"


def row(lever: Lever, *displayed: widgets.Widget) -> widgets.Box:
    """Return a labeled row; the lever's meaning appears when the pointer rests on it. What has no name has no label."""
    box = widgets.HBox([*([_label(lever)] if lever.name else []), *displayed])
    box.add_class("wb-row")
    return box


def label_of(lever: Lever) -> str:
    """Return the name of a lever in its row; a unit that the name ends with is written once.

    >>> label_of(Lever("hold_cycles", "integer", unit="cycles")), label_of(Lever("count", "integer", unit="groups"))
    ('hold cycles', 'count (groups)')
    """
    words = lever.name.replace("_", " ")
    return words if lever.unit and words.split()[-1:] == [lever.unit] else lever.label


def _label(lever: Lever) -> widgets.Label:
    label = widgets.Label(label_of(lever), tooltip=lever.description)
    label.add_class("wb-label")
    return label


class NumberControl(Control):
    """An integer or a real number."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever)
        self.box = _box(lever)
        self.declared = stops(lever)
        """Where the slider could stop by the lever's own range."""
        self.stops: Sequence[float] = self.declared
        self.slider = widgets.IntSlider(0, 0, max(len(self.stops) - 1, 0), readout=False, tooltip=lever.description)
        self.slider.add_class("wb-slider")
        self.box.observe(self._typed, "value")
        self.slider.observe(self._slid, "value")
        inputs = [self.slider, self.box] if len(self.stops) > 1 else [self.box]
        self.widget = row(lever, *inputs)

    def plain(self) -> Any:
        value = self.box.value if self._candidate is None else self._candidate
        return self.lever.plain(self.lever.check(value))

    def offer(self, values: Sequence[float]) -> None:
        """Let the slider stop at these values alone; what is typed into the box is as it was."""
        if values and list(values) != list(self.stops):
            with self._quietly(), self.slider.hold_sync():
                self.stops = values
                self.slider.value = 0
                self.slider.max = len(values) - 1
                self._follow()

    def _show(self, value: Any) -> None:
        self.box.value = value
        self._follow()

    def _follow(self) -> None:
        if self.stops:
            self.slider.value = nearest_stop(list(self.stops), self.box.value)

    def _typed(self, _change: object) -> None:
        if not self._quiet:
            with self._quietly():
                self._follow()
            self._changed()

    def _slid(self, _change: object) -> None:
        if not self._quiet:
            with self._quietly():
                self.box.value = self.stops[self.slider.value]
            self._changed()


def _box(lever: Lever) -> Any:
    """Return a box that holds any value of the lever; a range without ends gets a box without ends."""
    whole = lever.kind == "integer"
    bounded = lever.least is not None and lever.most is not None
    kinds = (widgets.BoundedIntText, widgets.IntText) if whole else (widgets.BoundedFloatText, widgets.FloatText)
    ends = {"min": lever.least, "max": lever.most} if bounded else {}
    box = kinds[0 if bounded else 1](**ends, step=lever.step or (1 if whole else None), tooltip=lever.description)
    box.add_class("wb-number")
    return box


class _OneWidget(Control):
    """A control whose value is its only widget's."""

    def __init__(self, lever: Lever, widget: Any) -> None:
        super().__init__(lever)
        self.field = widget
        self.field.tooltip = lever.description
        self.field.add_class("wb-pick")
        self.field.observe(self._changed, "value")
        self.widget = row(lever, self.field)

    def plain(self) -> Any:
        return self.lever.plain(self.lever.check(self.field.value if self._candidate is None else self._candidate))

    def _show(self, value: Any) -> None:
        self.field.value = value


def words(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return names as a drop-down shows them, each with the name itself.

    >>> words(["drain_cycles"])
    [('drain cycles', 'drain_cycles')]
    """
    return [(name.replace("_", " "), name) for name in names]


class NameControl(_OneWidget):
    """One of the lever's names, as a drop-down."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever, widgets.Dropdown(options=words(lever.choices)))
        self.offered: Sequence[str] = lever.choices

    def offer(self, names: Sequence[str]) -> None:
        """Let these names alone be chosen, and the present one; no listener is called."""
        present = self.field.value
        kept = [name for name in self.lever.choices if name in names or name == present]
        if kept != list(self.offered):
            with self._quietly(), self.field.hold_sync():
                self.offered = kept
                self.field.options = words(kept)
                self.field.value = present

    def _show(self, value: Any) -> None:
        if value not in self.offered:
            self.offer(self.lever.choices)
        super()._show(value)


class SwitchControl(_OneWidget):
    """On or off."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever, widgets.Checkbox(indent=False))


class TextControl(_OneWidget):
    """A line of text; it counts when it is finished, not letter by letter."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever, widgets.Text(continuous_update=False))


class ListControl(_OneWidget):
    """Numbers with commas between them."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever, widgets.Text(continuous_update=False, placeholder="1, 2, 4"))

    def plain(self) -> Any:
        return self.lever.plain(self.lever.check(read_numbers(self.field.value, self.lever)))

    def _show(self, value: Any) -> None:
        self.field.value = ", ".join(f"{item:g}" if isinstance(item, float) else str(item) for item in value)


def read_numbers(text: str, lever: Lever) -> list[float]:
    """Read the numbers of a typed list.

    >>> read_numbers("1, 2 4;8", Lever("outcomes", "integers"))
    [1, 2, 4, 8]
    >>> read_numbers("1, two", Lever("outcomes", "integers"))
    Traceback (most recent call last):
    workbench.errors.InputError: outcomes must be numbers with commas between them. Got '1, two'.
    """
    words = text.replace(",", " ").replace(";", " ").split()
    try:
        return [int(word) if lever.kind == "integers" else float(word) for word in words]
    except ValueError:
        raise wrong_value("", lever.name, "must be numbers with commas between them", text) from None


class LengthsControl(Control):
    """Different numbers in rising order, each a chip that can be taken out; another is typed behind them."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever)
        self.chips = widgets.IntsInput(
            value=[],
            min=lever.least,
            max=lever.most,
            allow_duplicates=False,
            placeholder="+",
            tooltip=lever.description,
        )
        self.chips.add_class("wb-chips")
        self.chips.observe(self._changed, "value")
        self.widget = self.chips

    def plain(self) -> list[int]:
        return sorted(set(self.chips.value))

    def _show(self, value: Any) -> None:
        self.chips.value = list(value)


class NumbersControl(Control):
    """Numbers in an order, each a chip that is typed over or stepped."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever)
        self.boxes: list[widgets.BoundedIntText] = []
        self.row = widgets.HBox([])
        self.row.add_class("wb-chips")
        self.widget = self.row

    def plain(self) -> list[int]:
        return [box.value for box in self.row.children]

    def _show(self, value: Any) -> None:
        while len(self.boxes) < len(value):
            self.boxes.append(self._box())
        for box, number in zip(self.boxes, value, strict=False):
            box.value = number
        self.row.children = self.boxes[: len(value)]

    def _box(self) -> widgets.BoundedIntText:
        box = widgets.BoundedIntText(min=self.lever.least, max=self.lever.most, tooltip=self.lever.description)
        box.observe(self._changed, "value")
        return box
