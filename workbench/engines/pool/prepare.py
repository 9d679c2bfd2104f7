"""From a setup to the arrays of a run."""

from __future__ import annotations

import numpy as np

from workbench.compiled import addresses, kernel
from workbench.engines.kit.columns import padded
from workbench.engines.pool.options import Case, PoolOptions, Slots
from workbench.engines.pool.state import REPEATED, UNKNOWN, Columns, Policies, Rules, Tables, Terms
from workbench.levers import remembered
from workbench.machine.board import Board
from workbench.policies.policy import Policy
from workbench.policies.pool.cache import NEVER, Cache, in_class
from workbench.policies.pool.target.question import Target
from workbench.streams import Streams
from workbench.structures.size_index import NONE
from workbench.workloads.pool_requests import ALLOC, PoolRequests

LOCAL_GBPS = 5000.0
"""The bandwidth of a card to itself, as NCCL's model of topologies has it (graph/topo.h)."""


@remembered
def tables_of(board: Board, options: PoolOptions) -> Tables:
    """Return the board as arrays. Do not write to them."""
    paths = board.paths(options.path_metric, options.max_hops, options.hop_factor)
    gbps, hosts = paths.gbps.copy(), np.array([card.kind == "cpu" for card in board.cards])
    np.fill_diagonal(gbps, LOCAL_GBPS)
    capacity = np.array([card.free_bytes for card in board.cards])
    lends = (capacity > 0) & (options.cpus_lend | ~hosts)
    return Tables(
        capacity=capacity,
        # Transposed: a row is a borrower, and data come to it from the card that lends.
        gbps=np.ascontiguousarray(gbps.T).reshape(-1),
        narrowest=np.ascontiguousarray(paths.bottleneck_gbps).reshape(-1),
        hops=np.ascontiguousarray(paths.hops.T).reshape(-1),
        hosts=hosts.astype(np.int64),
        lends=lends.astype(np.int64),
    )


def columns_of(requests: PoolRequests, cache: Cache) -> Columns:
    """Return the requests, sizes rounded as the cache rounds them, each free with the row of what it frees."""
    size = _column(requests.bytes)
    return Columns(
        time=_column(requests.time),
        borrower=_column(requests.card),
        size=size,
        need=_rounded(size, cache),
        names=named(requests),
    )


def _column(values: np.ndarray) -> np.ndarray:
    """Return a column in one piece: for any other layout Numba would compile the engine once more."""
    return np.ascontiguousarray(values, np.int64)


def _rounded(size: np.ndarray, cache: Cache) -> np.ndarray:
    rules = cache.rules()
    rounded = -(-size // rules.granule) * rules.granule
    if not rules.classes:
        return rounded
    different, place = np.unique(rounded, return_inverse=True)
    return np.array([in_class(int(it), rules.classes) for it in different], np.int64)[place]


def named(requests: PoolRequests) -> np.ndarray:
    """Return the row of the allocation that each free names: int64[requests], -1 for an allocation.

    A free names the latest allocation of its application's handle before it: `UNKNOWN` where there is none, `REPEATED`
    where an earlier free already named that one.

    >>> requests = PoolRequests(*np.array([[0] * 5, [0] * 5, [0] * 5, [0, 1, 1, 0, 1], [7, 7, 7, 7, 8], [9] * 5]))
    >>> named(requests).tolist() == [-1, 0, REPEATED, -1, UNKNOWN]
    True
    """
    key, keys = _keys(_column(requests.app), _column(requests.handle))
    names = np.full(key.size, NONE)
    _name(key, np.asarray(requests.action) == ALLOC, np.full(keys, UNKNOWN), names)
    return names


def _keys(app: np.ndarray, handle: np.ndarray) -> tuple[np.ndarray, int]:
    """Return a number from 0 on for each application's handle, and how many numbers there are."""
    least, span = (handle.min(), int(np.ptp(handle)) + 1) if handle.size else (0, 1)
    apps = int(app.max(initial=0)) + 1
    # Handles of a narrow range are keys by themselves, which saves a sort; a sparse table would cost more.
    if apps * span <= 8 * app.size + 8 and app.min(initial=0) >= 0:
        return app * span + (handle - least), apps * span
    pairs, key = np.unique(np.stack([app, handle]), axis=1, return_inverse=True)
    return key.reshape(-1).astype(np.int64), pairs.shape[1]


@kernel
def _name(key: np.ndarray, alloc: np.ndarray, latest: np.ndarray, names: np.ndarray) -> None:
    """Walk through the requests; `latest` is what a free of each key names."""
    for row in range(key.size):
        if alloc[row]:
            latest[key[row]] = row
        else:
            names[row] = latest[key[row]]
            if names[row] >= 0:
                latest[key[row]] = REPEATED


def rules_of(case: Case) -> Rules:
    """Return the levers as whole numbers."""
    options, target = case.options, case.slots.target
    metrics = ("largest_cached_or_physical", "sum_cached_or_physical", "sum_all")
    numbers = case.slots.cache.rules()._asdict()
    del numbers["granule"], numbers["classes"]
    return Rules(
        metric=metrics.index(options.free_metric),
        tie=("lowest_id", "most_free").index(options.target_tie),
        window=options.history_window,
        by_bytes=int(options.history_weight == "bytes"),
        request_ns=options.ipc_ns + options.service_ns,
        alloc_ns=options.driver_alloc_ns,
        free_ns=options.driver_free_ns,
        mib_ns=options.driver_ns_per_mib,
        map_ns=options.driver_map_ns,
        zero_gbps=options.zero_gbps,
        normalises=int(target.normalises()),
        filters=int(target.filters()),
        own_first=int(target.own_first()),
        waits=int(options.when_full == "wait"),
        first_come=int(options.wait_order == "first_come"),
        wait_ns=options.wait_limit_ns,
        **numbers,
        **case.slots.residency.rules()._asdict(),
    )


def moves_expected(allocations: int, rules: Rules) -> int:
    """Return the moves that free space: one that only moves home does so once at most; one that frees space may move
    more often.

    The engine runs once more, with space for twice as many, if they do not suffice.
    """
    return max(allocations, 1) if rules.returns or rules.evicts else 0


def blocks_needed(columns: Columns, rules: Rules, moves: int = 0) -> int:
    """Return the upper bound on the blocks at a time: each allocation or move adds what it takes and what it cuts off.

    In segments of pages there is at most one cached block more than blocks in use in each stretch of mapped pages, and
    no more of these than allocations; a segment begins with a block of its own and is there for an allocation. A pool
    that doubles may have a first block a card that serves nothing.
    """
    allocations = int((columns.names == NONE).sum()) + moves
    if rules.pages:
        return 4 * allocations + 1
    cuts = 1
    if rules.halves:
        most = max(int(columns.need.max(initial=1)), rules.first_segment)
        cuts = most.bit_length() - max(int(columns.need.min(initial=1)), 1).bit_length() + 1
    if rules.grows == 2:
        cuts = 2
    return allocations * (1 + (cuts if rules.least_rest < NEVER or rules.halves else 0)) + 1


def calls_needed(allocations: int, rules: Rules) -> int:
    """Return the upper bound on the calls of the driver: each allocation gets memory once and gives it back once.

    Of pages, what goes back at once lies in one cached block. An allocation leaves two of these, what is cut off and
    what is freed, which lose all their pages once, and a release takes some of the pages of one more: three calls. What
    is got at once lies between blocks: of the stretches that an allocation gets, all but one are followed by a cached
    block that it takes in, one of those two or what such a call left above it: six calls. In a pool that doubles, the
    first request of a card may get and give back a first block as well.
    """
    if rules.grows == 2:
        return 4 * allocations
    return (9 if rules.pages else 2) * allocations


def answering(slots: Slots) -> list[Policy]:
    """Return the policies that answer by a function; the others are rules."""
    return [slots.cache_fit, slots.idle_release, slots.driver, *(term for term, _ in slots.target.terms())]


def policies_of(case: Case, checked: bool) -> tuple[Policies, np.ndarray, np.ndarray]:
    """Return the policies for one run, and what the fit and the scores remember at its start."""
    fit, idle = case.slots.cache_fit.ready(checked), case.slots.idle_release.ready(checked)
    terms, memory = _terms(case.slots.target, case.machine.ids, case.streams, checked)
    return Policies(fit.answer, fit.params, terms, idle.answer, idle.params, idle.limit), fit.memory, memory


def _terms(target: Target, ids: tuple[str, ...], streams: Streams, checked: bool) -> tuple[Terms, np.ndarray]:
    weighted = target.terms()
    each = [term.ready(ids, streams.integer(f"target/{k}"), checked) for k, (term, _) in enumerate(weighted)]
    terms = Terms(
        answers=addresses([it.answer for it in each]),
        chosen=addresses([it.chosen for it in each]),
        weights=np.array([weight for _, weight in weighted], np.float64),
        params=padded([it.params for it in each]),
        sizes=np.array([(it.params.size, it.memory.size) for it in each]),
    )
    return terms, padded([it.memory for it in each])
