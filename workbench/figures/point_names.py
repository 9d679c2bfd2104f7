"""Write names beside points so that they cover neither points nor each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from workbench.figures.frame import words
from workbench.figures.ink import SMALL, Sheet
from workbench.figures.marks import QUIET

_WAYS = [(1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)]
"""Across a corner first: what runs level or upright through a point is its interval."""
_FAR = (3.0, 9.0, 16.0, 24.0)
"""Points of print between a point and its name; the nearest that is free."""
_DOT = 2.5
"""Points of print that a point takes to each side."""
_TEXT: dict[str, Any] = {"fontsize": SMALL, "path_effects": [withStroke(linewidth=1.5, foreground="white")]}
_LINE = {"arrowstyle": "-", "color": QUIET, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 0}


def name_points(sheet: Sheet, axes: Axes, points: np.ndarray, names: Mapping[int, str], every: bool = True) -> None:
    """Name some of the points, one after the other, each at the first free place around it.

    Where no place is free, a name stands where it covers least, or is left out unless `every` one is wanted. Names that
    stand off have a thin line to their point. The layout of the sheet is settled first.

    Parameters
    ----------
    points : array, shape (points, 2)
        In the units of the axes; all are kept clear, named or not.
    """
    sheet.draw_without_rendering()
    dots = axes.transData.transform(points)
    unit = sheet.dpi / 72
    taken = [_box(dot - _DOT * unit, np.full(2, 2 * _DOT * unit)) for dot in dots]
    for k, name in names.items():
        text = axes.annotate(words(name), tuple(points[k]), (0, 0), textcoords="offset points", **_TEXT)
        text.set_in_layout(False)
        size = np.array(text.get_window_extent().size)
        places = [(far, way, _place(dots[k], size, far * unit, way)) for far in _FAR for way in _WAYS]
        costs = [_covered(box, taken, axes.bbox) for _, _, box in places]
        far, way, box = places[int(np.argmin(costs))]
        if min(costs) > 0 and not every:
            text.remove()
            continue
        text.set_position(tuple((box.min - dots[k]) / unit))
        taken.append(box)
        if far > _FAR[0]:
            end = tuple(np.multiply(way, far))
            axes.annotate("", tuple(points[k]), end, textcoords="offset points", arrowprops=_LINE).set_in_layout(False)


def _place(dot: np.ndarray, size: np.ndarray, far: float, way: tuple[int, int]) -> Bbox:
    """Where a text lies that starts so far from a dot: beside it, above or below it, or across a corner."""
    return _box(dot + np.multiply(way, far) + size * (np.sign(way) - 1) / 2, size)


def _box(corner: np.ndarray, size: np.ndarray) -> Bbox:
    return Bbox(np.stack([corner, corner + size]))


def _covered(box: Bbox, taken: list[Bbox], inside: Any) -> float:
    """The area of a box that lies on others, or outside of the panel."""
    within = Bbox.intersection(box, inside)
    outside = box.width * box.height - (within.width * within.height if within else 0.0)
    overlaps = (Bbox.intersection(box, other) for other in taken)
    return float(outside + sum(one.width * one.height for one in overlaps if one))
