"""A million requests on ten cards, best fit with splitting and coalescing; and what a request costs as caches grow."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.row import fastest, row
from workbench.compiled import kernel
from workbench.engines.kit import given
from workbench.engines.kit.engine import Setup
from workbench.engines.pool import Pool
from workbench.engines.pool.engine import Beginning
from workbench.engines.pool.loop import simulate
from workbench.engines.pool.options import Slots
from workbench.engines.pool.prepare import columns_of
from workbench.engines.pool.state import COUNT, Columns, State
from workbench.machine import Board, Card, preset
from workbench.policies.placement import ByteCounter
from workbench.policies.pool import BestFit, KeepAll, MaxBandwidth, PytorchCaching, SplitAndCoalesce, Stay
from workbench.policies.pool.idle import EACH
from workbench.records.pool import CACHED, PHYSICAL, RELEASED
from workbench.structures.size_index import ABOVE, CACHE_LINE, FIELDS, SizeIndex
from workbench.structures.wide_trees import FRESH as TREES_END
from workbench.structures.wide_trees import HEAD, levels
from workbench.workloads.pool_requests import ALLOC, FREE, PoolRequests
from workbench.workloads.workload import Workload

REQUESTS, LIVE, CHURN = 1_000_000, 3_000, 100_000
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


def training(count: int, cards: int, live: int) -> PoolRequests:
    """Allocations on all cards, one after another, each freed after about `live` others."""
    draw = np.random.default_rng(1)
    each = count // 2
    begins = np.arange(each, dtype=np.float64)
    order = np.argsort(np.r_[begins, begins + draw.exponential(live, each) + 0.5], kind="stable")
    handle = np.r_[np.arange(each), np.arange(each)][order]
    card = draw.integers(0, cards, each)[handle]
    action = np.r_[np.full(each, ALLOC), np.full(each, FREE)][order]
    return PoolRequests(np.arange(2 * each), card, card, action, handle, tensor_sizes(draw, each)[handle])


def setup(board: Board, requests: PoolRequests, cache: Any) -> Setup:
    policies = {"cache": cache, "cache_fit": BestFit(), "target": MaxBandwidth(), "idle_release": KeepAll()}
    policies |= {"driver": ByteCounter(), "residency": Stay()}
    return Setup("pool", board, Given(requests), policies, Pool.options())


def pool_replay() -> list[dict[str, Any]]:
    """The whole engine, from columns to the record, on DGX-1V's ten cards."""
    requests = training(REQUESTS, cards=10, live=LIVE)
    return [_replayed(requests, cache) for cache in (SplitAndCoalesce(), PytorchCaching())]


def _replayed(requests: PoolRequests, cache: Any) -> dict[str, Any]:
    requested, records = setup(preset("dgx_1v").machine(), requests, cache), []

    def once() -> None:
        records.append(Pool().simulate(requested, seed=1))

    once()
    seconds = fastest(once, 5)
    counts = np.bincount(records[0].outcome, minlength=9)
    assert counts[CACHED] + counts[PHYSICAL] == counts[RELEASED] == REQUESTS // 2
    assert all((record.identifier == records[0].identifier).all() for record in records)
    message = f"{cache.name}, 10 cards, {counts[PHYSICAL]:,} driver allocations"
    return row("pool_replay", message, REQUESTS, "requests", seconds)


def pool_replay_growth() -> list[dict[str, Any]]:
    """One card with 10^3 to 10^6 cached blocks that cannot be joined: a request in the steady state after.

    Beside each stands what memory alone costs: cache lines of an array as large as what is known of the blocks, read
    at random, each known only when the one before has arrived. No replay that looks at its blocks can be spared them.
    """
    return [it for blocks in CACHED_BLOCKS for it in _churned(blocks)]


def _churned(blocks: int) -> list[dict[str, Any]]:
    """The engine's loop: filled first, then timed over pairs of an allocation and its free."""
    draw, pairs = np.random.default_rng(2), CHURN // 2
    filling = np.r_[np.full(blocks, ALLOC), np.full(blocks, FREE)]
    fill = _requests(filling, np.r_[np.arange(blocks), np.arange(blocks)], tensor_sizes(draw, blocks))
    churn = _requests(np.tile([ALLOC, FREE], pairs), np.repeat(np.arange(pairs), 2), tensor_sizes(draw, pairs) // 2 + 1)
    board = Board(cards=(Card(id="gpu0", memory_bytes=1 << 50),), links=())
    requested = setup(board, fill, SplitAndCoalesce())
    begun, rows = Beginning(given(Slots, requested, seed=1), checked=False), max(2 * blocks, CHURN)
    state = begun.state({"requests": rows, "lendings": rows, "blocks": 2 * rows, "calls": 2 * rows, "moves": 0})

    def serve(requests: Columns) -> None:
        simulate(requests, begun.tables, begun.rules, begun.policies, state)

    filled, churned = (columns_of(it, SplitAndCoalesce()) for it in (fill, churn))
    serve(filled)
    serve(churned)
    assert (state.outcome[:CHURN:2] == CACHED).all()
    assert state.counters[COUNT.calls] == blocks
    seconds = fastest(lambda: serve(churned), 5)
    message = f"{blocks:,} cached blocks, {_nodes_passed(state.blocks):.1f} tree nodes a search"
    return [row("pool_replay_growth", message, CHURN, "requests", seconds), _reference(blocks, state)]


def _nodes_passed(index: SizeIndex) -> float:
    """How many nodes of the trees a search passes, on the average over the cached blocks."""
    above = index.nodes.reshape(-1, FIELDS)[:, ABOVE]
    roots, blocks = np.unique(above[above >= HEAD], return_counts=True)
    return float(np.average([levels(index.roots, root) for root in roots], weights=blocks))


def _reference(blocks: int, state: State) -> dict[str, Any]:
    """A walk over as many cache lines as blocks and trees take, `LINES` of them an allocation."""
    known = state.blocks.nodes.itemsize * int(state.counters[COUNT.fresh]) * (FIELDS + EACH)
    lines = (known + state.blocks.roots.itemsize * int(state.blocks.roots[TREES_END])) // CACHE_LINE
    following = np.zeros((lines, CACHE_LINE // 8), np.int64)
    order = np.random.default_rng(3).permutation(lines)
    following[order, 0] = np.roll(order, -1)
    _walk(following, CHURN)
    seconds = fastest(lambda: _walk(following, CHURN // 2 * LINES), 5)
    message = f"{blocks:,} cached blocks: {LINES} lines an allocation, of {lines * CACHE_LINE / 1e6:.1f} MB"
    return row("pool_replay_growth", message, CHURN, "requests", seconds)


@kernel
def _walk(following: np.ndarray, steps: int) -> int:
    line = 0
    for _ in range(steps):
        line = following[line, 0]
    return line


def _requests(action: np.ndarray, handle: np.ndarray, sizes: np.ndarray) -> PoolRequests:
    nobody = np.zeros(handle.size, np.int64)
    return PoolRequests(np.arange(handle.size), nobody, nobody, action, handle, sizes[handle])
