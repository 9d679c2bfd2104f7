"""What a dropped snapshot recorded: reserved bytes over time beside a replay, and its segments at any moment.

Recorded bytes are full lines, replayed ones a dashed one. The map of a card's segments shows each block by size,
coloured by age or by state, what is free pale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import ipywidgets as widgets
import numpy as np
import traitlets

from workbench.dashboards import page
from workbench.dashboards.canvas import CanvasWidget, PickingWidget, column, script
from workbench.dashboards.dropped_file import reading_of
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.errors import WorkbenchError
from workbench.studies.torch_memory.lives import Lives, Moment
from workbench.studies.torch_memory.snapshot import CardHistory, card_histories, failed_first
from workbench.studies.torch_memory.trial import DEFAULTS, grid
from workbench.units import bytes_said
from workbench.workloads.allocator_log import ACTIONS

GREY, BLACK, ORANGE = "#8a949e", "#222222", "#e8590c"
_WIDE = {"width": "auto", "flex": "1 1 240px"}
_WHOLE = {"description_width": "initial"}


class MemoryHistoryPanel(widgets.VBox, page.InThread):
    """Curves, a slider over the events, and the map of segments; nothing is shown of what is no snapshot.

    Reading a snapshot takes a moment, so a thread does it; one that is no longer looked at by then is passed over.
    """

    def __init__(self) -> None:
        self._cards: list[CardHistory] = []
        self._shown: tuple[str, str] | None = None
        self._is_filling = False
        self.words, self.says = widgets.HTML(), widgets.HTML()
        self.card = self._choice("card", self._show_card)
        self.settings = self._choice("replayed under", self._show_curves)
        self.colour = self._choice("colour", self._show_moment, [("by age", "age"), ("by state", "state")])
        self.own = widgets.Text(
            placeholder="settings of your own",
            continuous_update=False,
            layout=_WIDE,
            style=_WHOLE,
            description="or under",
        )
        self.own.observe(lambda _: self._show_curves(), "value")
        self.place = widgets.IntSlider(
            0, 0, 0, description="after event", layout={**_WIDE, "flex": "1 1 300px"}, style=_WHOLE
        )
        self.place.observe(lambda _: self._show_moment(), "value")
        self.back = page.narrow_button("◀", "the event before", lambda: self.step(-1))
        self.forth = page.narrow_button("▶", "the next event", lambda: self.step(1))
        self.decisive = page.narrow_button("", "the moment that the lines above are about", self.go_to_decisive)
        self.curves, self.map = MemoryCurvesPanel(self._pick), SegmentMapPanel()
        self.replayed = widgets.HBox([self.card, self.settings, self.own])
        self.moves = widgets.HBox([self.back, self.forth, self.decisive, self.place, self.colour])
        for row in (self.replayed, self.moves):
            row.add_class("wb-beside")
        self.seen = widgets.VBox([self.curves, self.replayed, self.moves, self.says, self.map])
        super().__init__([self.seen, self.words])
        self.add_class("wb-advice")
        self._hide()

    def show(self, snapshot: tuple[str, str] | None) -> None:
        """Show a snapshot, its file and its digest; None hides the panel, one that is shown already stays."""
        if snapshot == self._shown:
            return
        self._shown = snapshot
        self._hide()
        if snapshot is not None:
            self.layout.display = None
            self.words.value = page.fine("Reading what the snapshot recorded ...")
            self._begin(self._read, snapshot)

    def step(self, by: int) -> None:
        """Go forwards, or backwards, by so many events."""
        self._pick(self.place.value + by)

    def go_to_decisive(self) -> None:
        """Go to the moment that the five lines are about: before the card failed, else where most was reserved."""
        self._pick(self._cards[self.card.value].decisive)

    def _choice(self, name: str, changed: Callable[[], None], options: Sequence[Any] = ()) -> widgets.Dropdown:
        choice = widgets.Dropdown(description=name, options=options, layout=_WIDE, style=_WHOLE)
        choice.observe(lambda _: changed(), "value")
        return choice

    def _hide(self) -> None:
        self.layout.display = self.seen.layout.display = "none"
        self._cards = []

    def _pick(self, after: int) -> None:
        self.place.value = min(max(after, 0), self.place.max)

    def _read(self, snapshot: tuple[str, str]) -> None:
        path = snapshot[0]
        try:
            cards, mistake = failed_first(card_histories(path, reading_of(snapshot))), ""
        except WorkbenchError as wrong:
            cards, mistake = [], str(wrong).replace(path, Path(path).name)
        if snapshot != self._shown:
            return
        if not cards:
            self.words.value = page.fine(mistake) if mistake else ""
            return
        self._cards = cards
        self._fill(lambda: _set(self.card, [(f"GPU {one.log.device}", k) for k, one in enumerate(cards)]))
        self.card.layout.display = None if len(cards) > 1 else "none"
        self._show_card()
        self.seen.layout.display = None

    def _fill(self, action: Callable[[], None]) -> None:
        """Do something to several controls without showing each step of it."""
        self._is_filling = True
        try:
            action()
        finally:
            self._is_filling = False

    def _show_card(self) -> None:
        if self._is_filling or not self._cards:
            return
        one = self._cards[self.card.value]
        self._fill(lambda: self._fill_controls(one))
        for widget in (self.settings, self.own, self.curves, self.place, self.back, self.forth, self.decisive):
            widget.layout.display = None if one.events else "none"
        self.words.value = _exactness(one)
        self._show_curves()
        self._show_moment()

    def _fill_controls(self, one: CardHistory) -> None:
        _set(self.settings, _settings(one.own))
        self.decisive.description = "at the peak" if one.failure is None else "before it failed"
        other = DEFAULTS if one.own.expandable_segments else DEFAULTS.but(expandable_segments=True)
        self.settings.value = other
        self.map.stacks = [list(stack) for stack in one.log.stacks]
        self.place.max, self.place.value = one.events, one.decisive

    def _show_curves(self) -> None:
        if self._is_filling or not self._cards:
            return
        one = self._cards[self.card.value]
        if not one.events:
            return
        try:
            chosen = AllocatorSettings.parse(self.own.value) if self.own.value.strip() else self.settings.value
        except WorkbenchError as wrong:
            self.words.value = page.mistake(wrong)
            return
        replayed = one.reserved(chosen)
        self.words.value = f"{_exactness(one)}{_peaks(one, replayed, chosen)}"
        self.curves.show(
            [
                Line("allocated (the same replayed)", one.recorded.allocated, GREY),
                Line("reserved, recorded", one.recorded.reserved, BLACK),
                Line(f"reserved, replayed under {_name(chosen, one.own)}", replayed, ORANGE, (6, 4)),
            ]
        )

    def _show_moment(self) -> None:
        if self._is_filling or not self._cards:
            return
        one, after = self._cards[self.card.value], self.place.value
        moment = one.moment(after)
        self.curves.at = after
        peak = int(one.recorded.reserved.max())
        scene = map_scene(one.lives, moment, one.log.events.time_us, self.colour.value, peak)
        self.map.put(scene)
        free = moment.reserved_bytes - moment.block_bytes
        self.says.value = (
            f"<p>{_event(one, after)}: {bytes_said(moment.reserved_bytes)} reserved in "
            f"{len(moment.segment_size):,} segments; {bytes_said(moment.block_bytes)} in {len(moment.size):,} blocks, "
            f"{bytes_said(free)} free, the longest run {bytes_said(moment.largest_free_bytes)}. "
            f"A line of the map is {bytes_said(scene['row'])}; gaps are not reserved then.</p>"
        )


def _settings(own: AllocatorSettings) -> list[tuple[str, AllocatorSettings | None]]:
    """Return the choices: the replay as it was recorded, then the others that `workbench advise` tries first."""
    others = [settings for settings in grid(own) if settings != own]
    return [(_name(None, own), None), *((_name(settings, own), settings) for settings in others)]


def _name(settings: AllocatorSettings | None, own: AllocatorSettings) -> str:
    if settings is None:
        return f"the recorded settings ({own.conf or 'defaults'})"
    return settings.conf or "PyTorch's defaults"


def _exactness(one: CardHistory) -> str:
    if not one.events:
        return (
            "<p>This snapshot holds no history, so there is no curve over time: the map shows the moment at which it "
            "was taken. Call torch.cuda.memory._record_memory_history() first to record one.</p>"
        )
    return f"<p>Replayed under its own settings: {page.text(one.replay.exactness)}.</p>"


def _peaks(one: CardHistory, replayed: Any, chosen: AllocatorSettings | None) -> str:
    recorded, under = int(one.recorded.reserved.max()), int(replayed.max())
    anew = chosen is not None and not one.replay.recording.is_whole
    start = " The replay starts with what was live before the history, laid out anew." if anew else ""
    name = page.text(_name(chosen, one.own))
    return (
        f"<p>{one.name}: reserved at most {bytes_said(recorded)} recorded, {bytes_said(under)} under {name}.{start}</p>"
    )


def _event(one: CardHistory, after: int) -> str:
    """Return which moment it is, and what the event before it did."""
    if not one.events:
        return "The moment of the snapshot"
    if not after:
        return "Before the first event"
    events, at = one.log.events, after - 1
    action = int(events.action[at])
    what = f" ({ACTIONS[action]} of {bytes_said(int(events.size[at]))})" if action < len(ACTIONS) else ""
    return f"After event {after:,} of {one.events:,}{what}"


def _set(choice: widgets.Dropdown, options: list[tuple[str, Any]]) -> None:
    choice.options = options
    choice.index = 0


POINTS = 1500
"""Points of a line at most: of each stretch of events the highest."""
_GIB, _MIB = 1 << 30, 1 << 20


class Line(NamedTuple):
    """One curve."""

    name: str
    bytes: np.ndarray
    """int64[events + 1], after each number of events."""
    colour: str
    dash: tuple[int, ...] = ()


class MemoryCurvesPanel(PickingWidget):
    """Lines, and the moment that is looked at; a click on the picture chooses another."""

    _esm = script("memory_curves.js")
    at = traitlets.Int(0).tag(sync=True)
    """After how many events the moment is."""

    def show(self, lines: list[Line]) -> None:
        """Show lines over the same events."""
        self.put(curves_scene(lines))


def curves_scene(lines: list[Line]) -> dict[str, Any]:
    """Return what the browser draws."""
    events = max((len(line.bytes) - 1 for line in lines), default=0)
    peak = max((int(line.bytes.max()) for line in lines), default=0)
    unit, word = (_GIB, "GiB") if peak >= _GIB else (_MIB, "MiB")
    return {
        "curves": [
            {
                "name": line.name,
                "value": column(highest(line.bytes) / unit),
                "colour": line.colour,
                "dash": list(line.dash),
            }
            for line in (lines if events else [])
        ],
        "events": events,
        "unit": word,
        "most": 1.08 * max(peak / unit, 1e-3),
    }


def highest(values: np.ndarray, points: int = POINTS) -> np.ndarray:
    """Return values, of very many the highest of each stretch; the first and the last stay.

    >>> highest(np.array([1, 9, 2, 4, 3]), 3).tolist()
    [1, 9, 3]
    """
    if len(values) <= points:
        return values
    inside = np.linspace(1, len(values) - 1, points - 1).astype(int)[:-1]
    peaks = np.maximum.reduceat(values[:-1], inside)
    return np.concatenate([values[:1], peaks, values[-1:]])


Colour = Literal["age", "state"]
ROWS = 24
"""Lines in which the memory is written, at most."""
PAGE = 2 << 20
"""A line is a multiple of so many bytes."""
SCATTERED = 4
"""Memory that lay at so many times the places that it needed at most is drawn moment by moment, without gaps."""
AGES = (10, 100, 1_000, 10_000)
"""Events at which another colour begins."""
AGE_KEY = (
    ("< 10", "#e0cf2e"),
    ("< 100", "#7ad151"),
    ("< 1,000", "#22a884"),
    ("< 10,000", "#2a788e"),
    ("older", "#414487"),
    ("before the history", "#440154"),
)
"""Light is young and dark is old, in steps that are told apart without their hue (viridis)."""
STATE_KEY = (("in use", "#0072b2"), ("freed, awaits other streams", "#e69f00"))


class SegmentMapPanel(CanvasWidget):
    """A block under the pointer, or by the arrow keys, says its size, its age, its state and who asked for it."""

    _esm = script("segment_map.js")
    stacks: Any = traitlets.List().tag(sync=True)
    """Of each place of the program the frames that asked, the innermost first."""


class Places(NamedTuple):
    """Where ranges of addresses lie on one line of bytes without what was never used."""

    start: np.ndarray
    size: np.ndarray

    @property
    def total(self) -> int:
        """Return the bytes of all ranges."""
        return int(self.size.sum())

    def of(self, address: np.ndarray) -> np.ndarray:
        """Return the place of each address on the line: int64[addresses]."""
        if not len(self.start):
            return np.zeros(len(address), np.int64)
        before = np.cumsum(self.size) - self.size
        at = np.searchsorted(self.start, address, side="right") - 1
        result: np.ndarray = before[at] + address - self.start[at]
        return result


def places_of(address: np.ndarray, size: np.ndarray) -> Places:
    """Return the ranges that segments cover, those that overlap or touch as one.

    >>> places = places_of(np.array([100, 0, 40]), np.array([50, 50, 20]))
    >>> places.total, places.of(np.array([0, 59, 100])).tolist()
    (110, [0, 59, 60])
    """
    order = np.argsort(address, kind="stable")
    start, until = address[order], np.maximum.accumulate((address + size)[order])
    first = np.concatenate([[True], start[1:] > until[:-1]]) if len(start) else np.zeros(0, bool)
    last = np.concatenate([first[1:], [True]]) if len(start) else first
    return Places(start[first], until[last] - start[first])


def map_scene(lives: Lives, moment: Moment, time_us: np.ndarray, colour: Colour, peak: int) -> dict[str, Any]:
    """Return what the browser draws of a moment.

    Parameters
    ----------
    lives : Lives
        The history: a segment keeps its place while the moment moves.
    moment : Moment
        What is there then.
    time_us : ndarray
        int64[events], when each event was, -1 = not told.
    colour : {"age", "state"}
        What the blocks' colours mean.
    peak : int
        The most bytes that were reserved at a time.
    """
    ever = places_of(lives.segments.address, lives.segments.size)
    is_scattered = ever.total > SCATTERED * max(peak, 1)
    places = places_of(moment.segment_address, moment.segment_size) if is_scattered else ever
    whole = max(peak if is_scattered else places.total, 1)
    row = -(-whole // (ROWS * PAGE)) * PAGE
    return {
        "after": moment.after,
        "row": row,
        "rows": -(-whole // row),
        "segments": {"at": column(places.of(moment.segment_address)), "size": column(moment.segment_size)},
        "blocks": {
            "at": column(places.of(moment.address)),
            "size": column(moment.size),
            "born": column(moment.born),
            "age": column(ages_us(moment, time_us)),
            "stack": column(moment.site),
            "awaited": column(moment.is_awaited),
            "fill": column(age_fills(moment) if colour == "age" else moment.is_awaited),
        },
        **(_key("age in events:", AGE_KEY) if colour == "age" else _key("state:", STATE_KEY)),
    }


def _key(heading: str, key: Sequence[tuple[str, str]]) -> dict[str, Any]:
    return {"heading": heading, "key": [list(pair) for pair in key], "fills": [fill for _, fill in key]}


def age_fills(moment: Moment) -> np.ndarray:
    """Return which of `AGE_KEY` each block has: int64[blocks]."""
    age = np.searchsorted(AGES, moment.after - moment.born, side="right")
    return np.where(moment.born == 0, len(AGE_KEY) - 1, age)


def ages_us(moment: Moment, time_us: np.ndarray) -> np.ndarray:
    """Return how long ago each block was allocated, in microseconds; -1 where that is not told: int64[blocks]."""
    if not moment.after:
        return np.full(len(moment.born), -1)
    then, now = time_us[np.maximum(moment.born, 1) - 1], time_us[moment.after - 1]
    is_told = (moment.born > 0) & (then >= 0) & (now >= then)
    return np.where(is_told, now - then, -1)
