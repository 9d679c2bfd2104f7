"""The memory of a node: the pool's service, with a table of requests that is empty at first, and frames (spec 6, R9).

The node adds a row as somebody asks, and lets the service take it when it comes to it (`pool_api`). Times of the engine
`pool` are nanoseconds; cycles of a node become nanoseconds, and nanoseconds cycles, rounded up (R1).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from workbench.engines.kit.engine import Setup
from workbench.engines.kit.faults import FINE, policy_error, stop_of
from workbench.engines.kit.simulator import Part
from workbench.engines.node import frames
from workbench.engines.node.pages import rounding_of
from workbench.engines.node.pool_jobs import NONE, Answer, Counters, Jobs, LogRow, Rates
from workbench.engines.pool.engine import Beginning, Play, Pool, Run, room_for
from workbench.engines.pool.options import Case
from workbench.engines.pool.prepare import answering, moves_expected
from workbench.engines.pool.state import ROWS, Columns, Service, new_waiting
from workbench.errors import InputError
from workbench.policies.pool.cache import CacheRules
from workbench.policies.pool.frames import Frames
from workbench.workloads.pool_requests import PoolRequests


def new_pool(setup: Setup, seed: int, rows: int) -> Part:
    """Return a pool that was asked for nothing yet, with space for so many requests; its routines take a `Service`.

    Raises
    ------
    InputError
        The policies do not go with the board.
    """
    engine = Pool()
    case = engine.given(setup, seed)
    engine.check_levers(case)
    begun = Beginning(case, checked=not all(policy.built_in for policy in answering(case.slots)))
    columns = Columns(*np.zeros((5, rows), np.int64))._replace(names=np.full(rows, NONE))
    # The requests are not known yet, so the state is sized as if the smallest and the largest possible ones were among
    # them.
    extreme = np.array([1, int(begun.tables.capacity.max())])
    largest = columns._replace(need=np.r_[columns.need, extreme], names=np.full(rows + extreme.size, NONE))
    state = begun.state(room_for(largest, begun.rules, moves_expected(rows, begun.rules)))
    waiting = new_waiting(columns)
    waiting.counters[ROWS] = 0
    waiting.since[:] = NONE
    service = Service(columns, begun.tables, begun.rules, begun.policies, state, waiting)
    run = Run(case, PoolRequests(*np.zeros((6, rows), np.int64)), columns)
    return Part(engine, run, Play(*service[:5], begun.paths, waiting), service)


_AT_ONCE = 16
"""Answers that one call can bring, and more."""


class PoolPart(Part):
    """The pool of a node.

    Parameters
    ----------
    setup : Setup
        Of the engine `pool`, without a workload.
    seed : int
    tickets : int
        Regions that may be asked for: tensors, and chunks of device heaps.
    clock_mhz : int
        The cards' clock.
    pages : str
        How large pages are, one of `pages.MODES`: requests are rounded up to whole ones.
    policy : Frames
        Which frames the driver's allocations have, unless the driver is a placement policy.
    by_links : bool
        Whether regions that move are transfers of the links; without, a move takes what its path takes that is alone.
    release_ns : int, optional
        The service's time for a release; as for a request if it is not given.
    logs : bool
        Keep rows of the log.

    Raises
    ------
    InputError
        The policies do not go together, or cannot have pages of frames.

    Examples
    --------
    >>> from workbench.compiled import bound
    >>> from workbench.engines.node import pool_api
    >>> from workbench.engines.node.pool_jobs import GRANTED, OF
    >>> from workbench.engines.pool.options import PoolOptions
    >>> from workbench.machine import Board
    >>> from workbench.policies.placement import ByteCounter
    >>> from workbench.policies.pool import BestFit, KeepAll, Lowest, MaxBandwidth, SplitAndCoalesce, Stay
    >>> policies = {"cache": SplitAndCoalesce(), "cache_fit": BestFit(), "target": MaxBandwidth()}
    >>> policies |= {"idle_release": KeepAll(), "driver": ByteCounter(), "residency": Stay()}
    >>> setup = Setup("pool", Board(), None, policies, PoolOptions(service_ns=30))
    >>> part = PoolPart(setup, 1, tickets=2, clock_mhz=1000, pages="64k", policy=Lowest())
    >>> allocate, take, answer, run = (
    ...     bound(getattr(pool_api, name), part.kept) for name in ("ask_allocate", "take_next", "answer_of", "run_of")
    ... )
    >>> allocate(0, 1, 5000, 100), take(), answer(0, OF.kind) == GRANTED, run(0, 0, 1)
    (0, 1, True, 65536)
    """

    def __init__(
        self,
        setup: Setup,
        seed: int,
        *,
        tickets: int,
        clock_mhz: int,
        pages: str,
        policy: Frames,
        by_links: bool = False,
        release_ns: int | None = None,
        logs: bool = False,
    ) -> None:
        inner, granule = new_pool(setup, seed, 2 * tickets), rounding_of(pages)
        service, case, self.frames_policy = inner.lent, inner.run.given, policy
        if pages != "neutral":
            _check_pages(case, granule)
        placed = pages != "neutral" and case.slots.driver.layout == "contiguous"
        framed = pages != "neutral" and not placed
        cache = case.slots.cache.rules()
        rates = Rates(
            clock_mhz=clock_mhz,
            request_ns=service.rules.request_ns,
            release_ns=service.rules.request_ns if release_ns is None else release_ns,
            by_links=int(by_links),
            granule=granule,
            cache_granule=cache.granule,
            cache_classes=cache.classes,
            framed=int(framed),
            placed=int(placed),
            logs=int(logs),
        )
        capacity, calls = service.tables.capacity, service.state.calls.shape[0]
        # `begin_row` counts the service's time, which may differ for a release.
        service = service._replace(rules=service.rules._replace(request_ns=0))
        checked = not policy.built_in
        map_of_frames = frames.new_frames(capacity, granule if framed else 0, policy, calls, checked)
        super().__init__(inner.engine, inner.run, inner.play, _jobs(service, map_of_frames, rates, tickets))

    @property
    def draws(self) -> bool:
        return super().draws or self.frames_policy.draws

    def off(self) -> Self:
        part = super().off()
        part.run = self.run._replace(requests=None, columns=None)
        return part

    def on(self, lent: Jobs) -> Self:
        part = super().on(lent)
        part.run = self.run._replace(columns=lent.service.columns)
        return part

    def check(self) -> None:
        state = self.lent.service.state
        self.engine.check(self.run, state.counters, state)
        stop = stop_of(self.lent.frames.counters)
        if stop.fault != FINE:
            slots, words = SimpleNamespace(frames=self.frames_policy), {"where": f"on card {stop.row}"}
            raise policy_error(frames.FRAME_FAULT, slots, stop, words)


def _jobs(service: Any, map_of_frames: frames.FrameMap, rates: Rates, tickets: int) -> Jobs:
    """Return a service that was asked for nothing yet."""
    rows, moves, state = 2 * tickets, service.state.moves.shape[0], service.state
    runs = map_of_frames.taken.shape[1] + state.piece.size
    log = 4 * rows + state.calls.shape[0] + 2 * moves + _AT_ONCE if rates.logs else 1
    return Jobs(
        service=service,
        frames=map_of_frames,
        rates=rates,
        counters=np.zeros(len(Counters._fields), np.int64),
        row_of=np.full((tickets, 2), NONE),
        size_of=np.zeros(tickets, np.int64),
        ticket_of=np.full(rows, NONE),
        arrived_at=np.zeros(rows, np.int64),
        steps=np.zeros((rows + 2 * moves + 2, 3), np.int64),
        answers=np.zeros((_AT_ONCE, len(Answer._fields)), np.int64),
        runs=np.zeros((runs, 2), np.int64),
        rows=np.zeros((log, len(LogRow._fields)), np.int64),
    )


def _check_pages(case: Case, page: int) -> None:
    """Refuse policies whose driver allocations are no whole pages."""
    driver, cache, options = case.slots.driver, case.slots.cache, case.options
    if driver.layout == "contiguous" and options.driver_granule % page:
        raise InputError(
            f"options.driver_granule must be a multiple of the page of {page} bytes, for policy.driver {driver.name} "
            f"to place pages. Got {options.driver_granule}. Nearest: {max(options.driver_granule // page, 1) * page}."
        )
    if not _whole_pages(cache.rules(), page):
        cure = "use split_and_coalesce" if _is_power(cache.rules().granule) else "round up to a power of two"
        raise InputError(
            f"policy.cache: {cache.name} asks the driver for bytes that are no whole pages of {page} bytes; {cure}, "
            "or use options.pages: neutral."
        )


def _whole_pages(rules: CacheRules, page: int) -> bool:
    """Return whether all that a cache asks of the driver, for requests of whole pages, is whole pages."""
    segments = (rules.small_segment, rules.middle_segment, rules.first_segment)
    halved = rules.first_segment if rules.grows or rules.halves else 0
    return (
        all(size % page == 0 for size in (*segments, rules.segment_granule if rules.pages else 0))
        and _is_power(rules.granule)
        and (rules.classes == 0 or _is_power(rules.classes))
        and (halved == 0 or _is_power(halved))
        and rules.grows != 2
    )


def _is_power(number: int) -> bool:
    return number & (number - 1) == 0
