"""What data share on the way from card to card: links, channels, ports, in each direction and in both (spec 5, E9)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np


class Network(NamedTuple):
    """Shared resources (links, channels, ports), and which of them the path between two cards uses (spec 5, E9)."""

    capacity: np.ndarray
    """float64[resources], GB/s, which are bytes a nanosecond."""
    first: np.ndarray
    """int64[cards * cards + 1], where the resources of each ordered pair (from, to) begin in `resource`."""
    resource: np.ndarray
    """int64[...], the resources of all pairs, one pair behind another; twice where a path takes the width twice."""


def network_of(cards: Sequence[Any], links: Sequence[Any], routes: Any) -> Network:
    """Return the resources of a board: each direction of a link, of a channel that links share, of a card's port.

    Where both directions of a link or of a channel carry less together than twice one of them, what they carry together
    is a resource too.

    Parameters
    ----------
    cards, links : sequences of Card, of Link
        Links of one channel share, in each direction, what the fastest of them carries. In both together they share the
        most that one of them carries in both. The direction is that in which `between` is written.
    routes : nested tuples
        The cards of the path from each card to each other, as `Paths.routes` has them.

    Examples
    --------
    >>> from workbench.machine import Card, Link
    >>> half = [Link(between="a b", gbps=10, duplex=1.5)]
    >>> network_of([Card(id="a"), Card(id="b")], half, (((0,), (0, 1)), ((1, 0), (1,)))).capacity.tolist()
    [10.0, 10.0, 15.0]
    """
    ids = [card.id for card in cards]
    capacity: dict[tuple[str, ...], float] = {}
    both: dict[tuple[str, ...], float] = {}
    channel: dict[tuple[str, str], str] = {}
    for link in links:
        for one, other, way in ((*link.ends, "forth"), (*link.ends[::-1], "back")):
            capacity[one, other] = capacity.get((one, other), 0.0) + link.total_gbps
            if link.channel:
                shared = ("channel", link.channel, way)
                capacity[shared] = max(capacity.get(shared, 0.0), link.total_gbps)
                channel[one, other] = f"{link.channel}/{way}"
        pair = tuple(sorted(link.ends))
        both[pair] = both.get(pair, 0.0) + link.both_gbps
        if link.channel:
            both["channel", link.channel, ""] = max(both.get(("channel", link.channel, ""), 0.0), link.both_gbps)
    for card in cards:
        for way in ("in", "out") if card.port_gbps else ():
            capacity["port", card.id, way] = card.port_gbps
    for parts, gbps in both.items():
        one_way = ("channel", parts[1], "forth") if len(parts) == 3 else parts
        if gbps < 2 * capacity[one_way]:
            capacity["both", *parts] = gbps
    names = {name: k for k, name in enumerate(capacity)}
    used = [_used(names, channel, [ids[card] for card in route]) for row in routes for route in row]
    return Network(
        np.array(list(capacity.values()), np.float64),
        np.cumsum([0, *map(len, used)]),
        np.array([resource for each in used for resource in each], np.int64),
    )


def _used(names: dict[tuple[str, ...], int], channel: dict[tuple[str, str], str], route: list[str]) -> list[int]:
    """Return the resources along a path in the order in which they are met.

    Each stands there once, but what both directions share once for each direction: a path that goes up a channel and
    down the same one takes its width twice.
    """
    met: list[tuple[str, ...]] = []
    both: dict[tuple[str, ...], None] = {}
    for one, other in pairwise(route):
        name, _, way = channel.get((one, other), "").rpartition("/")
        met += [("port", one, "out"), (one, other), ("channel", name, way), ("port", other, "in")]
        both["both", *sorted((one, other))] = None
        both["both", "channel", name, "", way] = None
    shared = [names[it[:4]] for it in both if it[:4] in names]
    return [*dict.fromkeys(names[name] for name in met if name in names), *shared]
