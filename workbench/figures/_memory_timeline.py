"""Live blocks over the events of an advice, stacked and colored by stack, with the moment that it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.advice.torch_memory.timeline import Column as Kind
from workbench.advice.torch_memory.timeline import Timeline, columns_of, timeline_of
from workbench.advice.torch_memory.timeline_chart import KINDS, Stack, colours_of
from workbench.figures._flame_graph import GIB
from workbench.figures.figure_files import Column, below
from workbench.figures.registry import on_paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from workbench.advice.torch_memory.advice import Advice


PLACES, PIECES = 240, 300
"""Moments and pieces of the figure at most."""
NAMED = 6
"""Stacks that the legend names."""


class MemoryTimeline(NamedTuple):
    """Live blocks of the first card over its events, by stack."""

    card: str
    drawn: Timeline
    kinds: tuple[Kind, ...]
    """The bytes of the card at the moment."""
    request_bytes: int
    """What was requested and refused at the moment, 0 = nothing was."""

    def columns(self) -> dict[str, Column]:
        """Return a row a piece, then one a place for bands, the rest, live and reserved bytes, then the moment."""
        drawn, until = self.drawn, np.append(self.drawn.moments[1:], self.drawn.events)
        first, end, size = (np.array([it[place] for it in drawn.pieces], np.int64) for place in (4, 5, 2))
        moment = drawn.moments[drawn.decisive : drawn.decisive + 1]
        kinds = [*((it.name, it.bytes) for it in self.kinds), ("requested", self.request_bytes)]
        lines: list[tuple[str, str, tuple[str, ...], np.ndarray]] = [
            *(("band", it.site, it.callers, it.bytes) for it in drawn.bands),
            ("rest", "", (), drawn.rest),
            ("live", "", (), drawn.live),
            ("reserved", "", (), drawn.reserved),
        ]
        pieces = {
            "kind": "piece",
            "name": [it.site for it in drawn.pieces],
            "called_from": [_outer(it.callers) for it in drawn.pieces],
            "event": drawn.moments[first],
            "until_event": until[end - 1],
            "gib": size / GIB,
        }
        return below(
            [
                *([pieces] if drawn.pieces else []),
                *(_rows(kind, name, callers, drawn.moments, until, held) for kind, name, callers, held in lines),
                *(_rows("moment", name, (), moment, moment, np.array([held])) for name, held in kinds),
            ]
        )


def _rows(
    kind: str, name: str, callers: tuple[str, ...], event: np.ndarray, until: np.ndarray, size: np.ndarray
) -> dict[str, Any]:
    return {
        "kind": kind,
        "name": name,
        "called_from": _outer(callers),
        "event": event,
        "until_event": until,
        "gib": size / GIB,
    }


def _outer(callers: tuple[str, ...]) -> str:
    return " < ".join(reversed(callers[:-1]))


def timeline_data(advice: Advice) -> MemoryTimeline:
    """Return the data of the timeline of an advice: the first card over its history."""
    card = advice.cards[0]
    kinds = tuple(columns_of(advice.segments, card.failure))
    request = 0 if card.failure is None else card.failure.asked_bytes
    return MemoryTimeline(card.name, timeline_of(card, PLACES, PIECES), kinds, request)


@on_paper
def draw_timeline(data: MemoryTimeline) -> Figure:
    """Draw stacked pieces over the events, and next to them the card at the moment as one column."""
    from workbench.figures import frame, plot_style

    figure, (axes, card) = plot_style.side_by_side((6.0, 1.0), 2.2)
    _stacked(axes, data)
    _column(card, data)
    frame.legend(figure, [axes, card])
    return figure


def _stacked(axes: Axes, data: MemoryTimeline) -> None:
    from workbench.figures import plot_style

    tones, drawn = plot_style.palette(), data.drawn
    colours = {stack: tones.named()[name] for stack, name in colours_of(drawn).items()}
    edges = np.append(drawn.moments, data.drawn.events)
    names = {stack: f"{stack[0]}" for stack, _ in drawn.largest(NAMED)}
    for piece, bottom in zip(drawn.pieces, drawn.bottoms(), strict=True):
        stack = piece.site, piece.callers
        _step(axes, edges[piece.first : piece.end + 1], bottom, bottom + piece.bytes, colours[stack], names, stack)
    base = drawn.live - drawn.rest - sum((band.bytes for band in drawn.bands), np.zeros(len(drawn.live), np.int64))
    for band in drawn.bands:
        stack = band.site, band.callers
        _step(axes, edges, base, base + band.bytes, colours[stack], names, stack)
        base = base + band.bytes
    _step(axes, edges, base, drawn.live, tones.taken, names, ("", ()))
    _step(axes, edges, drawn.live, np.maximum(drawn.live, drawn.reserved), tones.free, names, ("", ()))
    axes.step(
        edges,
        np.append(drawn.reserved, drawn.reserved[-1:]) / GIB,
        where="post",
        color=tones.ink,
        linewidth=0.7,
    )
    moment = int(drawn.moments[drawn.decisive])
    axes.axvline(moment, color=tones.alarm if data.request_bytes else tones.ink, linewidth=0.7, linestyle="--")
    axes.set(xlabel="event", ylabel=f"{data.card} (GiB)", xlim=(0, max(data.drawn.events, 1)))


def _step(
    axes: Axes,
    edges: np.ndarray,
    bottom: np.ndarray,
    top: np.ndarray,
    colour: str,
    names: dict[Stack, str],
    stack: Stack,
) -> None:
    """Fill steps between two heights; the first shape of a stack gives the legend its name."""
    low, high = (np.append(size, size[-1:]) / GIB for size in (bottom, top))
    axes.fill_between(edges, low, high, step="post", color=colour, linewidth=0, label=names.pop(stack, None))


def _column(axes: Axes, data: MemoryTimeline) -> None:
    from workbench.figures import plot_style

    tones = plot_style.palette()
    base, kept = 0.0, 0.0
    for kind in data.kinds:
        size = kind.bytes / GIB
        if size:
            axes.bar(
                0,
                size,
                0.8,
                bottom=base,
                color=tones.named()[KINDS[kind.name]],
                edgecolor=tones.quiet,
                linewidth=0.3,
                label=kind.name,
            )
        base += size
        kept += 0 if kind.returns or kind.is_left else size
    if data.request_bytes:
        size = data.request_bytes / GIB
        axes.bar(0.9, size, 0.8, bottom=kept, color=tones.alarm, alpha=0.55, label="requested")
        if any(kind.is_left for kind in data.kinds):
            axes.axhline(base, color=tones.alarm, linewidth=0.7, linestyle=":")
    axes.set_xticks([])
    axes.tick_params(axis="y", left=False)
    axes.spines["left"].set_visible(False)
    highest = max(base, kept + data.request_bytes / GIB, float(data.drawn.reserved.max(initial=0)) / GIB)
    axes.set(xlabel="then", ylim=(0, 1.03 * max(highest, 1e-9)))
