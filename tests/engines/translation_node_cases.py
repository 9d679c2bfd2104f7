"""Loads as a node brings them about, given to the engine's part and to the node's twin of translation.

Touches enter queues of cores, pages are unmapped, cores stalled, and the bytes of some walks come over a link.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Policies
from tests.oracles.node.description import Translation as TwinMachine
from tests.oracles.node.log import Log
from tests.oracles.node.pages import Page
from tests.oracles.node.touch import Access, Walk
from tests.oracles.node.translation import Translation as Twin
from workbench.compiled.memory_access import call, entry_of
from workbench.engines.kit import RANK
from workbench.engines.kit.engine import Setup
from workbench.engines.kit.order import cycle_of, moment
from workbench.engines.node.parts import new_translation
from workbench.engines.translation import TranslationOptions
from workbench.engines.translation import part as routines
from workbench.engines.translation.answers import SAYS
from workbench.engines.translation.part import BY_TLB, NEEDS_ROOM
from workbench.engines.translation.state import REPLY, Reply
from workbench.machine.translation import TranslationMachine
from workbench.policies.translation import (
    LRU,
    MRU,
    Always,
    DemandAlways,
    Directory,
    FirstBit,
    NoDirectory,
    Oracle,
    PushPair,
    SharingAwareEviction,
)
from workbench.records.translation import SERVED_BY
from workbench.structures.timetable import NEVER

SIZE = 4096
ISSUED = "issued"


class Load(NamedTuple):
    """A load, and the machine that it meets."""

    cores: int
    machine: dict[str, Any]
    """Of the twin."""
    policies: dict[str, str]
    accesses: list[tuple[int, int, int]]
    """Cycle, core, page."""
    unmappings: list[tuple[int, int]]
    stalls: list[tuple[int, int, int]]
    """Cycle, core, for how long."""
    shootdown: int | None
    """How long an unmapping stalls whose TLB held the page."""
    transfer: dict[int, int | None]
    """How long the bytes of a page's walk are under way, None = the page is local."""


class Outcome(NamedTuple):
    """What came about, in its order."""

    rows: list[tuple[Any, ...]]
    parts: dict[int, dict[str, int]]
    """Of each access: cycles from its issue to its answer (spec 6, R18)."""


def drawn(seed: int) -> Load:
    """Draw a load; some wait for everything there is."""
    pick = Random(seed).choice
    cores = pick([1, 2, 4, 5])
    machine = {
        "private_entries": pick([2, 4, 8]), "private_ways": pick([0, 2]), "shared_entries": pick([0, 4, 6, 16]),
        "registers": pick([1, 2, 4]), "walkers": pick([1, 2]), "walk_queue": pick([0, 1, 2]),
        "private_cycles": pick([0, 1, 3]), "directory_cycles": pick([0, 1, 2]), "shared_cycles": pick([0, 5, 12]),
        "hop_cycles": pick([0, 1, 5]), "walk_cycles": pick([1, 30, 400]), "network": pick(["crossbar", "ring"]),
        "remote_tries": pick([1, 2]),
    }  # fmt: skip
    several = cores > 1
    aware = ["sharing_aware"] if several and machine["private_entries"] > 2 and not machine["private_ways"] else []
    policies = {
        "locate": pick(["no_directory", "directory"]) if several else "no_directory",
        "fill": pick(["demand_always", "push_pair"]) if several else "demand_always",
        "eviction": pick(["lru", "mru", *aware]),
        "shared_eviction": pick(["lru", "mru"]),
    }
    return _loaded(Random(seed + 10**6), Load(cores, machine, policies, [], [], [], pick([None, 0, 40]), {}))


def _loaded(draw: Random, load: Load) -> Load:
    """Return a load with what is asked of it."""
    pages, span, count = draw.choice([3, 8, 20]), draw.choice([300, 1500, 6000]), draw.choice([40, 120])

    def some(most: int, *ranges: int) -> list[Any]:
        return sorted(tuple(map(draw.randrange, ranges)) for _ in range(most))

    return load._replace(
        accesses=some(count, span, load.cores, pages),
        unmappings=some(draw.choice([0, 3, 15]), span + 800, pages),
        stalls=[(*row, draw.choice([1, 7, 50, 300])) for row in some(draw.choice([0, 3, 15]), span + 800, load.cores)],
        transfer={page: draw.choice([None, None, 0, 5, 150]) for page in range(pages)},
    )


def page_of(number: int) -> Page:
    """Return a page of one of three applications."""
    return Page(number % 3, number * SIZE, SIZE, 0)


def setup_of(load: Load) -> Setup:
    """Return what the engine runs: the twin's machine in its words."""
    given, names = dict(load.machine), load.policies
    directory = Directory(
        scope=Oracle(), look_up_cycles=given.pop("directory_cycles"), max_remote_tries=given.pop("remote_tries")
    )
    aware = SharingAwareEviction(base=MRU(), candidates=4, share_threshold=2, fallback="plain_base")
    evictions = {"lru": LRU(), "mru": MRU(), "sharing_aware": aware}
    policies = {
        "locate": directory if names["locate"] == "directory" else NoDirectory(),
        "peer": FirstBit(),
        "fill": PushPair(fill_threshold=2) if names["fill"] == "push_pair" else DemandAlways(),
        "remote_fill": Always(),
        "eviction": evictions[names["eviction"]],
        "shared_eviction": evictions[names["shared_eviction"]],
    }
    machine = TranslationMachine(
        cores=load.cores, private_mshrs=given.pop("registers"), walk_levels=1, level_cycles=given.pop("walk_cycles"),
        shared_ways=0, link_cycles=0, **given,
    )  # fmt: skip
    return Setup("translation", machine, None, policies, TranslationOptions(news="free"))


class TwinRun:
    """The node's twin of translation under a load."""

    def __init__(self, load: Load) -> None:
        self.load, self.calendar, self.spans = load, Calendar(), dict[int, Access]()
        self.log = Log(self.calendar)
        machine, policies = TwinMachine(**load.machine), Policies(**load.policies)
        self.part = Twin(self.calendar, 0, load.cores, machine, policies, self.log, self._reach)
        for ticket, (cycle, core, page) in enumerate(load.accesses):
            self._ask(ticket, cycle, core, page)
        for order, (cycle, page) in enumerate(load.unmappings):
            self.calendar.at(cycle, Rank.FREE, (order,), lambda page=page: self._unmap(page))  # type: ignore[misc]
        for order, (cycle, core, length) in enumerate(load.stalls):
            self._stall(cycle, (0, order), core, length)

    def outcome(self) -> Outcome:
        """Let everything happen."""
        self.calendar.run()
        return Outcome([_row_of(row) for row in self.log.rows if row.kind != "request"], self._parts())

    def _ask(self, ticket: int, cycle: int, core: int, page: int) -> None:
        key = Key(touch=ticket)
        access = Access(page_of(page), core, key, lambda: self.log("asker", 0, ISSUED, key), lambda _: None)
        self.spans[ticket] = access
        self.calendar.at(cycle, Rank.TRANSLATION_REQUEST, key, lambda: self.part.request(access))

    def _reach(self, walk: Walk, done: Callable[[], None]) -> None:
        under_way = self.load.transfer[walk.page.address // SIZE]
        if under_way is None:
            done()
        else:
            self.calendar.at(self.calendar.now + under_way, Rank.LINK_END, (), done)

    def _unmap(self, page: int) -> None:
        cores = self.part.holders(page_of(page).tag)
        self.log("asker", 0, "unmap", cores=tuple(cores))
        self.part.unmap([page_of(page)])
        for core in cores if self.load.shootdown is not None else []:
            self._stall(self.calendar.now, (1, core), core, self.load.shootdown or 0)

    def _stall(self, cycle: int, key: tuple[int, ...], core: int, length: int) -> None:
        self.calendar.at(cycle, Rank.SHOOTDOWN, key, lambda: self.part.stall(core, length))

    def _parts(self) -> dict[int, dict[str, int]]:
        sums = {ticket: dict.fromkeys(("walkers", "link", "translation"), 0) for ticket in self.spans}
        for ticket, access in self.spans.items():
            for begin, end, kind in access.spans():
                sums[ticket][kind] += end - begin
        return sums


def _row_of(row: Any) -> tuple[Any, ...]:
    """Return a row of the twin's log without what the engine does not tell."""
    return (row.cycle, row.kind, row.key.touch, *(value for name, value in row.values if name != "latency"))


@dataclass
class PartRun:
    """The engine's part under a load, its routines called by address, as a compiled calendar calls them."""

    load: Load
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    parts: dict[int, dict[str, int]] = field(default_factory=dict)
    issued: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.part = new_translation(setup_of(self.load), 1, walks_wait=True, rows=True)
        self._entries, self._events, self._order = dict[str, Any](), list[Any](), itertools.count()
        for ticket, (cycle, core, page) in enumerate(self.load.accesses):
            tag = page_of(page).tag
            self._at(cycle, RANK.touches, (), "ask_access", core, tag, ticket, cycle)
        for cycle, page in self.load.unmappings:
            self._at(cycle, RANK.frees, (), "ask_unmap", page_of(page).tag, BY_TLB, cycle)
        for cycle, core, length in self.load.stalls:
            self._at(cycle, RANK.shoot_downs, (0,), "stall", core, cycle + length, cycle)

    def outcome(self) -> Outcome:
        """Take the least event each time, that of the load or that of the part."""
        while self._events or self.call("next_moment") < NEVER:
            soonest = self.call("next_moment")
            if self._events and self._events[0][0] < soonest:
                self._ask(*heapq.heappop(self._events)[3:])
            else:
                self._take_answers(self.call("take_next"), cycle_of(soonest))
        return Outcome(self.rows, self.parts)

    def call(self, name: str, *numbers: int) -> int:
        """Call a routine by its address, with more room where it asks for it."""
        if name not in self._entries:
            self._entries[name] = entry_of(getattr(routines, name), self.part.kept)
        while (result := call(*self._entries[name], numbers)) == NEEDS_ROOM:
            self.part.make_room()
        return int(result)

    def _at(self, cycle: int, rank: int, key: tuple[int, ...], name: str, *numbers: int) -> None:
        heapq.heappush(self._events, (moment(cycle, rank), key, next(self._order), name, numbers))

    def _ask(self, name: str, numbers: tuple[int, ...]) -> None:
        result = self.call(name, *numbers)
        assert result >= 0
        if name == "ask_unmap":
            self._shoot_down(result, numbers[-1])

    def _shoot_down(self, count: int, cycle: int) -> None:
        cores = list(iter(lambda: self.call("take_holder"), -1))
        assert len(cores) == count
        self.rows.append((cycle, "unmap", -1, tuple(cores)))
        for core in cores if self.load.shootdown is not None else []:
            self._at(cycle, RANK.shoot_downs, (1, core), "stall", core, cycle + (self.load.shootdown or 0), cycle)

    def _take_answers(self, count: int, now: int) -> None:
        for place in range(count):
            told = Reply(*(self.call("answer_of", place, at) for at in range(len(REPLY))))
            assert told.cycle == now
            self._take(told)
        self.call("forget_answers")

    def _take(self, told: Reply) -> None:
        if told.kind == SAYS.issued:
            self.issued[told.ticket] = told.cycle
        if told.kind == SAYS.walk_read:
            self._walk_is_read(told)
        elif told.kind == SAYS.named:
            self._name(told.what)
        else:
            self.rows.append(_told(told))
        if told.kind == SAYS.answered:
            self.parts[told.ticket] = parts_of(told, self.issued[told.ticket])

    def _name(self, peer: int) -> None:
        *row, peers = self.rows[-1]
        if len(peers) < self.load.machine["remote_tries"]:
            self.rows[-1] = (*row, (*peers, peer))

    def _walk_is_read(self, told: Reply) -> None:
        under_way = self.load.transfer[(told.tag & (1 << 44) - 1)]
        if under_way is None:
            assert self.call("end_walk", told.what, told.cycle) == told.what
        else:
            cycle = told.cycle + under_way
            self._at(cycle, RANK.transfers, (), "end_walk", told.what, cycle)


def parts_of(told: Reply, issued: int) -> dict[str, int]:
    """Return where the cycles of an access went (N54)."""

    def within(begin: int, end: int) -> int:
        return max(0, min(end, told.cycle) - max(begin, issued))

    walkers, link = within(told.queued, told.begun), within(told.read, told.ended)
    return {"walkers": walkers, "link": link, "translation": told.cycle - issued - walkers - link}


def _told(told: Reply) -> tuple[Any, ...]:
    """Return what the part tells as a row of the twin's log."""
    kind, page, what = SAYS._fields[told.kind], (told.core, told.tag), told.what
    if kind == "answered":
        return (told.cycle, "answer", told.ticket, *page, SERVED_BY[what])
    if kind == "filled":
        return (told.cycle, "fill", -1, *page, what)
    values = {
        "issued": (),
        "directory": (told.core, ()),
        "peer": (told.core, what // 2, what % 2 == 1),
        "walk": (told.tag,),
        "walked": (told.tag,),
    }.get(kind, page)
    return (told.cycle, kind, told.ticket, *values)
