"""One decision as a picture (SVG): a memory with the range that is taken, or every array of the view as bars."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.dashboards import markup
from workbench.dashboards.panels.decision_words import candidates
from workbench.studies.decisions import Decision
from workbench.studies.decisions.decision import OWN
from workbench.studies.decisions.holes import holes

WIDE, BAR, GAP = 420, 46, 16
MOST_BARS = 96
TAKEN, FREE, CHOSEN = "#8a949e", "#ffffff", "#c8501e"


def decision_picture(decision: Decision) -> str:
    """Return the picture as an SVG element; empty where there is nothing to draw."""
    if {"free", "segments", "length"} <= decision.saw.keys():
        return _memory(decision)
    rows = list(_arrays(decision))
    if not rows:
        return ""
    inside = "".join(_bars(name, values, k * (BAR + GAP), chosen) for k, (name, values, chosen) in enumerate(rows))
    return _svg(len(rows) * (BAR + GAP), inside)


def _memory(decision: Decision) -> str:
    """Return the start map: taken and free segments, the range that is taken, and the starts that were possible."""
    segments, length, start = decision.saw["segments"], decision.saw["length"], decision.answer
    unit = WIDE / segments
    parts = [_box(0, 14, WIDE, 22, TAKEN)]
    for hole in holes(decision.saw["free"], segments, length):
        parts.append(_box(hole.start * unit, 14, hole.length * unit, 22, FREE))
        if hole.lowest >= 0:
            parts.append(_box(hole.lowest * unit, 40, max((hole.highest - hole.lowest + 1) * unit, 1), 5, "#0072b2"))
    if start >= 0:
        parts.append(_box(start * unit, 14, length * unit, 22, CHOSEN))
    words = "grey: taken, white: free, orange: granted, blue: starts that are possible"
    return _svg(66, _text(0, 10, "segment 0") + "".join(parts) + _text(0, 60, words))


def _arrays(decision: Decision) -> list[tuple[str, Sequence[float], int]]:
    """Return the arrays of a view that can be drawn, each with the place that was chosen in it."""
    rows: list[tuple[str, Sequence[float], int]] = []
    for name, values in {**decision.saw, **decision.wrote}.items():
        if name in OWN or not isinstance(values, list):
            continue
        column = candidates(decision, name, {name: values}) if len(values) <= MOST_BARS else values
        if 2 <= len(column) <= MOST_BARS and all(math.isfinite(value) for value in column) and any(column):
            rows.append((name, column, _chosen(decision, name, column)))
    return rows


def _chosen(decision: Decision, name: str, column: Sequence[float]) -> int:
    if name == "scores":
        return max(range(len(column)), key=lambda k: column[k])
    if name in ("modules", "demand", "totals", "recent", "heat"):
        return -1
    return decision.answer if 0 <= decision.answer < len(column) else -1


def _bars(name: str, values: Sequence[float], top: float, chosen: int) -> str:
    low, high = min(0.0, *values), max(0.0, *values)
    span, unit = (high - low) or 1.0, WIDE / len(values)
    zero = top + 14 + (BAR - 14) * high / span
    parts = [_text(0, top + 10, f"{name.replace('_', ' ')} (most {high:g})")]
    for k, value in enumerate(values):
        size = (BAR - 14) * abs(value) / span
        y = zero - size if value >= 0 else zero
        parts.append(_box(k * unit + 0.5, y, max(unit - 1, 0.5), size, CHOSEN if k == chosen else "#0072b2"))
    return "".join(parts)


def _box(x: float, y: float, wide: float, high: float, fill: str) -> str:
    shape = f'x="{x:.2f}" y="{y:.2f}" width="{wide:.2f}" height="{high:.2f}"'
    return f'<rect {shape} fill="{fill}" stroke="#767676" stroke-width="0.4"/>'


def _text(x: float, y: float, words: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="10" fill="currentColor">{markup.text(words)}</text>'


def _svg(high: float, inside: str) -> str:
    frame = f'viewBox="0 -2 {WIDE} {high + 4:.0f}" width="100%" role="img" style="max-width:{WIDE}px"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {frame}>{inside}</svg>'
