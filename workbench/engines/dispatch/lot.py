"""What groups say of what stands between queue and unit: kernels, clusters, barriers (spec 7, R6, R10, R15).

Kernels arrive with their first group, over all channels; at one cycle the lower channel first, then the earlier in it
(R21). Groups of a kernel are numbered in the order of their rows; a cluster counts once, under its own number (E3).
"""

from __future__ import annotations

import numpy as np

from workbench.engines.dispatch.setting import Lot
from workbench.engines.dispatch.state import NONE
from workbench.errors import InputError
from workbench.workloads.workload import Groups

_NONE = np.zeros(0, np.int64)
NO_LOT = Lot(_NONE, _NONE, _NONE, _NONE, _NONE, _NONE, np.zeros(0, bool))
"""The columns of groups that say nothing; they are never written to."""


def says_anything(groups: Groups) -> bool:
    """Return whether any group is of a cluster, names a barrier, or is endless."""
    if groups.cluster is None and groups.barrier is None and groups.endless is None:
        return False
    for column, nothing in ((groups.cluster, 1), (groups.barrier, NONE), (groups.endless, False)):
        if column is not None and bool((column != nothing).any()):
            return True
    return False


def lot_of(groups: Groups) -> Lot:
    """Return the columns of groups, which were checked.

    Examples
    --------
    >>> from workbench.workloads.workload import Groups
    >>> one, none = np.ones(4, np.int64), np.zeros((4, 6), np.int64)
    >>> groups = Groups(0 * one, 0 * one, one, one, one > 1, one, {}, none, cluster=2 * one)
    >>> lot_of(groups).beside.tolist(), lot_of(groups).number.tolist(), lot_of(groups).of.tolist()
    ([1, -1, 3, -1], [0, 0, 1, 1], [2, 2, 2, 2])
    """
    count = groups.arrival.size
    kernel = _or(groups.kernel, groups.channel).astype(np.int64)
    cluster = _or(groups.cluster, np.ones(count, np.int64)).astype(np.int64)
    position, size = positions(kernel)
    return Lot(
        kernel=kernel,
        number=position // cluster,
        of=size // cluster,
        beside=_beside(groups.channel, kernel, position, cluster),
        rank=_ranks(groups, kernel),
        barrier=_or(groups.barrier, np.full(count, NONE)).astype(np.int64),
        endless=_or(groups.endless, np.zeros(count, bool)).astype(bool),
    )


def _or(column: np.ndarray | None, otherwise: np.ndarray) -> np.ndarray:
    return otherwise if column is None else column


def positions(kernel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each group in its kernel, in the order of rows, and the groups of its kernel."""
    order = np.argsort(kernel, kind="stable")
    starts = np.flatnonzero(np.diff(kernel[order], prepend=-1))
    sizes = np.diff(np.append(starts, kernel.size))
    position, size = np.empty_like(kernel), np.empty_like(kernel)
    position[order] = np.arange(kernel.size) - np.repeat(starts, sizes)
    size[order] = np.repeat(sizes, sizes)
    return position, size


def _beside(channel: np.ndarray, kernel: np.ndarray, position: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """Return the next group of the same cluster, -1 = none."""
    beside = np.full(kernel.size, NONE)
    order = np.argsort(kernel, kind="stable")
    goes_on = (position[order] + 1) % cluster[order] != 0
    # The last row has none behind it, also in a table with an uneven cluster, which is refused later.
    goes_on[-1:] = False
    beside[order[:-1][goes_on[:-1]]] = order[1:][goes_on[:-1]]
    return beside


def _ranks(groups: Groups, kernel: np.ndarray) -> np.ndarray:
    """Return the place of each group's kernel in the order of arrival."""
    rows = np.lexsort((np.arange(kernel.size), groups.channel, groups.arrival))
    kernels, first = np.unique(kernel[rows], return_index=True)
    rank = np.empty(kernels.size, np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(kernels.size)
    return rank[np.searchsorted(kernels, kernel)]


def when_forward(arrival: np.ndarray, lot: Lot) -> np.ndarray:
    """Return the cycle at which each entry may come forward: a cluster with its last group (R10)."""
    if not (lot.beside.size and (lot.beside >= 0).any()):
        return arrival
    forward = arrival.copy()
    for row in np.flatnonzero(lot.beside >= 0)[::-1].tolist():  # a group stands before the next one of its cluster
        forward[row] = max(forward[row], forward[lot.beside[row]])
    return forward


MOST_WORK = 1 << 40
"""Cycles of all groups together where rates are shared: work is kept in 2^-20 of a cycle."""


def check_lot(groups: Groups, pending_depth: int, in_order: bool, paced: bool) -> None:
    """Refuse clusters that are no clusters, runs without an end, and kernels that stand behind later ones.

    Raises
    ------
    InputError
        The sentence names the first row or kernel.
    """
    lot = lot_of(groups)
    if groups.cluster is not None:
        _check_clusters(groups, lot, pending_depth)
    if lot.endless.size and lot.endless.all():
        raise InputError("every group is endless: the run would never end. Let at least one group end (spec 7, R16).")
    if paced and groups.duration.sum(dtype=np.float64) > MOST_WORK:
        raise InputError("the groups last more than 2^40 cycles in all, the most where rates are shared (spec 7, R25).")
    if in_order:
        _check_order(groups, lot)


def _check_clusters(groups: Groups, lot: Lot, pending_depth: int) -> None:
    cluster = _or(groups.cluster, np.ones(0, np.int64))
    order = np.argsort(lot.kernel, kind="stable")
    position, size = positions(lot.kernel)
    same = np.diff(lot.kernel[order]) == 0
    inside = same & (position[order][1:] % cluster[order][1:] != 0)
    for name, column in (("cluster", cluster), ("channel", groups.channel), ("priority", groups.priority)):
        differs = np.flatnonzero((same if name == "cluster" else inside) & (np.diff(column[order]) != 0))
        if differs.size:
            row = int(order[1:][differs[0]])
            within = "kernel" if name == "cluster" else "cluster"
            raise InputError(f"group {row}: {name} must be the same for all groups of a {within}. Got {column[row]}.")
    uneven = np.flatnonzero(size % cluster)
    if uneven.size:
        row = int(uneven[0])
        raise InputError(
            f"kernel {lot.kernel[row]} has {size[row]} groups, which is no multiple of its cluster of {cluster[row]}."
        )
    if pending_depth and (cluster > 1).any():
        raise InputError("options.pending_depth must be 0 where groups start in clusters (spec 7, R14).")
    _check_adjacent(groups, lot)


def _check_adjacent(groups: Groups, lot: Lot) -> None:
    """Refuse clusters between whose groups others stand in the channel."""
    order = np.argsort(groups.channel, kind="stable")
    behind = np.full(order.size, NONE)
    behind[order[:-1]] = order[1:]
    apart = np.flatnonzero((lot.beside >= 0) & (lot.beside != behind))
    if apart.size:
        row = int(lot.beside[apart[0]])
        raise InputError(f"group {row} must stand right behind group {apart[0]} of its cluster in channel order.")


def _check_order(groups: Groups, lot: Lot) -> None:
    order = np.lexsort((np.arange(lot.rank.size), groups.channel))
    back = np.flatnonzero((np.diff(groups.channel[order]) == 0) & (np.diff(lot.rank[order]) < 0))
    if back.size:
        row, before = int(order[1:][back[0]]), int(order[back[0]])
        raise InputError(
            f"group {before} of kernel {lot.kernel[before]} stands in channel {groups.channel[row]} before group {row} "
            f"of kernel {lot.kernel[row]}, which arrived earlier: under options.concurrency both would wait for ever."
        )
