"""Live blocks of a card stacked over its events, as PyTorch's memory viewer draws them, by stack.

The events are cut into stretches, and of each the fullest moment counts. Blocks of one stack that are live at the same
of these moments are one piece. So the picture is exact at its moments, and its size does not grow with the history.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.advice.torch_memory.holdings import BEFORE_SITE, UNKNOWN_SITE, SegmentMap, free_of
from workbench.advice.torch_memory.lives import Lives, live_bytes
from workbench.workloads.allocator_log import AllocatorLog

if TYPE_CHECKING:
    from workbench.advice.torch_memory.snapshot import CardHistory, Failure

PLACES = 480
"""Moments of a picture."""
MOST_PIECES, MOST_BANDS = 800, 24
"""Pieces that are drawn one by one; of smaller ones those of a stack are one band, and the smallest bands are one."""
THINNEST = 0.002
"""The share of the highest reserved bytes of a piece that is drawn."""


class Piece(NamedTuple):
    """Blocks of one stack that are live at the same moments of the picture."""

    site: str
    """The line that requested them."""
    callers: tuple[str, ...]
    """Frames of the program's own code that led there, the outermost first."""
    bytes: int
    blocks: int
    first: int
    """The first place of the picture at which they are live."""
    end: int
    """The place from which on they are not."""

    @property
    def places(self) -> int:
        """Return at how many places they are live."""
        return self.end - self.first


class Band(NamedTuple):
    """Blocks of one stack in pieces that are too small to be drawn one by one."""

    site: str
    callers: tuple[str, ...]
    bytes: np.ndarray
    """int64[places]."""


class Timeline(NamedTuple):
    """What is drawn of a card."""

    events: int
    """Events of the history."""
    moments: np.ndarray
    """int64[places], after how many events each place is: the fullest moment of a stretch, and the decisive one."""
    live: np.ndarray
    """int64[places], bytes in live blocks."""
    reserved: np.ndarray
    """int64[places], bytes that the driver had given."""
    pieces: tuple[Piece, ...]
    """From the bottom to the top: those that were live first, and of these the longest."""
    bands: tuple[Band, ...]
    """Above the pieces, the largest first."""
    rest: np.ndarray
    """int64[places], live bytes in neither: above the bands."""
    decisive: int
    """The place of the moment that the advice is about."""

    def bottoms(self) -> list[np.ndarray]:
        """Return the total below each piece, from its first place to its end: int64[end - first] of each."""
        top = np.zeros(len(self.moments), np.int64)
        result = []
        for piece in self.pieces:
            own = slice(piece.first, piece.end)
            result.append(top[own].copy())
            top[own] += piece.bytes
        return result

    def largest(self, most: int) -> list[tuple[tuple[str, tuple[str, ...]], int]]:
        """Return the stacks with most bytes at the decisive moment, of what is drawn."""
        totals: dict[tuple[str, tuple[str, ...]], int] = {}
        for piece in self.pieces:
            if piece.first <= self.decisive < piece.end:
                totals[piece.site, piece.callers] = totals.get((piece.site, piece.callers), 0) + piece.bytes
        for band in self.bands:
            size = int(band.bytes[self.decisive])
            totals[band.site, band.callers] = totals.get((band.site, band.callers), 0) + size
        return sorted(totals.items(), key=lambda it: (-it[1], it[0]))[:most]


def _bands(pieces: Sequence[Piece], places: int, least: int) -> tuple[tuple[Band, ...], np.ndarray]:
    """Return the small pieces as a band a stack, and the sum of those that are too small for that too."""
    numbers: dict[tuple[str, tuple[str, ...]], int] = {}
    of = [numbers.setdefault((it.site, it.callers), len(numbers)) for it in pieces]
    change = np.zeros((len(numbers), places + 1), np.int64)
    size = np.array([it.bytes for it in pieces], np.int64)
    np.add.at(change, (of, [it.first for it in pieces]), size)
    np.subtract.at(change, (of, [it.end for it in pieces]), size)
    held = np.cumsum(change, axis=1)[:, :-1]
    order = np.argsort(-held.sum(axis=1), kind="stable")
    chosen = [k for k in order[:MOST_BANDS].tolist() if held[k].max() >= least]
    stacks = list(numbers)
    rest = held.sum(axis=0) - held[chosen].sum(axis=0)
    return tuple(Band(stacks[k][0], stacks[k][1], held[k]) for k in chosen), rest


class Column(NamedTuple):
    """One kind of bytes at the decisive moment, from the bottom of the card to its top."""

    name: str
    bytes: int
    returns: bool = False
    """Whether it goes back to the driver before a request fails."""
    is_left: bool = False
    """Whether the driver has it."""


def timeline_of(card: CardHistory, places: int = PLACES, most: int = MOST_PIECES) -> Timeline:
    """Return the live blocks of a card over its events, as pieces that are stacked.

    Parameters
    ----------
    places : int
        Upper bound on the moments of the picture.
    most : int
        Upper bound on the pieces.

    Examples
    --------
    >>> from workbench.advice.torch_memory.snapshot import card_histories
    >>> (card,) = card_histories("data/made_up_snapshot.pickle.gz")
    >>> drawn = timeline_of(card, places=100)
    >>> int(drawn.live.max()) == card.moment(int(drawn.moments[drawn.live.argmax()])).block_bytes
    True
    """
    live = live_bytes(card.lives)
    moments = _moments(live, card.decisive, places)
    pieces = _pieces(card.lives, card.log, moments)
    least = int(THINNEST * card.recorded.reserved.max(initial=0))
    pieces.sort(key=lambda it: (it.bytes >= least, _area(it)), reverse=True)
    count = min(sum(it.bytes >= least for it in pieces), most)
    drawn = sorted(pieces[:count], key=lambda it: (it.first, -it.end, -it.bytes, it.site, it.callers))
    bands, rest = _bands(pieces[count:], len(moments), least)
    return Timeline(
        events=card.events,
        moments=moments,
        live=live[moments],
        reserved=card.recorded.reserved[moments],
        pieces=tuple(drawn),
        bands=bands,
        rest=rest,
        decisive=int(np.searchsorted(moments, card.decisive)),
    )


def _area(piece: Piece) -> tuple[int, str, tuple[str, ...], int]:
    """Return the key that orders pieces by their area in the picture, and decides ties."""
    return piece.bytes * piece.places, piece.site, piece.callers, -piece.first


def _moments(live: np.ndarray, decisive: int, places: int) -> np.ndarray:
    """Return the fullest moment of each stretch of events; in the stretch of the decisive moment, that one."""
    edges = np.unique(np.linspace(0, len(live), min(places, len(live)) + 1).astype(np.int64)[:-1])
    highest = np.maximum.reduceat(live, edges)
    stretch = np.zeros(len(live), np.int64)
    stretch[edges[1:]] = 1
    stretch = np.cumsum(stretch)
    fullest = np.flatnonzero(live == highest[stretch])
    moments = fullest[np.unique(stretch[fullest], return_index=True)[1]]
    moments[stretch[decisive]] = decisive
    return moments


def _pieces(lives: Lives, log: AllocatorLog, moments: np.ndarray) -> list[Piece]:
    """Return all pieces, in the order of sites and times."""
    blocks, places = lives.blocks, len(moments) + 1
    first, end = np.searchsorted(moments, blocks.born), np.searchsorted(moments, blocks.gone)
    seen = np.flatnonzero(end > first)
    site = np.where(blocks.site[seen] >= 0, blocks.site[seen], np.where(blocks.born[seen] > 0, -1, -2)) + 2
    key, group, count = np.unique(
        (site * places + first[seen]) * places + end[seen], return_inverse=True, return_counts=True
    )
    size = np.zeros(len(key), np.int64)
    np.add.at(size, group, blocks.size[seen])
    names = [(BEFORE_SITE, ()), (UNKNOWN_SITE, ()), *zip(log.sites, log.callers, strict=True)]
    columns = (key // places // places, size, count, key // places % places, key % places)
    return [Piece(*names[which], *rest) for which, *rest in zip(*(it.tolist() for it in columns), strict=True)]


def columns_of(segments: Sequence[SegmentMap], failure: Failure | None) -> list[Column]:
    """Return the bytes of a card at a moment by kind: live, free of each kind, and what the driver had left."""
    reserved, free = sum(it.size for it in segments), free_of(segments)
    left = 0 if failure is None else max(failure.driver_free_bytes, 0)
    return [
        Column("live", reserved - free.total),
        Column("free, pinned", free.pinned),
        Column("free, in a private pool", free.pooled),
        Column("free, goes back by itself", free.returns, returns=True),
        Column("left on the card", left, is_left=True),
    ]
