"""Calls of `malloc`: drawn at random, or from a CSV file of the user's.

Drawn are sizes, lanes that call, lanes that come late, and when threads give back what they got.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.levers import Family, Lever, Spec, lever
from workbench.streams import Streams
from workbench.workloads.csv_columns import column_names, read_columns, row_place
from workbench.workloads.csv_file import MOST_CYCLES, CsvFile
from workbench.workloads.synthetic.laws import Constant, Law, Uniform
from workbench.workloads.workload import Generator, Mallocs

NEVER = -1


class Frees(Family, noun="way to free", example="{freed_by_thread: {share: 0.5}}"):
    """The base of every way to free."""

    def times(self, arrival: np.ndarray, warp: np.ndarray, streams: Streams) -> np.ndarray:
        """Return the time at which each call gives up what it got: int64[calls], -1 for never.

        Parameters
        ----------
        arrival, warp : int64[calls]
            When each thread called, and its warp.
        """
        raise NotImplementedError


class NeverFreed(Frees):
    """No call gives anything back.

    >>> NeverFreed().times(np.array([3, 4]), np.array([0, 0]), Streams(1))
    array([-1, -1])
    """

    def times(self, arrival: np.ndarray, warp: np.ndarray, streams: Streams) -> np.ndarray:
        return np.full(len(arrival), NEVER)


class FreedByThread(Frees):
    """A share of all threads give back what they got, each a lifetime of its own after its call.

    References
    ----------
    spec 2, H2.10: random per-thread frees.

    Examples
    --------
    >>> FreedByThread(lifetime=10).times(np.array([3, 4]), np.array([0, 0]), Streams(1))
    array([13, 14])
    """

    share: float = lever(1.0, least=0, most=1, step=0.05, description="how much of all threads give anything back")
    lifetime: Law = lever(Uniform(low=1, high=100_000), unit="cycles", description="from the call to the return")

    def times(self, arrival: np.ndarray, warp: np.ndarray, streams: Streams) -> np.ndarray:
        lifetime = self.lifetime.draw(streams.uniforms("lifetimes", len(arrival)))
        freed = streams.uniforms("freed", len(arrival)) < self.share
        return np.where(freed, arrival + lifetime, NEVER)


class FreedByWarp(Frees):
    """A share of all warps give back what they got, all threads of a warp at once, counted from its last call.

    References
    ----------
    issue 6, the benchmark `malloc_warp`: half of the warps are freed.

    Examples
    --------
    >>> FreedByWarp(share=1.0, lifetime=10).times(np.array([3, 4, 9]), np.array([0, 0, 1]), Streams(1))
    array([14, 14, 19])
    """

    share: float = lever(0.5, least=0, most=1, step=0.05, description="how much of all warps give anything back")
    lifetime: Law = lever(Constant(value=100_000), unit="cycles", description="from a warp's last call to its return")

    def times(self, arrival: np.ndarray, warp: np.ndarray, streams: Streams) -> np.ndarray:
        names, number = np.unique(warp, return_inverse=True)
        last = np.zeros(len(names), np.int64)
        np.maximum.at(last, number, arrival)
        until = last + self.lifetime.draw(streams.uniforms("lifetimes", len(names)))
        freed = streams.uniforms("freed", len(names)) < self.share
        return np.where(freed, until, NEVER)[number]


class RandomMallocs(Generator):
    """Batches of threads that call `malloc`, warp by warp; each thread asks once a batch.

    Of every warp some lanes call (`active`, at random or so many exactly). Lanes of a warp that diverge take one of
    `paths` at random, each `path_cycles` after the one before, so that a warp's batch is up to as many calls. Streams:
    `sizes`, `active`, `paths`, `freed`, `lifetimes`; changing one law leaves the others' draws as they are.

    References
    ----------
    spec 2, section 6: uniform size, tid + 1, log-normal, bimodal; n from 1 to 2^16; active-lane fraction; E8.

    Examples
    --------
    >>> from workbench.machine import Machine
    >>> drawn = RandomMallocs(threads=4, size=2).mallocs(Machine(), Streams(7))
    >>> drawn.thread, drawn.bytes, drawn.free_at
    (array([0, 1, 2, 3]), array([2, 2, 2, 2]), array([-1, -1, -1, -1]))
    >>> RandomMallocs(threads=4, size_by="thread").mallocs(Machine(), Streams(7)).bytes
    array([1, 2, 3, 4])
    """

    counted_by = "threads"
    threads: int = lever(4096, least=1, most=1 << 22, scale="log", unit="threads", description="threads of a batch")
    batches: int = lever(1, least=1, most=1 << 16, scale="log", unit="batches", description="how often they call")
    batch_cycles: int = lever(
        100_000, least=1, most=10**9, scale="log", unit="cycles", description="from a batch to the next"
    )
    warp_gap_cycles: int = lever(
        0, least=0, most=10**6, unit="cycles", description="from a warp's call to the next one's"
    )
    warp_size: int = lever(32, least=1, most=1024, unit="threads", description="threads of a warp, for lanes and gaps")
    size: Law = lever(Uniform(low=1, high=256), unit="bytes", description="what each thread asks for")
    size_by: Literal["law", "thread"] = lever(
        "law", description="whether sizes follow the law, or thread t of a block asks for t + 1 bytes"
    )
    block_threads: int = lever(1024, least=1, most=1 << 16, unit="threads", description="threads of a block, for t + 1")
    active: float = lever(1.0, least=0, most=1, step=0.05, description="how much of all lanes call")
    active_by: Literal["lane", "warp"] = lever(
        "lane", description="whether each lane calls by chance, or the same number in every warp, at least one"
    )
    paths: int = lever(1, least=1, most=32, unit="paths", description="paths over which the lanes of a warp diverge")
    path_cycles: int = lever(
        100, least=1, most=10**6, unit="cycles", description="from a path's call to the next one's"
    )
    frees: Frees = lever(Frees.read("never_freed"), description="when threads give back what they got")

    def mallocs(self, machine: Any, streams: Streams) -> Mallocs:
        calls = self.threads * self.batches
        thread = np.tile(np.arange(self.threads), self.batches)
        arrival = np.repeat(np.arange(self.batches) * self.batch_cycles, self.threads)
        arrival += thread // self.warp_size * self.warp_gap_cycles
        size = self._sizes(thread, streams.uniforms("sizes", calls))
        if self.paths > 1:
            arrival += (streams.uniforms("paths", calls) * self.paths).astype(np.int64) * self.path_cycles
        if self.active < 1:
            some = self._calling(streams.uniforms("active", calls))
            arrival, thread, size = arrival[some], thread[some], size[some]
        if self.paths > 1 or self.warp_gap_cycles:
            order = np.lexsort((thread, arrival))
            arrival, thread, size = arrival[order], thread[order], size[order]
        return Mallocs(arrival, thread, size, self.frees.times(arrival, thread // self.warp_size, streams))

    def _sizes(self, thread: np.ndarray, ranks: np.ndarray) -> np.ndarray:
        return thread % self.block_threads + 1 if self.size_by == "thread" else self.size.draw(ranks)

    def _calling(self, chances: np.ndarray) -> np.ndarray:
        """Return the calls that are made: those whose chance is below the share, or the same number of lowest ones a
        warp."""
        if self.active_by == "lane":
            return chances < self.active
        lanes = max(round(self.active * self.warp_size), 1)
        whole = -(-self.threads // self.warp_size) * self.warp_size
        table = np.full((self.batches, whole), np.inf)
        table[:, : self.threads] = chances.reshape(self.batches, self.threads)
        table = table.reshape(-1, self.warp_size)
        rank = np.argsort(np.argsort(table, axis=1, kind="stable"), axis=1)
        return ((rank < lanes) & np.isfinite(table)).reshape(self.batches, whole)[:, : self.threads].ravel()


MOST_BYTES = 1 << 40
MOST_THREADS = 1 << 40
_FREE = Lever(
    "free_at", "integer", least=-1, most=MOST_CYCLES, unit="cycles", description="when it gives it back; -1: never"
)


class MallocRow(Spec):
    """What every row of a malloc file says (`docs/api`, Workload files)."""

    arrival: int = lever(
        least=0, most=MOST_CYCLES, unit="cycles", description="when the thread calls; never decreasing"
    )
    thread: int = lever(least=0, most=MOST_THREADS, description="its number; rising among the rows of one arrival")
    bytes: int = lever(least=0, most=MOST_BYTES, unit="bytes", description="what it asks for")


class MallocFile(CsvFile):
    """The calls of a CSV file, one a row, with the columns of `MallocRow` and perhaps `free_at`.

    `free_at` is the cycle from which the thread gives up what it got, -1 for never, which is what a file without that
    column means.
    """

    @classmethod
    def parsed(cls, text: bytes, sha256: str, where: str) -> Content:
        optional = {"free_at": _FREE} if "free_at" in column_names(text) else {}
        columns = read_columns(text, {**MallocRow.levers, **optional}, where, "; there may be free_at")
        calls = Mallocs(**{"free_at": np.full(len(columns["arrival"]), -1), **columns})
        _check_order(calls, where)
        return Content(sha256, calls)

    def mallocs(self, machine: Any, streams: Streams) -> Mallocs:
        return Mallocs(*(column.copy() for column in self.content().calls))


class Content(NamedTuple):
    """What a malloc file holds."""

    sha256: str
    """Digest of the content, uncompressed."""
    calls: Mallocs


def _check_order(calls: Mallocs, where: str) -> None:
    arrival, thread = calls.arrival, calls.thread
    wrong = (arrival[1:] < arrival[:-1]) | ((arrival[1:] == arrival[:-1]) & (thread[1:] <= thread[:-1]))
    if wrong.any():
        row = int(np.argmax(wrong)) + 1
        late = arrival[row] < arrival[row - 1]
        column, value, before = ("arrival", arrival, "at least") if late else ("thread", thread, "above")
        problem = f"{column} must be {before} {value[row - 1]}, that of the row before"
        raise InputError(f"{where}: {row_place(row)}: {problem}. Got {value[row]}.")
    early = (calls.free_at >= 0) & (calls.free_at < arrival)
    if early.any():
        row = int(np.argmax(early))
        problem = f"free_at must be -1 (never) or at least the arrival ({arrival[row]})"
        raise InputError(f"{where}: {row_place(row)}: {problem}. Got {calls.free_at[row]}.")
