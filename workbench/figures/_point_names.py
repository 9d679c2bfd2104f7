"""Names next to points: written so that they cover neither points nor each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from workbench.figures.frame import key, words
from workbench.figures.plot_style import SMALL, Sheet, palette

_WAYS = [(1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)]
"""Across a corner first: what runs level or upright through a point is its interval."""
_FAR = (3.0, 9.0, 16.0, 24.0)
"""Points of print between a point and its name; the nearest that is free."""
_DOT = 2.5
"""Points of print that a point takes to each side."""


class Names(NamedTuple):
    """What is to be named in a panel."""

    axes: Axes
    points: np.ndarray
    """float64[points, 2], in the units of the axes; all are kept clear, named or not."""
    names: Mapping[int, str]
    """Of some of the points."""
    every: bool
    """Whether all of these must be told, by a number if need be; else a name without a free place is left out."""


def name_all(sheet: Sheet, panels: Sequence[Names]) -> None:
    """Name points; where a name that must be told finds no free place, number all, with a key above the panels."""
    sheet.draw_without_rendering()  # settles where the panels are
    texts = [_name(sheet.dpi / 72, panel) for panel in panels]
    if all(len(written) == len(panel.names) or not panel.every for written, panel in zip(texts, panels, strict=True)):
        return
    for text in (text for written in texts for text in written):
        text.remove()
    reply = dict.fromkeys(name for panel in panels for name in panel.names.values())
    numbers = {name: str(place + 1) for place, name in enumerate(reply)}
    key(sheet, {number: name for name, number in numbers.items()})
    sheet.draw_without_rendering()
    for panel in panels:
        _name(sheet.dpi / 72, panel._replace(names={k: numbers[name] for k, name in panel.names.items()}))


def _name(unit: float, panel: Names) -> list[Annotation]:
    """Write names one after the other, each at the first free place around its point that no other point is nearer to.

    Where every free place is nearer to another, the first is taken; a name without a free place is left out.
    `unit` is the number of dots that a point of print has.
    """
    axes, points, names, _ = panel
    dots = axes.transData.transform(points)
    taken = [_box(dot - _DOT * unit, np.full(2, 2 * _DOT * unit)) for dot in dots]
    written: list[Annotation] = []
    for k, name in names.items():
        size = _size(axes, name, points[k])
        places = ((far, _place(dots[k], size, far * unit, way)) for far in _FAR for way in _WAYS)
        free = [place for place in places if _is_free(place[1], taken, axes.bbox)]
        place = next((one for one in free if _is_nearest(one[1], dots, k)), free[0] if free else None)
        if place is not None:
            far, box = place
            written.append(_write(axes, name, points[k], (box.min - dots[k]) / unit, far > _FAR[0]))
            taken.append(box)
    return written


def _write(axes: Axes, name: str, point: np.ndarray, offset: np.ndarray, with_line: bool) -> Annotation:
    look: dict[str, Any] = {"fontsize": SMALL, "path_effects": [withStroke(linewidth=1.5, foreground=palette().paper)]}
    line = {"arrowstyle": "-", "color": palette().quiet, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 0}
    text = axes.annotate(
        words(name),
        tuple(point),
        tuple(offset),
        textcoords="offset points",
        arrowprops=line if with_line else None,
        **look,
    )
    text.set_in_layout(False)
    return text


def _size(axes: Axes, name: str, point: np.ndarray) -> np.ndarray:
    """Return width and height of a name in dots; one that belonged to a point outside of the panel would have none."""
    text = _write(axes, name, point, np.zeros(2), False)
    size = np.array(text.get_window_extent().size)
    text.remove()
    return size


def _place(dot: np.ndarray, size: np.ndarray, far: float, way: tuple[int, int]) -> Bbox:
    """Return the place of a text that starts so far from a dot: next to it, above or below it, or across a corner."""
    return _box(dot + np.multiply(way, far) + size * (np.sign(way) - 1) / 2, size)


def _box(corner: np.ndarray, size: np.ndarray) -> Bbox:
    return Bbox(np.stack([corner, corner + size]))


def _is_nearest(box: Bbox, dots: np.ndarray, k: int) -> bool:
    """Return whether a name would lie no nearer to any other point than to its own."""
    away = np.hypot(*(dots - np.clip(dots, box.min, box.max)).T)
    return bool(away[k] <= away.min())


def _is_free(box: Bbox, taken: list[Bbox], panel: Any) -> bool:
    inside = panel.x0 <= box.x0 and box.x1 <= panel.x1 and panel.y0 <= box.y0 and box.y1 <= panel.y1
    return bool(inside and not box.count_overlaps(taken))
