"""The best path between every two cards, over one direct link or several (spec 5, R17, E8)."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workbench.errors import unknown_name

METRICS = ("bottleneck", "hop_penalised", "sum_of_paths", "direct_only")


class Paths(NamedTuple):
    """What was found for every ordered pair of cards."""

    gbps: np.ndarray
    """float64[cards, cards], the bandwidth by which targets are ranked; 0 = no path, infinite to itself."""
    bottleneck_gbps: np.ndarray
    """float64[cards, cards], the narrowest link of the path that data take; 0 = no path, infinite to itself."""
    hops: np.ndarray
    """int64[cards, cards], direct links of the path that data take; -1 = no path, 0 to itself."""
    routes: tuple[tuple[tuple[int, ...], ...], ...]
    """The cards of the path that data take, both ends included; empty = no path."""


def best_paths(direct: np.ndarray, metric: str = "hop_penalised", max_hops: int = 8, hop_factor: float = 0.5) -> Paths:
    """Return the best path from every card to every other; ties go to fewer hops, then to the lower ids along the path.

    Parameters
    ----------
    direct : float64[cards, cards]
        GB/s of direct links per direction, 0 = none, symmetric.
    metric : {"bottleneck", "hop_penalised", "sum_of_paths", "direct_only"}
        The widest path; the same times `hop_factor` for every hop after the first; the sum over edge-disjoint paths,
        the widest taken first (data still take that one); direct links only.
    max_hops : int
        Longer paths do not count.
    hop_factor : float
        Of `hop_penalised` alone, above 0 and at most 1.

    Raises
    ------
    InputError
        There is no such metric.

    References
    ----------
    spec 5, R17, E8, V8, V11.

    Examples
    --------
    >>> two = np.array([[0, 12, 0], [12, 0, 24], [0, 24, 0]])
    >>> best_paths(two).gbps[0, 2], best_paths(two, "bottleneck").gbps[0, 2], best_paths(two).routes[0][2]
    (np.float64(6.0), np.float64(12.0), (0, 1, 2))
    >>> best_paths(two, "direct_only").gbps[0, 2]
    np.float64(0.0)
    """
    if metric not in METRICS:
        raise unknown_name("", "path metric", metric, METRICS)
    factor = hop_factor if metric == "hop_penalised" else 1.0
    most = 1 if metric == "direct_only" else max_hops
    result = _widest_paths(direct, most, factor)
    if metric == "sum_of_paths":
        for one, other in np.argwhere(result.hops > 0).tolist():
            result.gbps[one, other] = _sum_of_paths(direct, one, other, most)
    return result


def _widest_paths(direct: np.ndarray, most: int, factor: float) -> Paths:
    """Return the best path of every pair: one search for all pairs a width, from the widest links on."""
    count = len(direct)
    powers = np.array([factor**links for links in range(count)])
    gbps, bottleneck = np.zeros((count, count)), np.zeros((count, count))
    hops, level, onward = np.full((count, count), -1), np.zeros((count, count), np.int64), list[np.ndarray]()
    for width in _widths(direct):
        linked = direct >= width
        away = _distances(linked, most)
        score = np.where(away > 0, width * powers[away - 1], 0.0)
        better = (score > gbps) | ((score == gbps) & (away > 0) & (away < hops))
        gbps[better], bottleneck[better], hops[better], level[better] = score[better], width, away[better], len(onward)
        onward.append(_next_cards(linked, away))
    for table, itself in ((gbps, np.inf), (bottleneck, np.inf), (hops, 0)):
        np.fill_diagonal(table, itself)
    steps = [table.tolist() for table in onward]
    routes = [_route(steps, int(level[pair]), int(hops[pair]), *pair) for pair in np.ndindex(count, count)]
    return Paths(gbps, bottleneck, hops, tuple(tuple(routes[k : k + count]) for k in range(0, count**2, count)))


def _widths(direct: np.ndarray) -> list[float]:
    return sorted(set(direct[direct > 0].tolist()), reverse=True)


def _distances(linked: np.ndarray, most: int) -> np.ndarray:
    """Return the fewest links between every two cards: int64[cards, cards], -1 = none, or more than `most`."""
    reached = np.eye(len(linked), dtype=bool)
    away, links = np.where(reached, 0, -1), linked.astype(np.float64)
    for step in range(1, min(most, len(linked) - 1) + 1):
        reached = (reached @ links > 0) & (away < 0)
        if not reached.any():
            break
        away[reached] = step
    return away


def _next_cards(linked: np.ndarray, away: np.ndarray) -> np.ndarray:
    """Return the first card on the way from each to each other: of those that are nearer to it, the lowest id."""
    onward = np.empty_like(away)
    for other, distance in enumerate(away.T):
        onward[:, other] = (linked & (distance == distance[:, None] - 1)).argmax(axis=1)
    return onward


def _route(onward: list[list[list[int]]], level: int, links: int, one: int, other: int) -> tuple[int, ...]:
    """Return the cards of a path of so many links, -1 = there is none, with the next cards at its width."""
    route = [one]
    for _ in range(links):
        route.append(onward[level][route[-1]][other])
    return tuple(route) if links >= 0 else ()


def _sum_of_paths(direct: np.ndarray, one: int, other: int, most: int) -> float:
    """Take the widest path, its links away, then the widest that is left, until there is none."""
    left, total = direct.astype(np.float64), 0.0
    while True:
        width, route = _widest(left, one, other, most)
        if not route:
            return total
        total += width
        for a, b in pairwise(route):
            left[a, b] = left[b, a] = 0.0


def _widest(direct: np.ndarray, one: int, other: int, most: int) -> tuple[float, list[int]]:
    """Return the widest path of two cards, with its narrowest link; of these the shortest, the lowest ids first."""
    for width in _widths(direct):
        linked = direct >= width
        away = _distances(linked, most)[:, other]
        if away[one] > 0:
            route = [one]
            for step in range(away[one] - 1, -1, -1):
                route.append(int((linked[route[-1]] & (away == step)).argmax()))
            return width, route
    return 0.0, []
