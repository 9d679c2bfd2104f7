"""A decision of a policy as a page shows it: in words, and as a picture of what it saw.

In words (HTML): the rule, what the policy saw, what it answered. As a picture (SVG): a memory with the range that is
taken, or every array of the view as bars.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.dashboards._elements import escaped
from workbench.explain.decisions import OWN, Decision
from workbench.number_text import number
from workbench.palette import css
from workbench.structures.bitmaps import unpacked

WIDE, BAR, GAP = 420, 46, 16
MOST_BARS = 96
TAKEN, FREE, CHOSEN, START = map(css, ("taken", "free", "chosen", "better"))
MOST_SHOWN = 12
"""Entries of an array in the table; the picture has more."""


def decision_picture(decision: Decision) -> str:
    """Return the picture as an SVG element; empty where there is nothing to draw."""
    if {"free", "segments", "length"} <= decision.saw.keys():
        return _memory(decision)
    rows = list(_arrays(decision))
    if not rows:
        return ""
    inside = "".join(_bars(name, values, k * (BAR + GAP), chosen) for k, (name, values, chosen) in enumerate(rows))
    return _svg(len(rows) * (BAR + GAP), inside)


def decision_words(decision: Decision) -> str:
    """Return the text of a page on a decision."""
    who = f"<b>{escaped(decision.policy)}</b> is asked: {escaped(decision.question)}."
    rule = f"<p>{escaped(decision.rule)}</p>" if decision.rule else ""
    return f"<p>{who}</p>{rule}<p><b>{escaped(answer_words(decision))}</b></p>{_table(decision)}"


def answer_words(decision: Decision) -> str:
    """Return the answer in a sentence."""
    if "scores" in decision.wrote:
        return _score_words(decision)
    if {"free", "segments", "length"} <= decision.saw.keys():
        return _range_words(decision)
    meaning = f" ({decision.meaning})" if decision.meaning else ""
    return f"It answers {decision.answer}{meaning}."


def _score_words(decision: Decision) -> str:
    """Return the candidate with the highest score, and its lead."""
    modules, scores = candidates(decision, "modules"), candidates(decision, "scores", decision.wrote)
    ranked = sorted(zip(scores, modules, strict=True), reverse=True)
    best = [str(int(module)) for score, module in ranked if score == ranked[0][0]]
    behind = next((score for score, _ in ranked if score != ranked[0][0]), None)
    lead = f", the next best {number(behind)}" if behind is not None else ""
    modules_text = f"module{'s' * (len(best) > 1)} {', '.join(best)}"
    return f"Of {len(modules)} modules with room it rates {modules_text} highest, {number(ranked[0][0])}{lead}."


def _range_words(decision: Decision) -> str:
    """Return the place to which a request goes, and its distance from either end of the memory."""
    length, segments, start = (decision.saw["length"], decision.saw["segments"], decision.answer)
    free = holes(decision.saw["free"], segments, length)
    fitting = [hole for hole in free if hole.lowest >= 0]
    request = (
        f"{length} of {segments} segments are asked for; {len(fitting)} of {len(free)} free ranges are long enough"
    )
    if start < 0:
        return f"{request}. It refuses."
    inside = next((hole for hole in free if hole.start <= start < hole.start + hole.length), None)
    where = f" in the free range of {inside.length}" if inside else ""
    ends = f"{start} from the lower end, {segments - start - length} from the upper"
    return f"{request}. It takes segment {start}{where}: {ends}."


def _memory(decision: Decision) -> str:
    """Return the start map: taken and free segments, the range that is taken, and the starts that were possible."""
    segments, length, start = decision.saw["segments"], decision.saw["length"], decision.answer
    unit = WIDE / segments
    parts = [_box(0, 14, WIDE, 22, TAKEN)]
    for hole in holes(decision.saw["free"], segments, length):
        parts.append(_box(hole.start * unit, 14, hole.length * unit, 22, FREE))
        if hole.lowest >= 0:
            parts.append(_box(hole.lowest * unit, 40, max((hole.highest - hole.lowest + 1) * unit, 1), 5, START))
    if start >= 0:
        parts.append(_box(start * unit, 14, length * unit, 22, CHOSEN))
    words = "gray: taken, yellow: free, orange: granted, blue: starts that are possible"
    return _svg(66, _text(0, 10, "segment 0") + "".join(parts) + _text(0, 60, words))


class Hole(NamedTuple):
    """A free range, and the starts in it that a request may take."""

    start: int
    length: int
    lowest: int
    """The first start; -1 where the request does not fit."""
    highest: int
    """The last start; -1 where the request does not fit."""
    below: int
    """From the lower end of the memory to the range that the first start gives."""
    above: int
    """From the range that the last start gives to the upper end."""


def holes(free: list[int], segments: int, length: int) -> list[Hole]:
    """Return the free ranges from the lowest to the highest.

    >>> for hole in holes([0b11101100], 8, 2):
    ...     print(hole)
    Hole(start=2, length=2, lowest=2, highest=2, below=2, above=4)
    Hole(start=5, length=3, lowest=5, highest=6, below=5, above=0)
    """
    bits = unpacked(np.array(free, np.uint64), segments).astype(bool)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], bits, [False]])))
    return [
        Hole(start, end - start, start, end - length, start, segments - end)
        if end - start >= length
        else Hole(start, end - start, -1, -1, -1, -1)
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    ]


def candidates(decision: Decision, field: str, values: dict[str, Any] | None = None) -> list[float]:
    """Return an array of candidates as far as there are some; arrays may be longer."""
    column = (decision.saw if values is None else values)[field]
    return list(column[: decision.saw.get("count", len(column))])


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
        parts.append(_box(k * unit + 0.5, y, max(unit - 1, 0.5), size, CHOSEN if k == chosen else START))
    return "".join(parts)


def _box(x: float, y: float, wide: float, high: float, fill: str) -> str:
    shape = f'x="{x:.2f}" y="{y:.2f}" width="{wide:.2f}" height="{high:.2f}"'
    return f'<rect {shape} fill="{fill}" stroke="{css("quiet")}" stroke-width="0.4"/>'


def _text(x: float, y: float, words: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="10" fill="currentColor">{escaped(words)}</text>'


def _svg(high: float, inside: str) -> str:
    frame = f'viewBox="0 -2 {WIDE} {high + 4:.0f}" width="100%" style="max-width:{WIDE}px"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="the decision" {frame}>{inside}</svg>'


def _table(decision: Decision) -> str:
    rows = "".join(
        f"<tr><td>{escaped(name)}</td><td>{_short(value)}</td><td>{escaped(decision.about[name])}</td></tr>"
        for name, value in {**decision.saw, **decision.wrote}.items()
        if name != "free" or "segments" not in decision.saw
    )
    table = f'<table class="wb-table wb-saw"><tbody>{rows}</tbody></table>'
    return f"<details><summary>What it saw</summary>{table}</details>"


def _short(value: Any) -> str:
    if not isinstance(value, Sequence):
        return number(value)
    entries = ", ".join(_short(one) for one in value[:MOST_SHOWN])
    return f"{entries}, ... ({len(value):,} in all)" if len(value) > MOST_SHOWN else entries or "none"
