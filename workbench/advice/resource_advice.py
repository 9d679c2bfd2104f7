"""Which memory resource would have carried a program, and how large a pool: of logs of RMM and of profiles.

A log tells requests and no segments, so that each resource is replayed: the driver alone, TensorFlow's BFC and, where
there is one stream, RMM's coalescing pool as the engine `pool` has them; RMM's arena and binning, and its pool where
there are several streams, as `advice.rmm` has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.advice.rmm import (
    Arena,
    Binning,
    Bins,
    CardRequests,
    Resource,
    StreamPool,
    requests_by_card,
    serve,
    smallest_arena,
    smallest_pool,
)
from workbench.metrics.pool import in_use, reserved
from workbench.metrics.torch_allocator import driver_ns
from workbench.number_text import bytes_said, to_decimals
from workbench.policies.pool.cache import Cache
from workbench.policies.pool.caching_allocators import Bfc, NoCache, RmmPool
from workbench.records.pool import BYTES, ROW, PoolRecord
from workbench.records.torch_allocator import BYTES as SEGMENT_BYTES
from workbench.records.torch_allocator import CallCosts
from workbench.workloads.recorded_memory import memory_events

if TYPE_CHECKING:
    import pandas as pd


CARD_BYTES = 1 << 42
"""Of the cards that requests are replayed on, so that nothing is ever refused."""


class Least(NamedTuple):
    """Bytes a card that serve everything: of a pool that never grows, and of an arena."""

    pool: int
    arena: int


class ResourceTrial(NamedTuple):
    """What one resource does with a program, all cards together."""

    setting: str
    """What to write in the program."""
    reserved_peak_bytes: int
    driver_calls: int
    driver_ns: int
    """What these calls cost."""
    fits: bool | None = None
    """Whether no card holds more than was named; None = none was."""


class ResourceAdvice:
    """What a log of requests says about memory resources; in a notebook it shows itself as a table.

    `best` is the setting that reserves least with the fewest calls, `least_pool_bytes` the smallest pool that serves
    everything without growing.
    """

    def __init__(
        self, path: str, trials: list[ResourceTrial], live_peak: int, least: Least, streams: int, from_profile: bool
    ) -> None:
        self.path = path
        self.trials = sorted(trials, key=lambda it: (it.fits is False, it.driver_calls > 2, it.reserved_peak_bytes))
        self.active_peak_bytes = live_peak
        self.least_pool_bytes, self.least_arena_bytes = least
        self.streams = streams
        self._from_profile = from_profile

    @property
    def best(self) -> str:
        """Return what to write in the program."""
        return self.trials[0].setting

    @property
    def table(self) -> pd.DataFrame:
        """Return a row a setting, the best first."""
        import pandas as pd

        return pd.DataFrame([trial._asdict() for trial in self.trials])

    def plain(self) -> dict[str, Any]:
        """Return everything as plain types."""
        return {
            "file": self.path,
            "best": self.trials[0]._asdict(),
            "settings": [trial._asdict() for trial in self.trials],
            "active_peak_bytes": self.active_peak_bytes,
            "least_pool_bytes": self.least_pool_bytes,
            "least_arena_bytes": self.least_arena_bytes,
            "streams": self.streams,
            "sentences": self.sentences(),
        }

    def sentences(self) -> list[str]:
        """Say what came out, in words."""
        best, live = self.trials[0], self.active_peak_bytes
        over = f"{self.least_pool_bytes / live - 1:.1%} above" if live else "above"
        streams = "one stream" if self.streams == 1 else f"{self.streams} streams, told apart as RMM does"
        calls = f"{best.driver_calls:,} driver call{'s' * (best.driver_calls != 1)}"
        messages = [
            f"{self.path}: {bytes_said(live)} live at the peak.",
            f"Best: {best.setting} with {bytes_said(best.reserved_peak_bytes)} reserved at the peak, "
            f"{calls} (about {to_decimals(best.driver_ns / 1e6, 1)} ms).",
            f"The smallest pool that serves everything without growing has {bytes_said(self.least_pool_bytes)} a card, "
            f"{over} what is live at the peak.",
            f"The smallest arena that serves everything has {bytes_said(self.least_arena_bytes)} a card; an "
            "arena never grows.",
            f"This rests on RMM's documented rules for pool, arena and binning, and on {streams}; that work of another "
            "stream has to end before its memory is used costs time that is not counted.",
        ]
        if self._from_profile:
            messages.append(
                "The trace tells no addresses: a release is taken for that of the latest block of its size."
            )
        return messages

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in self.sentences()) + str(self.table.to_html(index=False))

    def __repr__(self) -> str:
        return "\n".join(self.sentences())


def advise_resources(path: str | Path, card_bytes: int | None = None, costs: CallCosts | None = None) -> ResourceAdvice:
    """Try memory resources on what a log of RMM, or a profile with memory events, recorded.

    Parameters
    ----------
    path : str or Path
        The trace, or the name of a public one.
    card_bytes : int, optional
        Bytes of a card on which everything should fit.
    costs : CallCosts, optional
        What the driver's calls cost, in nanoseconds.

    Raises
    ------
    InputError
        The file is no trace, or tells of no allocation.

    Examples
    --------
    >>> import tempfile
    >>> log = Path(tempfile.mkdtemp(), "rmm.csv")
    >>> rows = [f"1,9:00:0{k}.0,allocate,0x{k + 1}0,3145728,0" for k in range(4)]
    >>> _ = log.write_text("\\n".join(["Thread,Time,Action,Pointer,Size,Stream", *rows]))
    >>> advise_resources(log).least_pool_bytes >> 20
    12
    """
    runs = _Runs(str(path))
    live, cards, costs = runs.live_peak(), runs.requests(), costs or CallCosts()
    streams = len(set().union(*(requests.stream for requests in cards)))
    least = Least(smallest_pool(cards), smallest_arena(cards))
    sizes = [*pools(live, least.pool)]
    candidates = [("rmm.mr.CudaMemoryResource()", NoCache()), *_regions(runs, least.pool)]
    candidates += [(setting, RmmPool(initial=size)) for setting, size in sizes if streams == 1]
    trials = [runs.tried(setting, cache, costs, card_bytes) for setting, cache in candidates]
    arena = f"rmm.mr.ArenaMemoryResource(rmm.mr.CudaMemoryResource(), arena_size={least.arena})"
    resources: list[tuple[str, Callable[[], Resource]]] = [(arena, partial(Arena, least.arena)), *binnings(least.pool)]
    resources += [(setting, partial(StreamPool, size)) for setting, size in sizes if streams > 1]
    trials += [_served(setting, make, cards, costs, card_bytes) for setting, make in resources]
    return ResourceAdvice(str(path), trials, sum(live), least, streams, runs.from_profile)


def _served(
    setting: str, make: Callable[[], Resource], cards: list[CardRequests], costs: CallCosts, card_bytes: int | None
) -> ResourceTrial:
    """Return what a resource of `advice.rmm` does with the requests of all cards."""
    results = [serve(make(), requests) for requests in cards]
    assert all(result.failed_at < 0 for result in results)
    sizes = np.array([size for result in results for size in result.calls], np.int64)
    calls = np.zeros((len(sizes), 4), np.int64)
    calls[:, SEGMENT_BYTES] = sizes
    return ResourceTrial(
        setting=setting,
        reserved_peak_bytes=sum(result.reserved_peak for result in results),
        driver_calls=len(sizes),
        driver_ns=round(driver_ns(calls, costs)),
        fits=None if card_bytes is None else all(result.reserved_peak <= card_bytes for result in results),
    )


def _regions(runs: _Runs, least: int) -> Iterator[tuple[str, Cache]]:
    """Yield TensorFlow's allocator as it grows, and with the smallest power of two in which it need not."""
    yield "TensorFlow BFC, allow_growth", Bfc(first_region=1 << 20)
    limit = power_above(least)
    while not runs.serves(Bfc(first_region=limit)):
        limit *= 2
    yield f"TensorFlow BFC, memory_limit={limit >> 20} (MiB)", Bfc(first_region=limit)


class _Runs:
    """Runs of the engine `pool` on the requests of a trace, one cache after another."""

    def __init__(self, path: str) -> None:
        from workbench.advice.replay import replay_sweep
        from workbench.experiments.plan import make_plan
        from workbench.experiments.sweep import read_sweep
        from workbench.mechanisms.mechanism import mechanism

        config = {**replay_sweep(path, ["rmm_pool"], card_bytes=CARD_BYTES), "figures": [], "measures": []}
        config["policy"] = {"cache": "rmm_pool", "target": "local_only"}
        self._setup: Any = make_plan(read_sweep(config)).points[0].setup
        self._engine: Any = mechanism("pool").engine
        self._before = int(self._setup.workload.facts(self._setup.machine)["allocations_from_before"])
        self.from_profile = memory_events(self._setup.workload.trace_file(), -1).address is None
        self._known: dict[Cache, PoolRecord] = {}

    def of(self, cache: Cache) -> PoolRecord:
        """Return the run under a cache."""
        if cache not in self._known:
            setup = self._setup._replace(policies={**self._setup.policies, "cache": cache})
            self._known[cache] = self._engine.simulate(setup, 0)
        return self._known[cache]

    def requests(self) -> list[CardRequests]:
        """Return the requests of each card, with their streams."""
        return requests_by_card(self._setup.workload.trace_file())

    def live_peak(self) -> list[int]:
        """Return the most bytes that were live on each card that was asked."""
        record = self.of(NoCache())
        cards = np.unique(record.borrower).tolist()
        return in_use(record, "asked")[cards].max(axis=1, initial=0).tolist()

    def serves(self, cache: Cache) -> bool:
        """Return whether each card's first call of the driver is its last."""
        record = self.of(cache)
        return len(record.calls) <= len(np.unique(record.borrower))

    def tried(self, setting: str, cache: Cache, costs: CallCosts, card_bytes: int | None) -> ResourceTrial:
        """Return what a cache does; a card that never runs out tells whether a smaller one would."""
        record = self.of(cache)
        cards = np.unique(record.borrower).tolist()
        peaks = reserved(record)[cards].max(axis=1, initial=0).tolist()
        own = record.calls[(record.calls[:, ROW] >= self._before) | (record.calls[:, BYTES] > 0)]
        calls = np.column_stack([own, np.zeros(len(own), np.int64)])[:, [0, 2, 3, 4]]
        return ResourceTrial(
            setting=setting,
            reserved_peak_bytes=sum(peaks),
            driver_calls=len(own),
            driver_ns=round(driver_ns(calls, costs)),
            fits=None if card_bytes is None else max(peaks, default=0) <= card_bytes,
        )


STEP = 2 << 20
"""In which steps the least pool is looked for: what the driver deals in."""
_GROWING = (1 << 20, 1 << 26, 1 << 30)
_BINS = (Bins(8, 16), Bins(8, 20), Bins(12, 18), Bins(16, 20), Bins(18, 22))
"""The last is that of RMM's manual."""


def pools(live: list[int], least: int) -> Iterator[tuple[str, int]]:
    """Yield RMM's pool from several sizes on, as one writes them."""
    sizes = [least, *(size for size in _GROWING if size < least), power_above(max(live, default=1))]
    for size in dict.fromkeys(sizes):
        yield f"rmm.reinitialize(pool_allocator=True, initial_pool_size={size})", size


def binnings(least_pool: int) -> Iterator[tuple[str, Callable[[], Resource]]]:
    """Yield RMM's bins over the driver, and over a pool as large as what serves everything by itself."""
    driver = "rmm.mr.CudaMemoryResource()"
    pool = f"rmm.mr.PoolMemoryResource({driver}, initial_pool_size={least_pool})"
    for bins in _BINS:
        for upstream, initial in ((driver, None), (pool, least_pool)):
            setting = f"rmm.mr.BinningMemoryResource({upstream}, {bins.least}, {bins.most})"
            yield setting, partial(Binning, bins, initial)


def power_above(size: int) -> int:
    """Return the least power of two that holds a size, at least a step.

    >>> power_above(5 << 20) >> 20
    8
    """
    return max(1 << (size - 1).bit_length(), STEP)
