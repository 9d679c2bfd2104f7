"""What data share on their way between cards: links, channels, ports (spec 5, E9)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np


class Network(NamedTuple):
    """Shared resources, and which of them the path between two cards uses."""

    capacity: np.ndarray
    """float64[resources], GB/s, which are bytes a nanosecond."""
    first: np.ndarray
    """int64[cards * cards + 1], where the resources of each ordered pair (from, to) begin in `resource`."""
    resource: np.ndarray
    """int64[...], the resources of all pairs, one pair behind another."""


def network_of(cards: Sequence[Any], links: Sequence[Any], routes: Any) -> Network:
    """Return the resources of a board: each direction of a link, of a channel that links share, of a card's port.

    Parameters
    ----------
    cards, links : sequences of Card, of Link
        Links of one channel share, in each direction, what the fastest of them carries; the direction is that in which
        `between` is written.
    routes : nested tuples
        The cards of the path from each card to each other, as `Paths.routes` has them.
    """
    ids = [card.id for card in cards]
    capacity: dict[tuple[str, ...], float] = {}
    channel: dict[tuple[str, str], str] = {}
    for link in links:
        for one, other, way in ((*link.ends, "forth"), (*link.ends[::-1], "back")):
            capacity[one, other] = capacity.get((one, other), 0.0) + link.total_gbps
            if link.channel:
                shared = ("channel", link.channel, way)
                capacity[shared] = max(capacity.get(shared, 0.0), link.total_gbps)
                channel[one, other] = f"{link.channel}/{way}"
    for card in cards:
        for way in ("in", "out") if card.port_gbps else ():
            capacity["port", card.id, way] = card.port_gbps
    names = {name: k for k, name in enumerate(capacity)}
    used = [_used(names, channel, [ids[card] for card in route]) for row in routes for route in row]
    return Network(
        np.array(list(capacity.values()), np.float64),
        np.cumsum([0, *map(len, used)]),
        np.array([resource for each in used for resource in each], np.int64),
    )


def _used(names: dict[tuple[str, ...], int], channel: dict[tuple[str, str], str], route: list[str]) -> list[int]:
    """Return the resources along a path, each once, in the order in which they are met."""
    met: list[tuple[str, ...]] = []
    for one, other in pairwise(route):
        name, _, way = channel.get((one, other), "").rpartition("/")
        met += [("port", one, "out"), (one, other), ("channel", name, way), ("port", other, "in")]
    return list(dict.fromkeys(names[name] for name in met if name in names))
