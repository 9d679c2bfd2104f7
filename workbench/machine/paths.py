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


def best_paths(direct: np.ndarray, metric: str = "bottleneck", max_hops: int = 8, hop_factor: float = 0.5) -> Paths:
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
    >>> best_paths(two).gbps[0, 2], best_paths(two, "hop_penalised").gbps[0, 2], best_paths(two).routes[0][2]
    (np.float64(12.0), np.float64(6.0), (0, 1, 2))
    >>> best_paths(two, "direct_only").gbps[0, 2]
    np.float64(0.0)
    """
    if metric not in METRICS:
        raise unknown_name("", "path metric", metric, METRICS)
    count = len(direct)
    factor = hop_factor if metric == "hop_penalised" else 1.0
    most = 1 if metric == "direct_only" else max_hops
    gbps, bottleneck = np.zeros((count, count)), np.zeros((count, count))
    hops = np.full((count, count), -1)
    routes: list[tuple[tuple[int, ...], ...]] = []
    for one in range(count):
        row = [_best(direct, one, other, most, factor) for other in range(count)]
        routes.append(tuple(route for _, _, route in row))
        for other, (score, narrowest, route) in enumerate(row):
            gbps[one, other], bottleneck[one, other], hops[one, other] = score, narrowest, len(route) - 1
            if metric == "sum_of_paths" and one != other:
                gbps[one, other] = _sum_of_paths(direct, one, other, most)
    return Paths(gbps, bottleneck, hops, tuple(routes))


def _best(direct: np.ndarray, one: int, other: int, most: int, factor: float) -> tuple[float, float, tuple[int, ...]]:
    """Return the best path: its score, its narrowest link and its cards."""
    if one == other:
        return np.inf, np.inf, (one,)
    best: tuple[float, float, tuple[int, ...]] = (0.0, 0.0, ())
    for width in sorted(set(direct[direct > 0].tolist()), reverse=True):
        route = _shortest(direct >= width, one, other, most)
        score = width * factor ** (len(route) - 2) if route else 0.0
        if score > best[0] or (score == best[0] and route and len(route) < len(best[2])):
            best = score, width, route
    return best


def _shortest(linked: np.ndarray, one: int, other: int, most: int) -> tuple[int, ...]:
    """Return the path of the fewest links, the lowest ids first; empty where it has more than `most`."""
    away = np.full(len(linked), -1)
    away[other], step = 0, 0
    while away[one] < 0 and step < most and (away == step).any():
        away[(linked[away == step].any(axis=0)) & (away < 0)] = step + 1
        step += 1
    if away[one] < 0:
        return ()
    route = [one]
    while route[-1] != other:
        nearer = linked[route[-1]] & (away == away[route[-1]] - 1)
        route.append(int(np.argmax(nearer)))
    return tuple(route)


def _sum_of_paths(direct: np.ndarray, one: int, other: int, most: int) -> float:
    """Take the widest path, its links away, then the widest that is left, until there is none."""
    left, total = direct.astype(np.float64), 0.0
    while True:
        _, narrowest, route = _best(left, one, other, most, 1.0)
        if not route:
            return total
        total += narrowest
        for a, b in pairwise(route):
            left[a, b] = left[b, a] = 0.0
