"""Requests for memory as columns: of applications to several cards, and of programs to PyTorch's allocator.

Further columns: the allocation that a release names, the cards of a board on which applications run, and what they may
request. A handle that comes again, as addresses do, gets a number for each allocation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, at
from workbench.workloads.allocator_log import AllocatorLog

ALLOC, FREE, DIE = 0, 1, 2
"""The values of `PoolRequests.action`; an application that dies frees nothing more itself."""


class PoolRequests(NamedTuple):
    """Allocations and frees: one row a request, times not decreasing."""

    time: np.ndarray
    """int64[requests], nanoseconds."""
    app: np.ndarray
    """int64[requests], the application (process) that asks, from 0."""
    card: np.ndarray
    """int64[requests], the card on which the application runs: the index of it in the machine's cards."""
    action: np.ndarray
    """int8[requests]: `ALLOC`, `FREE` or `DIE`."""
    handle: np.ndarray
    """int64[requests], what an application calls the region; a free names the handle of an earlier allocation,
    a death names none."""
    bytes: np.ndarray
    """int64[requests], what is asked for; of a free, what was asked for when it was allocated."""


class FilledRequests(PoolRequests):
    """Requests of which it is known how full their regions are: a key-value cache reserves more than it writes.

    What is made of them by `_replace` or row by row is plain requests again, of which it is not known.
    """

    filled: np.ndarray
    """float64[requests], of an allocation: bytes that hold data, summed over the nanoseconds of its life; else 0."""

    @classmethod
    def of(cls, requests: PoolRequests, filled: np.ndarray) -> FilledRequests:
        """Return the requests with how full their regions are."""
        result = cls(*requests)
        result.filled = filled
        return result


def filled_of(requests: PoolRequests) -> np.ndarray | None:
    """Return the fill of the regions, as a share, None where it is not known.

    >>> filled_of(PoolRequests(*np.zeros((6, 1)))) is None
    True
    """
    return requests.filled if isinstance(requests, FilledRequests) else None


ALLOC_TENSOR, FREE_TENSOR, DEFER_TENSOR, COMPLETE_TENSOR, EMPTY_CACHE = range(5)
"""The values of `TensorRequests.kind`: a block; a block back; a block back that a stream still uses, and the end of
that use; all cached memory back to the driver."""


class TensorRequests(NamedTuple):
    """One row a request, in the order in which the program made them; none where histories tell them."""

    kind: np.ndarray
    """int64[requests], `ALLOC` ... `EMPTY_CACHE`."""
    handle: np.ndarray
    """int64[requests], the number of the block, from 0."""
    size: np.ndarray
    """int64[requests], bytes asked for, 0 of other requests."""
    stream: np.ndarray
    """int64[requests], the number of the stream, from 0."""
    logs: tuple[AllocatorLog, ...] = ()
    """Recorded histories, one a card."""
    path: str = ""
    """The file that holds them."""


def program_of(rows: Iterable[tuple[int, int, int]]) -> TensorRequests:
    """Return the requests of a program with one stream: kind, number of the block, bytes.

    >>> program_of([(ALLOC, 0, 512), (FREE, 0, 0)]).size.tolist()
    [512, 0]
    """
    kind, handle, size = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return TensorRequests(kind, handle, size, np.zeros_like(kind))


def recorded_program(logs: tuple[AllocatorLog, ...], path: str) -> TensorRequests:
    """Return the content of recorded histories."""
    nothing = np.zeros(0, np.int64)
    return TensorRequests(nothing, nothing, nothing, nothing, logs, path)


def one_handle_each(app: np.ndarray, action: np.ndarray, handle: np.ndarray) -> np.ndarray:
    """Return handles of which no two allocations have the same: int64[requests].

    A release names the latest allocation of its application and handle, whether that is still live or not. Where no two
    allocations share a handle, all stay as they are; else allocations are numbered in their order, and a release that
    names nothing gets a number of its own.

    Parameters
    ----------
    app, handle : int64[requests]
    action : int8[requests]

    Examples
    --------
    >>> one_handle_each(np.array([0, 0, 0, 0]), np.array([0, 1, 0, 1], np.int8), np.array([7, 7, 7, 7]))
    array([0, 0, 1, 1])
    """
    made = handle[action == ALLOC]
    if len(np.unique(made)) == len(made):
        return handle.astype(np.int64)
    latest: dict[tuple[int, int], int] = {}
    handles, number, unknown = np.empty(len(handle), np.int64), 0, len(handle)
    for row, (who, what, name) in enumerate(zip(app.tolist(), action.tolist(), handle.tolist(), strict=True)):
        if what == ALLOC:
            latest[who, name] = number
            number += 1
        elif (who, name) not in latest:
            latest[who, name] = unknown
            unknown += 1
        handles[row] = latest[who, name]
    return handles


def sizes_of_releases(action: np.ndarray, handle: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the bytes of each request, a release having those of its allocation: int64[requests].

    A release that names nothing keeps what it says.

    >>> sizes_of_releases(np.array([0, 1], np.int8), np.array([5, 5]), np.array([64, 0]))
    array([64, 64])
    """
    rows = np.flatnonzero(action == ALLOC)
    if not len(rows):
        return size.astype(np.int64)
    order = rows[np.argsort(handle[rows], kind="stable")]
    names = handle[order]
    place = np.minimum(np.searchsorted(names, handle), len(names) - 1)
    named = names[place] == handle
    return np.where(named & (action != ALLOC), size[order[place]], size).astype(np.int64)


def matched_by_size(changes: Iterable[int], before: Iterable[int]) -> list[int]:
    """Return the block of each row where a trace holds no addresses: the latest live one of the size that is released.

    Blocks from before the trace have the first numbers, in their order; a release that no live block has the size of
    gets a number of its own, as a block from before the trace that was not known of.

    >>> matched_by_size([64, 64, -64, -32], before=[32])
    [1, 2, 2, 0]
    """
    live: dict[int, list[int]] = {}
    number = 0
    for size in before:
        live.setdefault(size, []).append(number)
        number += 1
    blocks = []
    for change in changes:
        if change < 0 and live.get(-change):
            blocks.append(live[-change].pop())
            continue
        if change > 0:
            live.setdefault(change, []).append(number)
        blocks.append(number)
        number += 1
    return blocks


def gpus_of(machine: Any) -> np.ndarray:
    """Return the places of the GPUs among the cards of a board, or of a node's, in their order: int64[gpus]; those of
    all cards where none is one.

    >>> from workbench.machine import Board
    >>> gpus_of(Board())
    array([1, 2])
    """
    kinds = [card.kind for card in getattr(machine, "board", machine).cards]
    places = [place for place, kind in enumerate(kinds) if kind == "gpu"]
    return np.array(places or [place for place, kind in enumerate(kinds) if kind != "switch"], np.int64)


def largest_memory(machine: Any) -> int:
    """Return the bytes of the card that has the most memory."""
    return max(int(card.memory_bytes) for card in machine.cards)


def check_size(size: int, machine: Any, what: str, where: str = "") -> None:
    """Refuse a request that no card could serve even when all are empty.

    Parameters
    ----------
    what : str
        Who asks, as the sentence begins.

    Raises
    ------
    InputError
        It is larger than every card.

    Examples
    --------
    >>> from workbench.machine import Board
    >>> check_size(1 << 40, Board(), "jobs.csv: row 3 (line 4): bytes")
    Traceback (most recent call last):
    workbench.errors.InputError: jobs.csv: row 3 (line 4): bytes must be at most 68719476736, which the largest card \
has. Got 1099511627776.
    """
    most = largest_memory(machine)
    if size > most:
        raise InputError(at(where, f"{what} must be at most {most}, which the largest card has. Got {size}."))
