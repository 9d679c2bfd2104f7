"""How long the data of borrowed regions are under way, sharing links with one another (spec 5, E9, E14, H5.5)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from workbench.machine.board import Board
from workbench.machine.paths import Paths
from workbench.structures.fair_flows import Flows, finishing_times


def access_times(
    board: Board, paths: Paths, rows: np.ndarray, done: np.ndarray, card: np.ndarray, own: np.ndarray, moved: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Nanoseconds with and without contention: two float64[requests], 0 where nothing is moved.

    A region's data begin to move when it is granted and take the widest path from the lender to the borrower; all that
    is under way shares links, channels and ports max-min fairly.

    Parameters
    ----------
    rows : bool[requests]
        The borrowed regions.
    done : int64[requests]
        When each request was answered: its application has the region from then on.
    card, own : int64[requests]
        From where to where.
    moved : float64[requests]
        Bytes.
    """
    together, alone = np.zeros(done.size), np.zeros(done.size)
    found = np.flatnonzero(rows & (moved > 0))
    if not found.size:
        return together, alone
    network, pair = board.network(paths), card[found] * len(board.cards) + own[found]
    narrowest = [network.capacity[network.resource[a:b]].min(initial=np.inf) for a, b in pairwise(network.first)]
    flows = Flows(done[found].astype(np.float64), moved[found], pair, *network)
    together[found] = finishing_times(flows) - done[found]
    alone[found] = moved[found] / np.array(narrowest)[pair]
    return together, alone
