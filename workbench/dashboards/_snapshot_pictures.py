"""Pictures of what a snapshot recorded: bytes over its events, and the map of a card's segments at a moment.

Recorded bytes are full lines, replayed ones a dashed one. The map shows each block by size, colored by age or by state,
what is free pale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import traitlets

from workbench.advice.torch_memory.lives import Lives, Moment
from workbench.dashboards._canvas import CanvasWidget, PickingWidget, column, script

POINTS = 1500
"""Points of a line at most: of each stretch of events the highest."""
_GIB, _MIB = 1 << 30, 1 << 20


class Line(NamedTuple):
    """One curve."""

    name: str
    bytes: np.ndarray
    """int64[events + 1], after each number of events."""
    colour: str
    """A name of the palette."""
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
    """Return the data that the browser draws."""
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
"""Events at which another color begins."""

AGE_KEY = (
    ("< 10", "ages0"),
    ("< 100", "ages1"),
    ("< 1,000", "ages2"),
    ("< 10,000", "ages3"),
    ("older", "ages4"),
    ("before the history", "ages5"),
)
"""Steps of lightness from young to old, which are told apart without their hue too."""

STATE_KEY = (("in use", "sizes2"), ("freed, awaits other streams", "kinds0"))


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
    """Return the data that the browser draws of a moment.

    Parameters
    ----------
    lives : Lives
        The history: a segment keeps its place while the moment moves.
    moment : Moment
        What is there then.
    time_us : ndarray
        int64[events], when each event was, -1 = not known.
    color : {"age", "state"}
        What the blocks' colors mean.
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
    """Return the place in `AGE_KEY` of each block: int64[blocks]."""
    age = np.searchsorted(AGES, moment.after - moment.born, side="right")
    return np.where(moment.born == 0, len(AGE_KEY) - 1, age)


def ages_us(moment: Moment, time_us: np.ndarray) -> np.ndarray:
    """Return the age of each block, in microseconds; -1 where it is not known: int64[blocks]."""
    if not moment.after:
        return np.full(len(moment.born), -1)
    then, now = time_us[np.maximum(moment.born, 1) - 1], time_us[moment.after - 1]
    is_known = (moment.born > 0) & (then >= 0) & (now >= then)
    return np.where(is_known, now - then, -1)
