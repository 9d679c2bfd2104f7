"""The history of a dropped snapshot: its bytes over time next to a replay, and its segments at any moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.advice.torch_memory.search_space import DEFAULTS, grid
from workbench.advice.torch_memory.snapshot import CardHistory, card_histories, failed_first
from workbench.dashboards._advice_panel import reading_of
from workbench.dashboards._background import InThread
from workbench.dashboards._elements import alert, escaped, narrow_button, small_print
from workbench.dashboards._snapshot_pictures import Line, MemoryCurvesPanel, SegmentMapPanel, map_scene
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.errors import WorkbenchError
from workbench.number_text import bytes_said
from workbench.workloads.allocator_log import ACTIONS

GREY, BLACK, ORANGE = "quiet", "series0", "series1"
_WIDE = {"width": "auto", "flex": "1 1 240px"}
_WHOLE = {"description_width": "initial"}


class MemoryHistoryPanel(widgets.VBox, InThread):
    """Curves, a slider over the events, and the map of segments; nothing is shown of what is no snapshot.

    Reading a snapshot takes a moment, so a thread does it; one that is no longer looked at by then is passed over.
    """

    def __init__(self) -> None:
        self._cards: list[CardHistory] = []
        self._snapshot: tuple[str, str] | None = None
        self._is_filling = False
        self.words, self.moment_text = widgets.HTML(), widgets.HTML()
        self.card = self._choice("card", self._show_card)
        self.settings = self._choice("replayed under", self._show_curves)
        self.colour = self._choice("colour", self._show_moment, [("by age", "age"), ("by state", "state")])
        self.own_settings = widgets.Text(
            placeholder="settings of your own",
            continuous_update=False,
            layout=_WIDE,
            style=_WHOLE,
            description="or under",
        )
        self.own_settings.observe(lambda _: self._show_curves(), "value")
        self.place = widgets.IntSlider(
            0, 0, 0, description="after event", layout={**_WIDE, "flex": "1 1 300px"}, style=_WHOLE
        )
        self.place.observe(lambda _: self._show_moment(), "value")
        self.back = narrow_button("◀", "the event before", lambda: self.step(-1))
        self.forth = narrow_button("▶", "the next event", lambda: self.step(1))
        self.decisive = narrow_button("", "the moment that the lines above are about", self.go_to_decisive)
        self.curves, self.map = MemoryCurvesPanel(self._pick), SegmentMapPanel()
        self.replayed = widgets.HBox([self.card, self.settings, self.own_settings])
        self.moves = widgets.HBox([self.back, self.forth, self.decisive, self.place, self.colour])
        for row in (self.replayed, self.moves):
            row.add_class("wb-beside")
        self.content = widgets.VBox([self.curves, self.replayed, self.moves, self.moment_text, self.map])
        super().__init__([self.content, self.words])
        self.add_class("wb-advice")
        self._hide()

    def show(self, snapshot: tuple[str, str] | None) -> None:
        """Show a snapshot, its file and its digest; None hides the panel, one that is shown already stays."""
        if snapshot == self._snapshot:
            return
        self._snapshot = snapshot
        self._hide()
        if snapshot is not None:
            self.layout.display = None
            self.words.value = small_print("Reading what the snapshot recorded ...")
            self._begin(self._read, snapshot)

    def step(self, by: int) -> None:
        """Go forwards, or backwards, by so many events."""
        self._pick(self.place.value + by)

    def go_to_decisive(self) -> None:
        """Go to the moment that the five lines are about: before the card failed, else when memory was tightest."""
        self._pick(self._cards[self.card.value].decisive)

    def _choice(self, name: str, changed: Callable[[], None], options: Sequence[Any] = ()) -> widgets.Dropdown:
        choice = widgets.Dropdown(description=name, options=options, layout=_WIDE, style=_WHOLE)
        choice.observe(lambda _: changed(), "value")
        return choice

    def _hide(self) -> None:
        self.layout.display = self.content.layout.display = "none"
        self._cards = []

    def _pick(self, after: int) -> None:
        self.place.value = min(max(after, 0), self.place.max)

    def _read(self, snapshot: tuple[str, str]) -> None:
        path = snapshot[0]
        try:
            cards, mistake = failed_first(card_histories(path, reading_of(snapshot))), ""
        except WorkbenchError as wrong:
            cards, mistake = [], str(wrong).replace(path, Path(path).name)
        if snapshot != self._snapshot:
            return
        if not cards:
            self.words.value = small_print(mistake) if mistake else ""
            return
        self._cards = cards
        self._fill(lambda: _set(self.card, [(f"GPU {one.log.device}", k) for k, one in enumerate(cards)]))
        self.card.layout.display = None if len(cards) > 1 else "none"
        self._show_card()
        self.content.layout.display = None

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
        for widget in (self.settings, self.own_settings, self.curves, self.place, self.back, self.forth, self.decisive):
            widget.layout.display = None if one.events else "none"
        self.words.value = _exactness(one)
        self._show_curves()
        self._show_moment()

    def _fill_controls(self, one: CardHistory) -> None:
        _set(self.settings, _settings(one.own))
        self.decisive.description = "at the tightest" if one.failure is None else "before it failed"
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
            chosen = (
                AllocatorSettings.parse(self.own_settings.value)
                if self.own_settings.value.strip()
                else self.settings.value
            )
        except WorkbenchError as wrong:
            self.words.value = alert(wrong)
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
        self.moment_text.value = (
            f"<p>{_event(one, after)}: {bytes_said(moment.reserved_bytes)} reserved in "
            f"{len(moment.segment_size):,} segments; {bytes_said(moment.block_bytes)} in {len(moment.size):,} blocks, "
            f"{bytes_said(free)} free, the longest run {bytes_said(moment.largest_free_bytes)}. "
            f"A line of the map is {bytes_said(scene['row'])}; gaps are not reserved then.</p>"
        )


def _settings(recorded: AllocatorSettings) -> list[tuple[str, AllocatorSettings | None]]:
    """Return the choices: the replay as it was recorded, then the others that `workbench advise` tries first."""
    others = [settings for settings in grid(recorded) if settings != recorded]
    return [(_name(None, recorded), None), *((_name(settings, recorded), settings) for settings in others)]


def _name(settings: AllocatorSettings | None, recorded: AllocatorSettings) -> str:
    if settings is None:
        return f"the recorded settings ({recorded.conf or 'defaults'})"
    return settings.conf or "PyTorch's defaults"


def _exactness(one: CardHistory) -> str:
    if not one.events:
        return (
            "<p>This snapshot holds no history, so there is no curve over time: the map shows the moment at which it "
            "was taken. Call torch.cuda.memory._record_memory_history() first to record one.</p>"
        )
    return f"<p>Replayed under its own settings: {escaped(one.replay.exactness)}.</p>"


def _peaks(one: CardHistory, replayed: Any, chosen: AllocatorSettings | None) -> str:
    recorded, under = int(one.recorded.reserved.max()), int(replayed.max())
    is_relaid = chosen is not None and not one.replay.recording.is_whole
    start = " The replay starts with what was live before the history, laid out again." if is_relaid else ""
    name = escaped(_name(chosen, one.own))
    return (
        f"<p>{one.name}: reserved at most {bytes_said(recorded)} recorded, {bytes_said(under)} under {name}.{start}</p>"
    )


def _event(one: CardHistory, after: int) -> str:
    """Return the moment, and the action of the event before it."""
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
