"""The memory settings that a recorded program can make, by what wrote the recording, and others to compare with.

A program that uses RMM chooses one of RMM's resources. A program of PyTorch chooses settings of PyTorch's allocator.
What another framework has is shown for comparison alone, and is never advised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from workbench.advice.rmm import (
    Arena,
    Binning,
    Bins,
    CardRequests,
    Direct,
    Driver,
    PoolRules,
    Resource,
    StreamPool,
    rules_of,
    smallest_arena,
    smallest_maximum,
    smallest_pool,
    version_of,
)
from workbench.engines.torch_allocator.settings import VARIABLES
from workbench.policies.pool.cache import Cache
from workbench.policies.pool.caching_allocators import Bfc, ExpandableSegments, PytorchCaching
from workbench.workloads.importers.trace import Trace

Make = Callable[[Driver], Resource]
"""Builds the resource of one card."""
NEWEST_RMM = "26.08"
"""The version of RMM whose settings are advised where none is named."""
STEP = 2 << 20
"""In which steps the least pool is looked for: what the driver deals in."""
_GROWING = (1 << 20, 1 << 26, 1 << 30)
_BINS = (Bins(8, 16), Bins(8, 20), Bins(12, 18), Bins(16, 20), Bins(18, 22))
"""The last is that of RMM's manual."""
_DRIVER = "rmm.mr.CudaMemoryResource()"
_MAXIMUM_SINCE, _ARENA_SINCE = (0, 16), (24, 12)
"""The first versions whose Python has `reinitialize(maximum_pool_size=...)` and `ArenaMemoryResource` (rmm#528,
#1711)."""


class Candidate(NamedTuple):
    """A setting, and what does as it says."""

    setting: str
    """What to write in the program."""
    does: Make | Cache
    settable: bool
    """Whether a program like the recorded one can make it."""


class Least(NamedTuple):
    """Bytes a card that serve everything: of a pool that never grows, and of an arena."""

    pool: int
    arena: int


class Program(NamedTuple):
    """What kind of program was recorded."""

    framework: str
    """RMM or PyTorch; empty = the format of the recording does not tell."""
    is_amd: bool = False

    @property
    def variable(self) -> str:
        """Return the environment variable that every version of PyTorch reads."""
        return VARIABLES[1] if self.is_amd else VARIABLES[0]


RMM = Program("RMM")
_FRAMEWORKS = {"rmm_log_csv": "RMM", "kineto": "PyTorch", "torch_memory_timeline_raw": "PyTorch"}
"""What writes the formats with memory events that are read here, snapshots apart."""


def program_of(trace: Trace) -> Program:
    """Return the kind of program that left a trace."""
    amd = any(card.name.startswith("AMD") or card.wave_size == 64 for card in trace.cards)
    return Program(_FRAMEWORKS.get(trace.format, ""), amd)


def least_of(cards: list[CardRequests], rules: PoolRules) -> Least:
    """Return the smallest pool and the smallest arena that serve every card."""
    return Least(smallest_pool(cards, rules=rules), smallest_arena(cards))


def candidates(program: Program, cards: list[CardRequests], least: Least, version: str) -> Iterator[Candidate]:
    """Yield the settings to try, those that the program can make first.

    Parameters
    ----------
    program : Program
        What was recorded.
    cards : list of CardRequests
        The requests of each card.
    least : Least
        What `least_of` returned.
    version : str
        The version of RMM.
    """
    of_rmm = program.framework == "RMM"
    if program.framework == "PyTorch":
        yield Candidate(f"{program.variable} unset (PyTorch's defaults)", PytorchCaching(), True)
        yield Candidate(f"{program.variable}=expandable_segments:True", ExpandableSegments(), not program.is_amd)
    yield Candidate(_DRIVER, Direct, of_rmm)
    for candidate in (*_pools(cards, least.pool, version), *_arenas(least.arena, version)):
        yield candidate._replace(settable=of_rmm)
    if of_rmm:
        yield from _binnings(least.pool, rules_of(version))
    yield Candidate("TensorFlow BFC, allow_growth", Bfc(first_region=1 << 20), False)


def power_above(size: int) -> int:
    """Return the least power of two that holds a size, at least a step.

    >>> power_above(5 << 20) >> 20
    8
    """
    return max(1 << (size - 1).bit_length(), STEP)


def _pools(cards: list[CardRequests], least: int, version: str) -> Iterator[Candidate]:
    """Yield RMM's pool from several sizes on, with no maximum and with the smallest that is enough."""
    rules = rules_of(version)
    live = max((requests.live_peak() for requests in cards), default=1)
    sizes = [least, *(size for size in _GROWING if size < least), power_above(live)]
    for size in dict.fromkeys(sizes):
        setting = f"rmm.reinitialize(pool_allocator=True, initial_pool_size={size}"
        yield Candidate(f"{setting})", partial(_pool, size, None, rules), True)
        if size < least and version_of(version) >= _MAXIMUM_SINCE:
            most = smallest_maximum(cards, size, rules=rules)
            yield Candidate(f"{setting}, maximum_pool_size={most})", partial(_pool, size, most, rules), True)


def _pool(initial: int, maximum: int | None, rules: PoolRules, driver: Driver) -> Resource:
    return StreamPool(initial, driver, maximum, rules)


def _arenas(least: int, version: str) -> Iterator[Candidate]:
    if version_of(version) >= _ARENA_SINCE:
        yield Candidate(f"rmm.mr.ArenaMemoryResource({_DRIVER}, arena_size={least})", partial(Arena, least), True)


def _binnings(least_pool: int, rules: PoolRules) -> Iterator[Candidate]:
    """Yield RMM's bins over the driver, and over a pool as large as what serves everything by itself."""
    pool = f"rmm.mr.PoolMemoryResource({_DRIVER}, initial_pool_size={least_pool})"
    for bins in _BINS:
        for upstream, initial in ((_DRIVER, None), (pool, least_pool)):
            setting = f"rmm.mr.BinningMemoryResource({upstream}, {bins.least}, {bins.most})"
            made = partial(_binning, bins, initial, rules)
            yield Candidate(setting, made, True)


def _binning(bins: Bins, pool: int | None, rules: PoolRules, driver: Driver) -> Resource:
    return Binning(bins, pool, driver, rules)
