"""The parts of a node: a dispatcher and a translation a card, a heap an application and card, one pool; each by the
addresses of its routines."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.compiled import INTERPRETED
from workbench.compiled.bound import Referent
from workbench.compiled.entry import entry_of
from workbench.engines.dispatch import part as dispatch_part
from workbench.engines.dispatch import part_api as dispatch_asking
from workbench.engines.engine import Setup
from workbench.engines.kit.part import Part
from workbench.engines.kit.slots import defaults_of
from workbench.engines.malloc import asking as malloc_asking
from workbench.engines.malloc import part as malloc_part
from workbench.engines.node import pool_jobs
from workbench.engines.node.calls import Calls, mallocs_of, with_requests
from workbench.engines.node.knowing import Asked, pages_held
from workbench.engines.node.pool_part import PoolPart
from workbench.engines.node.prepare import Reading, groups_of
from workbench.engines.node.room import most_live
from workbench.engines.node.slots import PARTS
from workbench.engines.node.state import Ports, Run
from workbench.engines.translation import part as translation_part
from workbench.engines.translation import part_asking as translation_asking
from workbench.engines.translation.part import make_room
from workbench.streams import Streams
from workbench.structures.timetable import NEVER
from workbench.workloads.mallocs import Mallocs
from workbench.workloads.workload import Groups

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
    asking: ModuleType
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
            entry = entry_of(getattr(member.asking, name), member.lent)
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
    return Member("dispatch", dispatch_asking, part, part.kept)


def _translation(reading: Reading, seed: int) -> Member:
    machine, options = reading.given.machine.translation, reading.given.options.translation
    setup = sub_setup(reading, "translation", machine, None, options)
    walks: Literal["end", "wait"] = "wait" if reading.given.options.remote == "link" else "end"
    part = translation_part.new_part(setup, seed, walks=walks)
    return Member("translation", translation_asking, part, part.kept)


def _heap(reading: Reading, seed: int, calls: Mallocs) -> Member:
    machine, options = reading.given.machine.card, reading.given.options.heap
    setup = sub_setup(reading, "malloc", machine, Table(mallocs=calls), options)
    part = malloc_part.new_part(setup, seed, _growth(reading, calls))
    return Member("malloc", malloc_asking, part, part.kept)


def _pool(reading: Reading, seed: int, tickets: int, events: bool) -> Member:
    options, machine = reading.given.options, reading.given.machine
    setup = sub_setup(reading, "pool", machine.board, None, options.pool)
    part = PoolPart(
        setup, seed, tickets=tickets, clock_mhz=int(machine.card.clock_mhz), pages=options.pages,
        policy=reading.given.slots.frames, by_links=options.remote == "link",
        release_ns=None if options.release_ns < 0 else options.release_ns, logs=events,
    )  # fmt: skip
    return Member("pool", pool_jobs, part, part.kept)


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
