"""The parts of a node, each made from its slots of the setup, and the addresses of their routines.

They are a dispatcher and a translation a card, a heap an application and card, and one pool, which is made from a setup
of the engine `pool`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType, SimpleNamespace
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.compiled import INTERPRETED
from workbench.compiled.memory_access import Referent, entry_of
from workbench.engines.dispatch import part as dispatch_part
from workbench.engines.dispatch import part_api as dispatch_api
from workbench.engines.engine import Setup
from workbench.engines.kit import frame as kit
from workbench.engines.kit.faults import FINE, policy_error, stop_of
from workbench.engines.kit.frame import Part, defaults_of
from workbench.engines.malloc import part as malloc_part
from workbench.engines.malloc import part_api as malloc_api
from workbench.engines.node import memory, pool_api
from workbench.engines.node.directory import Asked, pages_held
from workbench.engines.node.memory import rounding_of
from workbench.engines.node.options import PARTS
from workbench.engines.node.plan import Calls, mallocs_of, with_requests
from workbench.engines.node.pool_service import NONE, Answer, Counters, Jobs, LogRow, Rates
from workbench.engines.node.prepare import Reading, groups_of, most_live
from workbench.engines.node.state import Ports, Run
from workbench.engines.pool import part as single
from workbench.engines.pool.options import Case
from workbench.engines.translation import part as translation_part
from workbench.engines.translation import part_api as translation_api
from workbench.engines.translation.part import make_room
from workbench.errors import InputError
from workbench.policies.pool.cache import CacheRules
from workbench.policies.pool.frames import Frames
from workbench.records.pool import PoolRecord
from workbench.streams import Streams
from workbench.structures.timetable import NEVER
from workbench.workloads.pool_requests import ALLOC, FREE
from workbench.workloads.workload import Groups, Mallocs

Keeps = Literal["record", "live"]
MOST_HEAP = 1 << 30
"""Bytes that a heap and its chunks have at most."""
FOR_ALL = ("next_moment", "take_next", "answer_of", "forget_answers")
OWN = {
    "dispatch": ("ask_group", "ask_end", "ask_cancel_range", "enter_history", "scattered_of"),
    "translation": (
        "ask_access",
        "ask_unmap",
        "take_holder",
        "stall",
        "stalled",
        "end_walk",
        "score_held",
        "take_score",
    ),
    "malloc": ("ask_request", "ask_free", "ask_chunk", "was_served", "time_of"),
    "pool": ("ask_allocate", "ask_release", "copied", "run_of", "row_of", "forget_rows", "waits", "memory_of"),
}
"""The routines of each kind of part that the calendar calls."""


class Table:
    """A workload that is the table of a part."""

    name = "applications"

    def __init__(self, groups: Groups | None = None, mallocs: Mallocs | None = None) -> None:
        self._groups, self._mallocs = groups, mallocs

    def groups(self, machine: Any, streams: Streams) -> Groups | None:
        """Return the groups."""
        return self._groups

    def mallocs(self, machine: Any, streams: Streams) -> Mallocs | None:
        """Return the calls."""
        return self._mallocs


class Member(NamedTuple):
    """A part with what is called of it."""

    kind: str
    api: ModuleType
    part: Part
    lent: Referent
    """Its tuple; where arrays have grown, another one at the same address."""


class Members:
    """All parts, in the order of their numbers; None where an application has no heap."""

    def __init__(self, reading: Reading, seed: int, events: bool, tickets: int) -> None:
        cards = len(reading.given.machine.gpus)
        groups = groups_of(reading)
        self.calls: Calls = reading.calls
        keeps: Keeps = "record" if events else "live"
        dispatchers = [_dispatcher(reading, seed, groups, keeps) for _ in range(cards)]
        translations = [_translation(reading, seed) for _ in range(cards)]
        heaps = self._heaps(reading, seed, cards)
        pool = _pool(reading, seed, tickets, events)
        self.each: list[Member | None] = [*dispatchers, *translations, *heaps, pool]
        self.ports = _ports(self.each)

    def _heaps(self, reading: Reading, seed: int, cards: int) -> list[Member | None]:
        """Return the heaps, card by card; the calls learn their requests."""
        applications, requests, heaps = len(reading.applications), dict[int, np.ndarray](), list[Member | None]()
        for place in range(cards * applications):
            card, application = divmod(place, applications)
            calls = mallocs_of(reading.plan, reading.calls, application, reading.given.machine.card.wave_size)
            if not calls.bytes.size or not _may_run_on(reading, application, card):
                heaps.append(None)
                continue
            heap = _heap(reading, seed, calls)
            heaps.append(heap)
            requests[application] = heap.part.requests  # type: ignore[attr-defined]
        self.calls = with_requests(reading.calls, requests)
        return heaps

    def lend_pages(self, run: Run) -> None:
        """Let dispatchers whose choice asks for it be told which modules hold pages of a group."""
        self.asked = [Referent(Asked(run, one.part.play.state.pages)) for one in self._choosing()]
        for one, lent in zip(self._choosing(), self.asked):
            one.part.asks_pages(entry_of(pages_held, lent))

    def _choosing(self) -> list[Any]:
        dispatchers = [one for one in self.each if one is not None and one.kind == "dispatch"]
        return [one for one in dispatchers if one.part.reads_pages]  # type: ignore[attr-defined]

    def soonest(self) -> np.ndarray:
        """Return the moment of each part's next event."""
        parts = [NEVER if one is None else one.part.called("next_moment") for one in self.each]
        return np.array(parts, np.int64)

    def make_room(self, number: int) -> None:
        """Let a part have more room."""
        make_room(self.each[number].part)  # type: ignore[union-attr, arg-type]

    def check(self) -> None:
        """Raise what a policy did wrong."""
        for one in self.each:
            if one is not None:
                one.part.check()


def _ports(each: list[Member | None]) -> Ports:
    """Return the routines of all parts, by address."""
    kind = object if INTERPRETED else np.int64
    columns = {name: np.zeros(len(each), kind) for name in Ports._fields}
    for number, member in enumerate(each):
        if member is None:
            continue
        for name in (*FOR_ALL, *OWN[member.kind]):
            entry = entry_of(getattr(member.api, name), member.lent)
            columns[name][number], columns["lent"][number] = entry
    return Ports(**columns)


def sub_setup(reading: Reading, part: str, machine: Any, workload: Any, options: Any) -> Setup:
    """Return the setup of a part: its slots of the policies."""
    given: Mapping[str, Any] = reading.given.setup.policies
    return Setup(part, machine, workload, {slot: given[slot] for slot in defaults_of(PARTS[part])}, options)


def _dispatcher(reading: Reading, seed: int, groups: Groups, keeps: Keeps) -> Member:
    machine, options = reading.given.machine.card, reading.given.options.dispatch
    setup = sub_setup(reading, "dispatch", machine, Table(groups=groups), options)
    entries = 8 * machine.compute_units * machine.waves_a_unit + 64
    part = dispatch_part.new_part(
        setup, seed, ends="asked", tells="all", history="entered", entries=entries, keeps=keeps
    )
    return Member("dispatch", dispatch_api, part, part.kept)


def _translation(reading: Reading, seed: int) -> Member:
    machine, options = reading.given.machine.translation, reading.given.options.translation
    setup = sub_setup(reading, "translation", machine, None, options)
    walks: Literal["end", "wait"] = "wait" if reading.given.options.remote == "link" else "end"
    part = translation_part.new_part(setup, seed, walks=walks)
    return Member("translation", translation_api, part, part.kept)


def _heap(reading: Reading, seed: int, calls: Mallocs) -> Member:
    machine, options = reading.given.machine.card, reading.given.options.heap
    setup = sub_setup(reading, "malloc", machine, Table(mallocs=calls), options)
    part = malloc_part.new_part(setup, seed, _growth(reading, calls))
    return Member("malloc", malloc_api, part, part.kept)


def _pool(reading: Reading, seed: int, tickets: int, events: bool) -> Member:
    options, machine = reading.given.options, reading.given.machine
    setup = sub_setup(reading, "pool", machine.board, None, options.pool)
    part = PoolPart(
        setup, seed, tickets=tickets, clock_mhz=int(machine.card.clock_mhz), pages=options.pages,
        policy=reading.given.slots.frames, by_links=options.remote == "link",
        release_ns=None if options.release_ns < 0 else options.release_ns, logs=events,
    )  # fmt: skip
    return Member("pool", pool_api, part, part.kept)


def _may_run_on(reading: Reading, application: int, card: int) -> bool:
    """Return whether kernels of an application may run on a card."""
    return reading.given.options.kernel_card != "home" or reading.applications[application].home == card


def _growth(reading: Reading, calls: Mallocs) -> malloc_part.Growth | None:
    """Return how far a heap may grow, where waves wait for it: until all that is ever asked for has a chunk."""
    options = reading.given.options
    if options.malloc != "wait":
        return None
    chunk, granule = options.chunk_bytes, options.heap.granule_bytes
    each = -(-np.maximum(calls.bytes.astype(np.int64) * reading.given.machine.card.wave_size, granule) // chunk) * chunk
    most = options.heap.heap_bytes + min(int(each.sum()), _most_chunks(reading, int(each.max(initial=chunk))))
    return malloc_part.Growth(chunk, max(min(most, MOST_HEAP), options.heap.heap_bytes))


def _most_chunks(reading: Reading, each: int) -> int:
    """Return an upper bound of the bytes of chunks of a heap: four times what the groups that run at a time hold, and
    some chunks more."""
    plan = reading.plan
    of_phase = np.add.reduceat(np.append(np.maximum(plan.malloc, SMALLEST), 0), plan.first_malloc[:-1])
    of_phase *= np.diff(plan.first_malloc) > 0
    of_kernel = np.bincount(plan.of_kernel, of_phase, minlength=plan.groups.size) * plan.waves
    needed = 4 * most_live(reading) * int(of_kernel.max(initial=0))
    return (needed // reading.given.options.chunk_bytes + 16) * each


SMALLEST = 1024
"""Bytes that a block is reckoned with, at least."""

_AT_ONCE = 16
"""Answers that one call can bring, and more."""


class PoolPart(kit.Part):
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
        How large pages are, one of `memory.MODES`: requests are rounded up to whole ones.
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
    >>> from workbench.engines.node.pool_service import GRANTED, OF
    >>> from workbench.engines.pool.options import PoolOptions
    >>> from workbench.machine import Board
    >>> from workbench.policies.placement import ByteCounter
    >>> from workbench.policies.pool import BestFit, KeepAll, Lowest, MaxBandwidth, SplitAndCoalesce, Stay
    >>> policies = {"cache": SplitAndCoalesce(), "cache_fit": BestFit(), "target": MaxBandwidth()}
    >>> policies |= {"idle_release": KeepAll(), "driver": ByteCounter(), "residency": Stay()}
    >>> setup = Setup("pool", Board(), None, policies, PoolOptions(service_ns=30))
    >>> part = PoolPart(setup, 1, tickets=2, clock_mhz=1000, pages="64k", policy=Lowest())
    >>> part.call("ask_allocate", 0, 1, 5000, 100), kit.next_event(part)
    (0, (130, 4))
    >>> part.call("take_next"), part.called("answer_of", 0, OF.kind) == GRANTED, part.called("run_of", 0, 0, 1)
    (1, True, 65536)
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
        self.inner, self.frames_policy = single.new_part(setup, seed, spare=2 * tickets), policy
        service, case, granule = self.inner.run, self.inner.case, rounding_of(pages)
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
        service = service._replace(rules=service.rules._replace(request_ns=0))
        checked = not policy.built_in
        map_of_frames = memory.new_frames(capacity, granule if framed else 0, policy, calls, checked)
        super().__init__(pool_api, _jobs(service, map_of_frames, rates, tickets))

    @property
    def jobs(self) -> Jobs:
        """Return what the routines run on."""
        jobs: Jobs = self.lent
        return jobs

    def check(self) -> None:
        self.inner.check()
        stop = stop_of(self.jobs.frames.counters)
        if stop.fault != FINE:
            slots, words = SimpleNamespace(frames=self.frames_policy), {"where": f"on card {stop.row}"}
            raise policy_error(memory.FRAME_FAULT, slots, stop, words)

    def record(self, application: np.ndarray) -> PoolRecord:
        """Return what was served, as the engine `pool` records it.

        Parameters
        ----------
        application : int64[tickets]
            Who asked for each region.
        """
        requests, jobs, columns = self.inner.requests, self.jobs, self.jobs.service.columns
        rows = np.flatnonzero(jobs.ticket_of != NONE)
        ticket, frees = jobs.ticket_of[rows], columns.names[rows] != NONE
        requests.time[rows] = jobs.asked[rows] * 1000 // jobs.rates.clock_mhz
        requests.app[rows], requests.handle[rows] = application[ticket], ticket
        requests.card[rows], requests.bytes[rows] = columns.borrower[rows], columns.size[rows]
        requests.action[rows] = np.where(frees, FREE, ALLOC)
        return single.record_of(self.inner)


def _jobs(service: Any, map_of_frames: memory.FrameMap, rates: Rates, tickets: int) -> Jobs:
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
        asked=np.zeros(rows, np.int64),
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
