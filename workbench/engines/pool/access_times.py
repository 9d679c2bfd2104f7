"""Times of accesses and of moves over the links of a board, together and alone; when clients are answered (spec 5)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from workbench.engines.pool.options import PoolOptions
from workbench.levers import remembered
from workbench.machine.board import Board
from workbench.machine.network import network_of
from workbench.machine.paths import Paths
from workbench.records.pool import (
    BEGIN,
    LEFT,
    REGION,
    RELEASED,
    STITCHED,
    TO,
    PoolRecord,
    Stays,
    ever_away,
    remote,
    stays_of,
)
from workbench.structures.flow_sharing import Flows, finishing_times


def with_access_times(record: PoolRecord, board: Board, paths: Paths, touches: float) -> PoolRecord:
    """Return the record with the times under way: of each region's data, of each move's, with and without contention.

    A region's application reads `touches` bytes for each of its bytes, evenly over the region's life from its answer
    on: the part of it that the region spends on another card moves from there, from when it comes there on. A move
    takes its bytes to the new card when it begins. All take the widest path, and share links, channels and ports
    max-min fairly.
    """
    stays = _read(record, stays_of(record, ever_away(record)))
    away = np.flatnonzero(remote(record, stays))
    region, moves = stays.region[away], record.moves
    start = np.concatenate((stays.begin[away], moves[:, BEGIN]))
    read = record.asked[region] * touches * _share(stays)[away]
    amount = np.concatenate((read, record.asked[moves[:, REGION]]))
    source = np.concatenate((stays.card[away], moves[:, LEFT]))
    to = np.concatenate((record.borrower[region], moves[:, TO]))
    together, alone = _times(board, paths, start, amount, source * len(board.cards) + to)
    access, access_alone = np.zeros(record.time.size), np.zeros(record.time.size)
    np.add.at(access, region, together[: away.size])
    np.add.at(access_alone, region, alone[: away.size])
    return record._replace(
        access_ns=access,
        access_alone_ns=access_alone,
        move_ns=together[away.size :],
        move_alone_ns=alone[away.size :],
    )


def _read(record: PoolRecord, stays: Stays) -> Stays:
    """Return the stays without what lies before the answer: a region may move while its client still maps it (R25)."""
    answered = record.answered[stays.region]
    return stays._replace(begin=np.maximum(stays.begin, answered), end=np.maximum(stays.end, answered))


def _share(stays: Stays) -> np.ndarray:
    """Return the share of its region's life of each stay; of a region that lived for no time the first one is all."""
    length = (stays.end - stays.begin).astype(np.float64)
    first = np.diff(stays.region, prepend=-1) != 0
    life = np.bincount(stays.region, length)[stays.region] if length.size else length
    return np.divide(length, life, out=first.astype(np.float64), where=life > 0)


def _times(
    board: Board, paths: Paths, start: np.ndarray, amount: np.ndarray, pair: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nanoseconds that flows of these bytes between these pairs of cards take, and would take alone."""
    together, alone = np.zeros(start.size), np.zeros(start.size)
    indices = np.flatnonzero(amount > 0)
    indices = indices[np.argsort(start[indices], kind="stable")]
    if not indices.size:
        return together, alone
    flows = Flows(start[indices].astype(np.float64), amount[indices], pair[indices], *board.network(paths))
    together[indices] = finishing_times(flows) - start[indices]
    alone[indices] = amount[indices] / _narrowest(board, paths.routes)[pair[indices]]
    return together, alone


@remembered
def _narrowest(board: Board, routes: Any) -> np.ndarray:
    """Return the bandwidth of each pair of cards that shares no link: float64[cards * cards], GB/s."""
    capacity, first, resource = network_of(board.cards, board.links, routes)
    return np.array([_alone(capacity, resource[a:b]) for a, b in pairwise(first)])


def _alone(capacity: np.ndarray, resource: np.ndarray) -> float:
    """Return the rate of a flow over these resources; one that it takes twice gives it half of its width."""
    taken, times = np.unique(resource, return_counts=True)
    return float((capacity[taken] / times).min(initial=np.inf))


def answered(options: PoolOptions, outcome: np.ndarray, done: np.ndarray) -> np.ndarray:
    """Return the time at which each application has its answer: int64[requests], nanoseconds.

    With mapped pointers a client maps what it was granted, cached or not, and unmaps what it released. That takes its
    own time, after the service's: the service meanwhile serves others. A request that changes nothing maps nothing.

    Parameters
    ----------
    options : PoolOptions
        Of these `pointer_mode`, `map_ns` and `unmap_ns`.
    outcome : int8[requests]
        What came of each request.
    done : int64[requests]
        When the service was done with it.

    Examples
    --------
    >>> from workbench.engines.pool.options import PoolOptions
    >>> from workbench.records.pool import CACHED, REFUSED
    >>> mapped = PoolOptions(pointer_mode="mapped_pointer", map_ns=30, unmap_ns=20)
    >>> answered(mapped, np.array([CACHED, RELEASED, REFUSED]), np.array([100, 200, 300])).tolist()
    [130, 220, 300]
    """
    if options.pointer_mode == "identifier":
        return done
    mapping = np.where(outcome <= STITCHED, options.map_ns, np.where(outcome == RELEASED, options.unmap_ns, 0))
    return done + mapping.astype(np.int64)
