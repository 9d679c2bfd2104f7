"""Labels of ticks that do not collide: measured when a sheet is laid out, then turned or dropped where they would.

Names are turned, as each of them matters; of numbers every other one is dropped, as the rest can be read between.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text

GAP = 1.5
"""Points of print between two labels, at least."""
SLANT, UPRIGHT = 35.0, 90.0
"""Degrees by which names are turned: so that they are read easily, and where that is not enough."""


class MeasuredLayout(ConstrainedLayoutEngine):
    """The layout of a sheet, done once more where labels had to be turned or dropped."""

    def execute(self, fig: Any) -> None:
        """Lay out a sheet."""
        super().execute(fig)
        if separate(fig):
            super().execute(fig)


def separate(sheet: Figure) -> bool:
    """Turn or drop the labels of a laid-out sheet that collide; return whether any did."""
    panels = [axes for axes in sheet.axes if axes.get_visible() and axes.axison]
    sides = [(side, way) for axes in panels for side, way in ((axes.xaxis, "x"), (axes.yaxis, "y"))]
    return sum(_separate(side, way, sheet.dpi / 72) for side, way in sides) > 0


def _separate(side: Axis, direction: str, unit: float) -> bool:
    labels = tick_labels(side)
    if not collide(labels, direction, unit):
        return False
    if direction == "x" and not all(map(_is_number, labels)):
        _turn(labels, unit)
        labels = tick_labels(side)
    if (direction == "x" or all(map(_is_number, labels))) and collide(labels, direction, unit):
        _drop(side, direction, unit)
    return True


def tick_labels(side: Axis) -> list[Text]:
    """Return the labels of an axis that can be seen, in the order of their places."""
    low, high = sorted(side.get_view_interval())
    places = [float(place) for place in side.get_majorticklocs()]
    slack = 1e-9 * max(abs(low), abs(high), 1e-9)
    pairs = zip(places, side.get_majorticklabels(), strict=False)
    seen = [(at, text) for at, text in pairs if low - slack <= at <= high + slack]
    return [text for _, text in sorted(seen, key=lambda one: one[0]) if text.get_text() and text.get_visible()]


def collide(labels: list[Text], direction: str, unit: float) -> bool:
    """Return whether two labels that follow each other overlap; turned ones are compared across their lines."""
    if len(labels) < 2:
        return False
    angle = labels[0].get_rotation() if direction == "x" else 0.0
    if angle:
        return bool(_distances(labels).min() * math.sin(math.radians(angle)) < _height(labels) + GAP * unit / 2)
    boxes = [text.get_window_extent() for text in labels]
    ends = sorted((box.x0, box.x1) if direction == "x" else (box.y0, box.y1) for box in boxes)
    room = GAP * unit if direction == "x" else 0.0
    return any(after[0] < before[1] + room for before, after in pairwise(ends))


def _distances(labels: list[Text]) -> np.ndarray:
    return np.diff(sorted(float(text.get_transform().transform(text.get_position())[0]) for text in labels))


def _height(labels: list[Text]) -> float:
    return max(float(text.get_fontsize()) * text.figure.dpi / 72 for text in labels if text.figure is not None)


def _turn(labels: list[Text], unit: float) -> None:
    for angle in (SLANT, UPRIGHT):
        for text in labels:
            text.set(rotation=angle, ha="right", va="center" if angle == UPRIGHT else "top", rotation_mode="anchor")
        if not collide(labels, "x", unit):
            return


def _drop(side: Axis, direction: str, unit: float) -> None:
    """Keep every other label, or every third, and so on, until they no longer collide; the ticks stay."""
    labels = tick_labels(side)
    step = next((k for k in range(2, len(labels)) if not collide(labels[::k], direction, unit)), max(len(labels), 1))
    kept = {id(text) for text in labels[::step]}
    seen = {id(text) for text in labels}
    pairs = zip(side.get_majorticklocs(), side.get_majorticklabels(), strict=False)
    ticks = [(place, text.get_text() if id(text) in kept else "") for place, text in pairs if id(text) in seen]
    side.set_ticks([place for place, _ in ticks], labels=[name for _, name in ticks])


def _is_number(text: Text) -> bool:
    words = text.get_text().replace("\N{MINUS SIGN}", "-").replace(",", "").replace(" Mi", "").replace(" Gi", "")
    try:
        float(words)
    except ValueError:
        return words.startswith("$")  # a power of ten
    return True
