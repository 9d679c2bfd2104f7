"""Who held which segments from when to when: the layout of a shared memory over time, as rectangles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.records.shared_memory import SharedMemoryRecord


class Pieces(NamedTuple):
    """Rectangles of segments and cycles; one workgroup may hold several, one after the other or side by side."""

    workgroup: np.ndarray
    """int64[pieces], the row of the workgroup."""
    begin: np.ndarray
    """int64[pieces], the cycle from which the segments are held."""
    end: np.ndarray
    """int64[pieces], the cycle from which they are not, always later."""
    base: np.ndarray
    """int64[pieces], the first segment."""
    length: np.ndarray
    """int64[pieces], how many segments."""


def pieces(record: SharedMemoryRecord, until: int | None = None) -> Pieces:
    """Return the rectangles of a run, ordered by workgroup, then by cycle, then by segment.

    A workgroup that compaction moved holds one piece after the other. Scattered grants are rebuilt from their order:
    each takes the lowest free segments, and its neighbouring ones are one piece.

    Parameters
    ----------
    until : int, optional
        Leave out what is granted at this cycle or later.

    Raises
    ------
    InputError
        The grants have no addresses (a byte counter's).
    """
    if not record.addressed:
        raise InputError("there is no layout: these grants have no addresses, only amounts.")
    kept = np.arange(len(record.grant)) if until is None else np.flatnonzero(record.grant < until)
    return _scattered(record, kept) if record.layout == "scattered" else _ranges(record, kept)


def _ranges(record: SharedMemoryRecord, kept: np.ndarray) -> Pieces:
    cycle, moved, _, new, _ = record.moves[np.isin(record.moves[:, 1], kept)].T
    workgroup = np.concatenate([kept, moved])
    order = np.argsort(workgroup, kind="stable")  # moves are kept in the order in which they happened
    workgroup = workgroup[order]
    begin = np.concatenate([record.grant[kept], cycle])[order]
    base = np.concatenate([record.base[kept], new])[order]
    stays = np.append(workgroup[1:] == workgroup[:-1], False)
    end = np.where(stays, np.append(begin[1:], 0), record.release[workgroup])
    lasting = end > begin
    return Pieces(*(column[lasting] for column in (workgroup, begin, end, base, record.length[workgroup])))


def _scattered(record: SharedMemoryRecord, kept: np.ndarray) -> Pieces:
    free = np.ones(record.segments, bool)
    held: dict[int, np.ndarray] = {}
    results: list[tuple[int, ...]] = []
    for is_grant, workgroup in _events(record, kept):
        if not is_grant:
            free[held[workgroup]] = True
            continue
        taken = held[workgroup] = np.flatnonzero(free)[: record.length[workgroup]]
        free[taken] = False
        span = int(record.grant[workgroup]), int(record.release[workgroup])
        runs = np.split(taken, np.flatnonzero(np.diff(taken) > 1) + 1)
        results.extend((workgroup, *span, int(run[0]), len(run)) for run in runs if span[1] > span[0])
    columns = np.array(results, np.int64).reshape(-1, 5)
    return Pieces(*columns[np.lexsort((columns[:, 3], columns[:, 0]))].T)


def _events(record: SharedMemoryRecord, kept: np.ndarray) -> list[tuple[bool, int]]:
    """Return grants and releases in their total order."""
    cycle = np.concatenate([record.grant[kept], record.release[kept]])
    is_grant = np.arange(2 * len(kept)) < len(kept)
    rank = is_grant if record.release_first else ~is_grant
    workgroup = np.concatenate([kept, kept])
    order = np.lexsort((record.serial[workgroup], rank, cycle))
    return list(zip(is_grant[order].tolist(), workgroup[order].tolist(), strict=True))
