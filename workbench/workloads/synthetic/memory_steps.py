"""The steps of an application with memory, and the steps of several applications as requests to a board."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, at
from workbench.streams import Streams
from workbench.workloads.pool_requests import ALLOC, FREE, PoolRequests, largest_memory
from workbench.workloads.synthetic.laws import Law, LogUniform

BLOCK_SIZES = LogUniform(low=64, high=2_000_000_000)
"""What the document's blocks range over: 64 B to 2 GB (spec 5, section 6)."""

MOST_BLOCKS = 1_000_000
"""Of one application at a time."""
_FIRST = 64


class Steps(NamedTuple):
    """The steps of one application, in order."""

    card: int
    """The place of its card among the board's."""
    time: np.ndarray
    """int64[steps], ns."""
    block: np.ndarray
    """int64[steps], which of its blocks; each is allocated once, and released once or never."""
    size: np.ndarray
    """int64[steps], bytes, negative for a release."""


def blocks_of(total: int, law: Law, streams: Streams, stream: str, path: str) -> np.ndarray:
    """Return the blocks of a law's sizes that are so many bytes together, the last one cut to fit: int64[blocks].

    Block n has the n-th rank of the stream, however many are needed.

    Raises
    ------
    InputError
        The sizes are so small that it would take more than a million of them.

    Examples
    --------
    >>> from workbench.workloads.synthetic.laws import Constant
    >>> blocks_of(250, Constant(value=100), Streams(0), "sizes", "x")
    array([100, 100,  50])
    """
    count = _FIRST
    while True:
        sizes = law.draw(streams.uniforms(stream, count))
        ends = np.cumsum(sizes)
        if ends[-1] >= total or count >= MOST_BLOCKS:
            break
        count *= 4
    if ends[-1] < total:
        raise InputError(
            f"{path} must draw larger blocks: {total} bytes would take more than {MOST_BLOCKS} of {law.short()}."
        )
    needed = int(np.searchsorted(ends, total)) + 1
    sizes = sizes[:needed].copy()
    sizes[-1] -= ends[needed - 1] - total
    return sizes[sizes > 0]


def check_law(law: Law, machine: Any, path: str, where: str = "") -> None:
    """Refuse a law that may draw a block that no card of the board could ever hold."""
    law.check_least(path)
    _, high = law.span()
    most = largest_memory(machine)
    if high > most:
        near = law.nearest_within(most)
        cure = f" Nearest: {near}." if near else ""
        expected = f"{path} must draw at most {most} bytes, which the largest card has"
        raise InputError(at(where, f"{expected}. Got up to {high}.{cure}"))


def times_after(start: int, law: Law, streams: Streams, stream: str, count: int) -> np.ndarray:
    """Return the times of so many steps, gaps drawn from a law apart: int64[count], ns, the first at the start."""
    if not count:
        return np.zeros(0, np.int64)
    gaps = law.draw(streams.uniforms(stream, count))
    return np.int64(start) + np.concatenate([np.zeros(1, np.int64), np.cumsum(gaps[:-1])])


def requests_of(plans: Sequence[Steps]) -> PoolRequests:
    """Return the steps of all applications by time; at one time those of the lower number come first.

    >>> steps = Steps(1, np.array([0, 9]), np.array([0, 0]), np.array([64, -64]))
    >>> requests = requests_of([steps, steps])
    >>> requests.app.tolist(), requests.handle.tolist(), requests.action.tolist(), requests.bytes.tolist()
    ([0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [64, 64, 64, 64])
    """
    first = np.cumsum([0, *(int(plan.block.max(initial=-1)) + 1 for plan in plans)])
    lengths = [len(plan.time) for plan in plans]
    time = np.concatenate([plan.time for plan in plans])
    size = np.concatenate([plan.size for plan in plans])
    block = np.concatenate([plan.block + start for plan, start in zip(plans, first.tolist(), strict=False)])
    order = np.argsort(time, kind="stable")
    return PoolRequests(
        time=time[order],
        app=np.repeat(np.arange(len(plans)), lengths)[order],
        card=np.repeat(np.array([plan.card for plan in plans], np.int64), lengths)[order],
        action=np.where(size > 0, ALLOC, FREE).astype(np.int8)[order],
        handle=block[order].astype(np.int64),
        bytes=np.abs(size)[order],
    )
