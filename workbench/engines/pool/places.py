"""Chains of regions: those that lie on a card, and those of a card's applications that lie elsewhere."""

from __future__ import annotations

from workbench.compiled import kernel
from workbench.engines.pool.state import Places
from workbench.structures.size_index import NONE

HERE, AWAY = range(2)
"""The two orders: by the card on which a region lies, and by the card of its application."""


@kernel
def enter(places: Places, order: int, card: int, region: int) -> None:
    """Put a region at the end of a card's chain."""
    chain, at = order * places.with_room.size + card, order * places.card.size
    last = places.last[chain]
    places.before[at + region], places.after[at + region] = last, NONE
    if last == NONE:
        places.first[chain] = region
    else:
        places.after[at + last] = region
    places.last[chain] = region


@kernel
def leave(places: Places, order: int, card: int, region: int) -> None:
    """Take a region out of a card's chain."""
    chain, at = order * places.with_room.size + card, order * places.card.size
    before, after = places.before[at + region], places.after[at + region]
    if before == NONE:
        places.first[chain] = after
    else:
        places.after[at + before] = after
    if after == NONE:
        places.last[chain] = before
    else:
        places.before[at + after] = before
