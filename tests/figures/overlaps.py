"""Texts of a figure that cover each other, or reach beyond its sheet."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, pairwise

from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

SLACK = 0.75
"""Points of print by which the empty edges of two letters may overlap."""


def overlaps(sheet: Figure) -> list[str]:
    """Return the overlaps, a sentence each: labels of ticks, names of sides and panels, legends, small print."""
    sheet.draw_without_rendering()
    unit = sheet.dpi / 72
    boxes = [(name, _shrunk(box, SLACK * unit)) for name, box in _boxes(sheet)]
    problems = [f"{a} over {b}" for (a, one), (b, other) in combinations(boxes, 2) if one.overlaps(other)]
    edge = Bbox([[-unit, -unit], [sheet.bbox.x1 + unit, sheet.bbox.y1 + unit]])
    problems += [f"{name} beyond the sheet" for name, box in boxes if not _is_inside(box, edge)]
    return problems + [problem for axes in sheet.axes for problem in _turned(axes.xaxis, unit)]


def _boxes(sheet: Figure) -> Iterator[tuple[str, Bbox]]:
    for legend in sheet.legends:
        yield "the legend", legend.get_window_extent()
    if sheet.get_supxlabel():
        yield "the small print", sheet._supxlabel.get_window_extent()
    for k, axes in enumerate(axes for axes in sheet.axes if axes.get_visible()):
        texts = [("title", axes.title), ("title", axes._left_title)]
        if axes.axison:
            texts += [("name", axes.xaxis.label), ("name", axes.yaxis.label)]
            texts += [(f"tick of {side.axis_name}", text) for side in (axes.xaxis, axes.yaxis) for text in _level(side)]
        for what, text in texts:
            if text.get_text() and text.get_visible():
                yield f"{what} {text.get_text()!r} of panel {k}", text.get_window_extent()


def _seen(side: Axis) -> list[Text]:
    low, high = sorted(side.get_view_interval())
    slack = 1e-9 * max(abs(low), abs(high))
    return [
        tick.label1
        for tick in side.get_major_ticks()
        if low - slack <= tick.get_loc() <= high + slack and tick.label1.get_visible() and tick.label1.get_text()
    ]


def _level(side: Axis) -> list[Text]:
    return [text for text in _seen(side) if text.get_rotation() in (0, 90) or side.axis_name == "y"]


def _turned(side: Axis, unit: float) -> Iterator[str]:
    """Yield the slanting labels whose lines are nearer to each other than their letters are high."""
    slanting = [text for text in _seen(side) if text.get_rotation() not in (0, 90)]
    for one, other in pairwise(slanting):
        apart = abs(
            other.get_transform().transform(other.get_position())[0]
            - one.get_transform().transform(one.get_position())[0]
        )
        if apart * math.sin(math.radians(one.get_rotation())) < 0.9 * one.get_fontsize() * unit:
            yield f"slanting {one.get_text()!r} over {other.get_text()!r}"


def _shrunk(box: Bbox, by: float) -> Bbox:
    return Bbox([[box.x0 + by, box.y0 + by], [max(box.x1 - by, box.x0 + by), max(box.y1 - by, box.y0 + by)]])


def _is_inside(box: Bbox, edge: Bbox) -> bool:
    return bool(edge.x0 <= box.x0 and box.x1 <= edge.x1 and edge.y0 <= box.y0 and box.y1 <= edge.y1)
