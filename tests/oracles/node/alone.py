"""Each part by itself, asked what the node asked it, at the cycles at which the node did (spec 6, R17).

Every function takes a run of a node, feeds the requests in its log to a fresh instance of one part, and returns the
rows that this instance logs. With neutral couplings they are the node's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Kernel
from tests.oracles.node.dispatcher import Dispatcher
from tests.oracles.node.heap import Heap
from tests.oracles.node.log import Log, Row
from tests.oracles.node.node import Simulation
from tests.oracles.node.pages import LARGEST_FIRST, Page
from tests.oracles.node.pool import Pool, Region
from tests.oracles.node.touch import Access
from tests.oracles.node.translation import Translation


def page_of(tag: int) -> Page:
    """Return the page that has a tag."""
    size = sorted(LARGEST_FIRST)[tag >> 44 & 15]
    return Page(tag >> 48, (tag & (1 << 44) - 1) * size, size, 0)


class _Replay:
    """A fresh calendar and log, on which requests of a run come again: each behind as many rows as in the node.

    Cycle and rank alone do not say when: in the node a request may be caused, at the same cycle, by an answer of a
    later rank, as a free is by the end of a kernel.
    """

    def __init__(self, run: Simulation, part: str, card: int | None = None, application: int | None = None) -> None:
        self.calendar = Calendar()
        self.log = Log(self.calendar)
        self._run, self._here = run, lambda row: (
            row.part == part
            and card in (None, row.card)
            and application in (None, row.key.application)
            and row.kind not in ("shootdown", "held")
        )  # fmt: skip

    def rows(self, ask: Callable[[Row], Callable[[], None] | None]) -> list[Row]:
        """Ask what the log asks, row by row, and return what was logged."""
        before = 0
        for row in self._run.log.rows:
            action = ask(row)
            if action:
                self._advance(row, before)
                action()
            before += self._here(row)
        self.calendar.run()
        return self.log.rows

    def _advance(self, row: Row, before: int) -> None:
        """Take the events before (cycle, rank) of a row, and those of the same cycle that logged before it."""
        calendar = self.calendar
        while not calendar.empty and (calendar.next_event < (row.cycle, row.rank) or len(self.log.rows) < before):
            calendar.step()
        calendar.now, calendar.rank = row.cycle, row.rank


def translation(run: Simulation, card: int) -> list[Row]:
    """Return the rows of a card's translation alone."""
    replay, machine = _Replay(run, "translation", card), run.node.machine.cards[card]
    cores = machine.dispatch.modules
    alone = Translation(replay.calendar, card, cores, machine.translation, run.node.policies, replay.log)

    def ask(row: Row) -> Callable[[], None] | None:
        if row.part == "node" and row.kind == "unmap":
            return lambda: alone.unmap([page_of(tag) for tag in row.value("pages")])
        if row[2:5] != ("translation", card, "request"):
            return None
        access = Access(page_of(row.value("page")), row.value("core"), row.key, lambda: None, lambda _: None)
        return lambda: alone.request(access)

    return replay.rows(ask)


def heap(run: Simulation, application: int, card: int) -> list[Row]:
    """Return the rows of an application's heap on a card alone."""
    replay = _Replay(run, "malloc", card, application)
    alone = Heap(replay.calendar, card, run.node.machine.cards[card].heap, run.node.policies, replay.log)

    def ask(row: Row) -> Callable[[], None] | None:
        if row[2:4] != ("malloc", card) or row.key.application != application:
            return None
        if row.kind == "free":
            return lambda: alone.free(row.key, [alone.block(**dict(row.values))])
        if row.kind == "call":
            return lambda: alone.call(row.key, list(row.value("lanes")), lambda _: None) and None
        return None

    return replay.rows(ask)


def pool(run: Simulation) -> list[Row]:
    """Return the rows of the pool alone; the copies of moves take what their path takes alone."""
    replay = _Replay(run, "pool")
    alone = Pool(
        replay.calendar, run.node.machine, run.pool.granule, run.node.policies, replay.log,
        run.links.bandwidth, None, lambda region, block: None,
    )  # fmt: skip
    granted: dict[Key, Region | None] = {}

    def ask(row: Row) -> Callable[[], None] | None:
        if row.part == "pool" and row.kind == "request":
            return lambda: alone.allocate(row.key, row.card, row.value("bytes"), _keep(granted, row.key))
        if row.part == "pool" and row.kind == "release":
            return lambda: alone.release(_region(granted, row), row.key, lambda: None)
        return None

    return replay.rows(ask)


def _keep(granted: dict[Key, Region | None], key: Key) -> Callable[[Region | None], None]:
    return lambda region: granted.update({key: region})


def _region(granted: dict[Key, Region | None], row: Row) -> Region:
    identifier = (row.card, row.value("identifier"))
    return next(
        region for region in granted.values() if region and not region.freed and region.identifier == identifier
    )


@dataclass(eq=False)
class _Task:
    """A group whose duration is known: what a dispatcher's own workload says of it."""

    key: Key
    kernel: Kernel
    compute: list[int]
    urgency: int
    lowest: int
    begin: Callable[[_Task, int], None]
    numbers: list[int] = field(default_factory=list)

    @property
    def waves(self) -> int:
        return len(self.numbers)

    def started(self, module: int) -> None:
        self.begin(self, module)

    def split(self) -> list[Any]:
        keys = [(wave, self.key._replace(wave=wave)) for wave in self.numbers]
        return [_Task(key, self.kernel, self.compute, self.lowest, self.lowest, self.begin, [w]) for w, key in keys]


def dispatcher(run: Simulation, card: int) -> list[Row]:
    """Return the rows of a card's dispatcher alone, for groups that run as long as they compute."""
    replay, machine = _Replay(run, "dispatch", card), run.node.machine.cards[card].dispatch
    alone = Dispatcher(replay.calendar, card, machine, run.node.policies, replay.log)
    groups = {group.key: group for program in run.programs for group in program.groups}

    def begin(task: _Task, module: int) -> None:
        at = replay.calendar.now
        for phase, cycles in zip(task.kernel.phases, task.compute):
            for kind, amount in phase.instructions:
                alone.histories[module].enter(at, at + cycles, kind, _share(task, amount))
            at += cycles
        replay.calendar.at(at, Rank.RELEASE, task.key, lambda: alone.release(task.key))

    def ask(row: Row) -> Callable[[], None] | None:
        if row[2:5] != ("dispatch", card, "enter"):
            return None
        group, priority = groups[row.key], row.value("channel")
        numbers = list(range(group.kernel.waves))
        task = _Task(row.key, group.kernel, group.compute, priority, machine.priorities, begin, numbers)
        return lambda: alone.enter([task], priority)

    return replay.rows(ask)


def _share(task: _Task, amount: int) -> int:
    if task.key.wave < 0:
        return amount
    return amount // task.kernel.waves + (task.key.wave < amount % task.kernel.waves)
