"""A timeline as SVG: stacked pieces over the events, and the card at the decisive moment next to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.advice.torch_memory.timeline import Column, Timeline
from workbench.number_text import bytes_said
from workbench.palette import LIGHT, css

if TYPE_CHECKING:
    from workbench.advice.torch_memory.snapshot import Failure

COLOURS = tuple(f"kinds{k}" for k in range(len(LIGHT.kinds)))
SMALLER, RESERVED, REQUEST = "taken", "soft", "alarm"
"""Colors, by their names in the palette: of stacks, of what is too small to be drawn, of the reserved bytes, and of the
request that failed."""
KINDS = {
    "live": "sizes2",
    "free, pinned": "taken",
    "free, in a private pool": "kinds8",
    "free, goes back by itself": "cached",
    "left on the card": "free",
}
"""Colors of the kinds of bytes, from the bottom of the card to its top."""
WIDTH, HEIGHT, LEFT, RIGHT = 960, 360, 70, 250
"""Pixels; the card at the moment has its place on the right."""
COLUMN = 26
KEYS = "list-style:none;margin:0 0 1em;padding:0 0 0 7%;font-size:13px;overflow-wrap:anywhere"
SWATCH = "display:inline-block;width:12px;height:12px;margin-right:.5em"
"""The look of a legend."""
_DEEPEST = 6
"""Callers that a piece names at most."""


class Axes(NamedTuple):
    """Where bytes and places lie in the picture."""

    top: int
    """Bytes at the upper edge."""
    step: float
    """Pixels of a place."""

    def x(self, place: float) -> float:
        """Return the pixel of a place."""
        return LEFT + place * self.step

    def y(self, size: float) -> float:
        """Return the pixel of so many bytes."""
        return HEIGHT - 24 - (HEIGHT - 40) * size / self.top


Stack = tuple[str, tuple[str, ...]]
"""The line that requested blocks, and its callers."""


def colours_of(drawn: Timeline) -> dict[Stack, str]:
    """Return the color of each stack by its name: one each for those that take most, then the same colors again."""
    taken: dict[Stack, int] = {}
    for piece in drawn.pieces:
        taken[piece.site, piece.callers] = taken.get((piece.site, piece.callers), 0) + piece.bytes * piece.places
    for band in drawn.bands:
        taken[band.site, band.callers] = taken.get((band.site, band.callers), 0) + int(band.bytes.sum())
    order = sorted(taken, key=lambda it: (-taken[it], it))
    return {stack: COLOURS[place % len(COLOURS)] for place, stack in enumerate(order)}


def timeline_chart(drawn: Timeline, columns: Sequence[Column], failure: Failure | None, site: str | None) -> str:
    """Return the timeline as SVG; a piece says its size and its stack when it is pointed at.

    Parameters
    ----------
    columns : sequence of Column
        The bytes of the card at the moment, of `columns_of`.
    failure : Failure or None
        The request that was refused at the moment.
    site : str or None
        The line that made it.
    """
    card = sum(column.bytes for column in columns)
    kept = sum(column.bytes for column in columns if not column.returns and not column.is_left)
    request = 0 if failure is None else failure.asked_bytes
    highest = max(int(drawn.reserved.max(initial=0)), int(drawn.live.max(initial=0)), card, kept + request, 1)
    colours = colours_of(drawn)
    axes = Axes(round(1.03 * highest), (WIDTH - LEFT - RIGHT) / max(len(drawn.moments), 1))
    parts = [
        *_levels(axes, highest),
        *_pieces(axes, drawn, colours),
        *_bands(axes, drawn, colours),
        _outline(axes, drawn),
        *_moment(axes, drawn, failure),
        *_card(axes, columns),
        *([] if failure is None else _request(axes, kept, failure, site, card)),
    ]
    legend = "".join(
        f"<li><span style='{SWATCH};background:{css(colours[stack])}'></span>"
        f"{bytes_said(size)} {escape(_stack(*stack, 1))}"
        for stack, size in drawn.largest(8)
    )
    return (
        f"<svg class='over' viewBox='0 0 {WIDTH} {HEIGHT}' role='img' aria-label='live memory by stack and event'>"
        f"{''.join(parts)}</svg>"
        "<p>Each colored piece is live blocks of one stack; point at it for its size. The line above is what was "
        f"reserved. Most live after event {int(drawn.moments[drawn.decisive]):,}:</p><ul style='{KEYS}'>{legend}</ul>"
    )


def _levels(axes: Axes, highest: int) -> Iterator[str]:
    for quarter in range(5):
        size = highest * quarter // 4
        y = axes.y(size)
        yield f"<line x1='{LEFT}' x2='{WIDTH - RIGHT}' y1='{y:.1f}' y2='{y:.1f}' stroke='{css('grid')}'/>"
        yield f"<text x='{LEFT - 6}' y='{y + 4:.1f}' text-anchor='end'>{bytes_said(size)}</text>"


def _pieces(axes: Axes, drawn: Timeline, colours: dict[Stack, str]) -> Iterator[str]:
    for piece, bottom in zip(drawn.pieces, drawn.bottoms(), strict=True):
        blocks = f"{piece.blocks:,} block{'s' if piece.blocks > 1 else ''}"
        words = f"{bytes_said(piece.bytes)} in {blocks}: {_stack(piece.site, piece.callers)}"
        shape = _shape(axes, piece.first, bottom, bottom + piece.bytes)
        yield _path(shape, colours[piece.site, piece.callers], words)


def _bands(axes: Axes, drawn: Timeline, colours: dict[Stack, str]) -> Iterator[str]:
    base = drawn.live - drawn.rest - sum((band.bytes for band in drawn.bands), np.zeros(len(drawn.live), np.int64))
    for band in drawn.bands:
        words = f"{bytes_said(int(band.bytes.max()))} at most in smaller pieces: {_stack(band.site, band.callers)}"
        yield _path(_shape(axes, 0, base, base + band.bytes), colours[band.site, band.callers], words)
        base = base + band.bytes
    yield _path(_shape(axes, 0, base, drawn.live), SMALLER, f"{bytes_said(int(drawn.rest.max()))} at most in the rest")


def _stack(site: str, callers: Sequence[str], most: int = _DEEPEST) -> str:
    outer = [it for it in reversed(callers) if it != site][:most]
    return " < ".join([site, *outer])


def _path(shape: str, colour: str, words: str) -> str:
    return f"<path d='{shape}' fill='{css(colour)}'><title>{escape(words)}</title></path>"


def _shape(axes: Axes, first: int, bottom: np.ndarray, top: np.ndarray) -> str:
    """Return steps along the top from left to right, then back along the bottom."""
    there = _steps(axes, first, top)
    back = _steps(axes, first, bottom)
    forth = "".join(f"V{y}H{x}" for _, x, y in there)
    home = "".join(f"V{y}H{x}" for x, _, y in reversed(back))
    return f"M{there[0][0]} {back[0][2]}{forth}{home}Z"


def _steps(axes: Axes, first: int, values: np.ndarray) -> list[tuple[str, str, str]]:
    """Return stretches of equal height: where each begins, where it ends, its height, as short numbers."""
    heights = [f"{axes.y(size):.1f}" for size in values.tolist()]
    starts = [k for k, height in enumerate(heights) if not k or height != heights[k - 1]]
    ends = [*starts[1:], len(heights)]
    return [
        (f"{axes.x(first + a):.1f}", f"{axes.x(first + b):.1f}", heights[a]) for a, b in zip(starts, ends, strict=True)
    ]


def _outline(axes: Axes, drawn: Timeline) -> str:
    steps = _steps(axes, 0, drawn.reserved)
    line = "".join(f"V{y}H{x}" for _, x, y in steps)
    words = f"{bytes_said(int(drawn.reserved.max()))} reserved at most"
    free = _path(_shape(axes, 0, drawn.live, np.maximum(drawn.reserved, drawn.live)), "free", "reserved and free")
    return (
        f"{free}<path d='M{steps[0][0]} {steps[0][2]}{line}' fill='none' stroke='{css(RESERVED)}' stroke-width='1.2'>"
        f"<title>{words}</title></path>"
    )


def _moment(axes: Axes, drawn: Timeline, failure: Failure | None) -> Iterator[str]:
    x = axes.x(drawn.decisive + 0.5)
    colour, words = (RESERVED, "the moment") if failure is None else (REQUEST, f"failed: event {failure.event + 1:,}")
    anchor = "end" if x > (WIDTH - RIGHT) / 2 else "start"
    yield f"<line x1='{x:.1f}' x2='{x:.1f}' y1='12' y2='{HEIGHT - 24}' stroke='{css(colour)}' stroke-dasharray='4 3'/>"
    yield f"<text x='{x:.1f}' y='10' text-anchor='{anchor}'>{words}</text>"
    yield f"<text x='{LEFT}' y='{HEIGHT - 8}'>event 0</text>"
    yield f"<text x='{WIDTH - RIGHT}' y='{HEIGHT - 8}' text-anchor='end'>event {drawn.events:,}</text>"


def _card(axes: Axes, columns: Sequence[Column]) -> Iterator[str]:
    """Draw the card at the moment as one column, each kind of bytes with its name."""
    x, base, below = WIDTH - RIGHT + 14, 0, float(HEIGHT)
    for column in columns:
        if not column.bytes:
            continue
        colour = KINDS[column.name]
        y, under = axes.y(base + column.bytes), axes.y(base)
        words = f"{column.name} {bytes_said(column.bytes)}"
        yield (
            f"<rect x='{x}' y='{y:.1f}' width='{COLUMN}' height='{max(under - y, 0.6):.1f}' fill='{css(colour)}' "
            f"stroke='{css('quiet')}' stroke-width='.6'><title>{escape(words)}</title></rect>"
        )
        below = min((y + under) / 2 + 4, below - 13)
        yield f"<text x='{x + 2 * COLUMN + 8}' y='{below:.1f}'>{escape(words)}</text>"
        base += column.bytes


def _request(axes: Axes, kept: int, failure: Failure, site: str | None, card: int) -> Iterator[str]:
    """Draw the request on top of what could not go back, next to the card, and the end of the card."""
    x = WIDTH - RIGHT + 14 + COLUMN + 3
    low, high = axes.y(kept), axes.y(kept + failure.asked_bytes)
    words = f"requested {bytes_said(failure.asked_bytes)}{f' at {site}' if site else ''}"
    yield (
        f"<rect x='{x}' y='{high:.1f}' width='{COLUMN}' height='{max(low - high, 1):.1f}' fill='{css(REQUEST)}' "
        f"fill-opacity='.55' stroke='{css(REQUEST)}'><title>{escape(words)}</title></rect>"
    )
    if failure.driver_free_bytes >= 0:
        y = axes.y(card)
        end = f"x1='{LEFT}' x2='{x + COLUMN}' y1='{y:.1f}' y2='{y:.1f}'"
        yield f"<line {end} stroke='{css(REQUEST)}' stroke-dasharray='2 2'><title>the end of the card</title></line>"
    yield f"<text x='{x}' y='10'>requested {bytes_said(failure.asked_bytes)}</text>"
