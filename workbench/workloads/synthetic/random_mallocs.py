"""Random calls of `malloc`: sizes, lanes that call, lanes that come late, and frees."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.mallocs import Mallocs
from workbench.workloads.synthetic.frees import Frees
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.laws import Law, Uniform


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
        """Return which calls are made: those whose chance is below the share, or the same number of lowest ones a
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
