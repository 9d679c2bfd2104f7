"""Drawings of a dispatcher's levers: an SVG of one size with a line of words, computed from the setting.

What is the baseline's has the text's color, what is the other side's its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from workbench.dashboards._elements import escaped
from workbench.palette import css

WIDTH, HEIGHT = 180, 24
COLOURS = ("currentColor", css("series1"))
"""Of the baseline and the other side."""
_TAKEN = css("taken")
_FREE = ((0.02, 0.27), (0.34, 0.45), (0.52, 0.93))
"""Where a resource is free in the drawings, as shares of it: three runs, none of which begins at a round number."""


def blocks_drawing(blocks: int, taken: int) -> str:
    """Draw the blocks of a SIMD, and how many of them the largest workgroup takes there.

    >>> blocks_drawing(4, 3).count("<rect")
    4
    """
    cells = min(blocks, 64)
    full = math.ceil(cells * min(taken, blocks) / blocks)
    width = WIDTH / cells
    boxes = (_box(place * width, 4, 0.86 * width, 14, COLOURS[0] if place < full else _TAKEN) for place in range(cells))
    return _svg(boxes, f"the largest workgroup: {taken} of {blocks}")


def waves_drawing(waves: int, units: int) -> str:
    """Draw how the waves of the largest workgroup are shared out over the SIMDs of a module.

    >>> waves_drawing(6, 4).count("<rect")
    6
    """
    rows, most = min(units, 4), -(-waves // units)
    height, width = 22 / rows, min(WIDTH / max(most, 1), 12)
    boxes = (
        _box(k // units * width, k % units * height, 0.86 * width, 0.8 * height, COLOURS[0])
        for k in range(waves)
        if k % units < rows
    )
    return _svg(boxes, f"up to {most} on each of {units} SIMDs")


def groups_drawing(blocks: int, groups: Sequence[int]) -> str:
    """Draw a resource, and below it the longest run that each side's probe sees; 0 groups stands for every block.

    >>> print(groups_drawing(128, [0, 8]).split("<p>")[1])
    longest free run 53, seen as 53 | 32</p>
    """
    free = [any(low <= place / blocks < high for low, high in _FREE) for place in range(blocks)]
    scale = WIDTH / blocks
    boxes = [_box(low * WIDTH, 0, (high - low) * WIDTH, 8, "none", _TAKEN) for low, high in _FREE]
    taken = [0.0, *(end for run in _FREE for end in run), 1.0]
    boxes += [_box(a * WIDTH, 0, (b - a) * WIDTH, 8, _TAKEN) for a, b in zip(taken[::2], taken[1::2], strict=True)]
    reported = []
    for side, count in enumerate(groups):
        if count and blocks % count:
            continue  # which is refused
        size = blocks // (count or blocks)
        first, length = _longest([all(free[k : k + size]) for k in range(0, blocks - size + 1, size)])
        reported.append(length * size)
        boxes.append(_box(first * size * scale, 10 + 7 * side, length * size * scale, 5, COLOURS[side]))
        if count and size > 1:
            boxes += [_box(k * size * scale, 10 + 7 * side, 0.5, 5, _TAKEN) for k in range(1, count)]
    reports = " | ".join(map(str, dict.fromkeys(reported)))
    return _svg(boxes, f"longest free run {_longest(free)[1]}, seen as {reports}")


def sampling_drawing(blocks: int, reports: Sequence[Callable[[int], int]]) -> str:
    """Draw what each side's probe reports of a run, over the length of the run: what lies below the slope is not seen.

    >>> sampling_drawing(8, [lambda run: run, lambda run: run // 4 * 4]).count("<polyline")
    2
    """
    height, scale = 22, WIDTH / blocks
    lines = []
    for side, report in enumerate(reports):
        points = []
        for run in range(blocks):
            y = height - height * report(run) / blocks
            points.append(f"{run * scale:.1f},{y:.1f} {(run + 1) * scale:.1f},{y:.1f}")
        end = f"{WIDTH},{height - height * report(blocks) / blocks:.1f}"
        points.append(end)
        lines.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{COLOURS[side]}" stroke-width="1.3"/>')
    return _svg(lines, "what is reported, over the free run")


def windows_drawing(windows: Sequence[Sequence[int]], fills: Sequence[str]) -> str:
    """Draw one period a side: whose priority is on top, and for how long.

    >>> windows_drawing([[8, 4, 2, 1]], ["red", "blue"]).count("<rect")
    4
    """
    longest = max([1, *(sum(one) for one in windows)])
    boxes = []
    for side, lengths in enumerate(windows):
        begin = 0.0
        for place, length in enumerate(lengths):
            width = WIDTH * length / longest
            boxes.append(_box(begin, 12 * side, width, 10, fills[place % len(fills)]))
            begin += width
    periods = " | ".join(dict.fromkeys(f"{sum(one):,}" for one in windows if one))
    return _svg(boxes, f"a period of {periods} cycles" if periods else "static: no windows")


def rounds_drawing(thresholds: Sequence[int]) -> str:
    """Draw the rounds that fail in a row, as a logarithm, and the group that is split after them; 0 = never split.

    >>> rounds_drawing([7, 0]).count("<rect")
    6
    """
    shapes = []
    for side, threshold in enumerate(thresholds):
        y, width = 12 * side, 134 * math.log2(1 + threshold) / 20
        if threshold:
            shapes.append(_box(0, y + 3, width, 4, _TAKEN))
            shapes += [_box(width + 4 + 9 * k, y, 7, 10, COLOURS[side]) for k in range(4)]
        else:
            shapes.append(_box(0, y, 34, 10, COLOURS[side]))
    after = " | ".join(dict.fromkeys(f"{one:,}" if one else "never" for one in thresholds))
    return _svg(shapes, f"split after {after} failed rounds" if any(thresholds) else "never split")


def history_drawing(lengths: Sequence[int]) -> str:
    """Draw how far back from now, at the right, instructions count, as a logarithm; 0 = not at all.

    >>> history_drawing([1024, 0]).count("<rect")
    61
    """
    shapes = []
    for side, cycles in enumerate(lengths):
        y, width = 12 * side, WIDTH * math.log2(2 * cycles) / 20 if cycles else 0.0
        if cycles:
            shapes.append(_box(WIDTH - width, y, width, 10, COLOURS[side]))
        shapes += [_box(6 * k, y + 3, 1.5, 4, _TAKEN) for k in range(30)]
    past = " | ".join(dict.fromkeys(f"{one:,}" if one else "none" for one in lengths))
    return _svg(shapes, f"counted: the last {past} cycles")


def _longest(free: Sequence[bool]) -> tuple[int, int]:
    """Return the start and the length of the longest run, the first of equals."""
    best, begin = (0, 0), 0
    for place, one in enumerate([*free, False]):
        if not one:
            best = max(best, (begin, place - begin), key=lambda run: run[1])
            begin = place + 1
    return best


def _box(x: float, y: float, width: float, height: float, fill: str, line: str = "none") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{fill}" stroke="{line}" stroke-width="0.5"/>'


def _svg(shapes: Iterable[str], words: str) -> str:
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" height="{HEIGHT}" preserveAspectRatio="none"'
    text = escaped(words)
    return f'<svg {size} role="img" aria-label="{text}">{"".join(shapes)}</svg><p>{text}</p>'
