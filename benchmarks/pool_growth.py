"""What a request of the memory pool costs as caches grow: best fit with splitting and coalescing, on one card."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.turns import Side, clocked, compared, spent
from workbench.compiled import kernel
from workbench.engines.kit import given
from workbench.engines.kit.engine import Setup
from workbench.engines.pool import Pool
from workbench.engines.pool.engine import Beginning
from workbench.engines.pool.loop import simulate
from workbench.engines.pool.options import Slots
from workbench.engines.pool.prepare import columns_of
from workbench.engines.pool.state import COUNT, State
from workbench.machine import Board, Card
from workbench.policies.placement import ByteCounter
from workbench.policies.pool import BestFit, KeepAll, MaxBandwidth, SplitAndCoalesce, Stay
from workbench.policies.pool.idle import EACH
from workbench.records.pool import CACHED
from workbench.structures.size_index import CACHE_LINE, FIELDS
from workbench.structures.wide_trees import FRESH as TREES_END
from workbench.workloads.pool_requests import ALLOC, FREE, PoolRequests
from workbench.workloads.workload import Workload

CHURN = 500_000
CACHED_BLOCKS = (1_000, 10_000, 100_000, 1_000_000)
LINES = 4
"""Of an allocation: where the index has the block, the block, its driver allocation, where the index gets the rest. Its
free finds them near."""


class Given(Workload):
    """Requests as columns."""

    def __init__(self, requests: PoolRequests) -> None:
        object.__setattr__(self, "requests", requests)

    def pool_requests(self, machine: Any, streams: Any) -> PoolRequests:
        result: PoolRequests = self.requests
        return result


def tensor_sizes(draw: np.random.Generator, count: int) -> np.ndarray:
    """Bytes as tensors have them: multiples of 512 B, six in ten up to 1 MiB, the others log-uniform to 128 MiB."""
    small, large = draw.integers(1, 2049, count), np.floor(2 ** draw.uniform(11, 18, count)).astype(np.int64)
    return np.where(draw.random(count) < 0.6, small, large) * 512


def setup(board: Board, requests: PoolRequests, cache: Any) -> Setup:
    policies = {"cache": cache, "cache_fit": BestFit(), "target": MaxBandwidth(), "idle_release": KeepAll()}
    policies |= {"driver": ByteCounter(), "residency": Stay()}
    return Setup("pool", board, Given(requests), policies, Pool.options())


def pool_growth() -> list[dict[str, Any]]:
    """One card with 10^3 to 10^6 cached blocks that cannot be joined: a request in the steady state after.

    The reference is what memory alone costs: cache lines of an array as large as what is known of the blocks. They are
    read at random, each known only when the one before has arrived. No replay that looks at its blocks can avoid them.
    """
    return [it for blocks in CACHED_BLOCKS for it in _churned(blocks)]


def _churned(blocks: int) -> list[dict[str, Any]]:
    """The engine's loop: filled first, then measured over pairs of an allocation and its free."""
    draw, pairs = np.random.default_rng(2), CHURN // 2
    filling = np.r_[np.full(blocks, ALLOC), np.full(blocks, FREE)]
    fill = _requests(filling, np.r_[np.arange(blocks), np.arange(blocks)], tensor_sizes(draw, blocks))
    churn = _requests(np.tile([ALLOC, FREE], pairs), np.repeat(np.arange(pairs), 2), tensor_sizes(draw, pairs) // 2 + 1)
    board = Board(cards=(Card(id="gpu0", memory_bytes=1 << 50),), links=())
    requested = setup(board, fill, SplitAndCoalesce())
    begun, rows = Beginning(given(Slots, requested, seed=1), checked=False), max(2 * blocks, CHURN)
    state = begun.state({"requests": rows, "lendings": rows, "blocks": 2 * rows, "calls": 2 * rows, "moves": 0})
    filled, churned = (columns_of(it, SplitAndCoalesce()) for it in (fill, churn))
    simulate(filled, begun.tables, begun.rules, begun.policies, state)

    def run() -> float:
        seconds = spent(lambda: simulate(churned, begun.tables, begun.rules, begun.policies, state))
        assert (state.outcome[:CHURN:2] == CACHED).all()
        assert state.counters[COUNT.calls] == blocks
        return seconds

    run()
    variant, reference = f"{blocks:,} cached blocks", f"{LINES} random cache lines"
    return compared("pool_growth", variant, "requests", Side(CHURN, run), {reference: _reference(state)})


def _reference(state: State) -> Side:
    """A walk over as many cache lines as blocks and trees take, `LINES` of them an allocation."""
    known = state.blocks.nodes.itemsize * int(state.counters[COUNT.fresh]) * (FIELDS + EACH)
    lines = (known + state.blocks.roots.itemsize * int(state.blocks.roots[TREES_END])) // CACHE_LINE
    following = np.zeros((lines, CACHE_LINE // 8), np.int64)
    order = np.random.default_rng(3).permutation(lines)
    following[order, 0] = np.roll(order, -1)
    return clocked(CHURN, lambda: _walk(following, CHURN // 2 * LINES))


@kernel
def _walk(following: np.ndarray, steps: int) -> int:
    line = 0
    for _ in range(steps):
        line = following[line, 0]
    return line


def _requests(action: np.ndarray, handle: np.ndarray, sizes: np.ndarray) -> PoolRequests:
    nobody = np.zeros(handle.size, np.int64)
    return PoolRequests(np.arange(handle.size), nobody, nobody, action, handle, sizes[handle])
