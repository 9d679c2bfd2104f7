"""Requests to a pool of small cards by chance, played to the node's part and to the twin's pool alone."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from tests.engines.stepping import Stepped
from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Card, Link, Machine, Policies, Pool
from tests.oracles.node.links import Links as TwinLinks
from tests.oracles.node.log import Log, Row
from tests.oracles.node.pages import granule_of
from tests.oracles.node.pool import Pool as TwinPool
from tests.oracles.node.pool import Region
from workbench.engines.kit.engine import Setup
from workbench.engines.kit.order import RANK, cycle_of, moment, rank_of
from workbench.engines.node import pool_api, pool_jobs
from workbench.engines.node.link_state import NOBODY, new_links, ways_of
from workbench.engines.node.links import begin, next_moment, take_next
from workbench.engines.node.pool_jobs import COPY, GRANTED, OF, ROW
from workbench.engines.node.pool_part import PoolPart
from workbench.engines.pool.options import PoolOptions
from workbench.machine import Board
from workbench.machine import Card as BoardCard
from workbench.machine import Link as BoardLink
from workbench.policies.placement import ByteCounter
from workbench.policies.policy import policies
from workbench.structures.timetable import NEVER

MIB = 1 << 20
RANKS = {Rank.FREE: RANK.frees, Rank.POOL_ANSWER: RANK.pool_answers, Rank.POOL_REQUEST: RANK.pool_requests}
KINDS = ("request", "grant", "refuse", "answer", "release", "released", "return_to_driver", "move", "moved")
IDS = ("gpu0", "cpu0", "gpu1")
SOURCES = ("cached", "physical", "stitched")


class Ask(NamedTuple):
    """A region that is asked for, and given back so long after its grant; below 0 = never."""

    cycle: int
    card: int
    size: int
    held: int


class Script(NamedTuple):
    """A board, levers, and what is asked."""

    machine: Machine
    pages: str
    policies: Policies
    asks: list[Ask]


def script(seed: int, cards: int = 0, **fixed: Any) -> Script:
    """Return requests that fill some cards, so many if that is said, several times over."""
    random = Random(seed)
    cards = cards or random.choice([1, 2, 3])
    links = tuple(Link((a, b), random.choice([4.0, 25.5])) for b in range(cards) for a in range(b))
    times = {name: random.choice([0, 33, 500]) for name in ("request_ns", "release_ns", "driver_ns")}
    limit, full = random.choice([None, 0, 4 * MIB]), random.choice(["refuse", "wait"])
    service = Pool(idle_limit_bytes=limit, when_full=full, **times)
    memory = [Card(memory_bytes=random.choice([12, 20, 33]) * MIB) for _ in range(cards)]
    machine = Machine(tuple(memory), links, service, random.choice([1000, 1410]))
    chosen = {"target": ["max_bandwidth", "most_free", "local_only"], "frames": ["lowest", "longest"]}
    chosen |= {"cache": ["best_fit", "no_cache"], "residency": ["stay", "migrate_back"]}
    names = {question: random.choice(values) for question, values in chosen.items()} | fixed
    asks, cycle = list[Ask](), 0
    for _ in range(random.choice([20, 60])):
        cycle += random.choice([0, 0, 5, 300, 1000])
        size = random.choice([5000, 64 << 10, 300 << 10, 3 * MIB, 6 * MIB, random.randrange(1, 4 * MIB)])
        asks.append(Ask(cycle, random.randrange(cards), size, random.choice([0, 40, 900, 5000, 9000, -1])))
    return Script(machine, random.choice(["4k", "64k", "2m", "largest", "neutral"]), Policies(**names), asks)


def joined(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return runs with those joined that follow each other without a gap."""
    result = runs[:1]
    for start, length in runs[1:]:
        before, many = result[-1]
        result[-1:] = [(before, many + length)] if before + many == start else [result[-1], (start, length)]
    return result


class Played(NamedTuple):
    """What was said: rows of the log, and the runs of frames of each region as it was granted."""

    rows: list[tuple[Any, ...]]
    runs: dict[int, list[tuple[int, int]]]


def played_by_twin(one: Script, by_links: bool = False) -> Played:
    """Play a script to the twin's pool."""
    calendar = Calendar()
    log, runs, granule = Log(calendar), dict[int, list[tuple[int, int]]](), granule_of(one.pages)
    links = TwinLinks(calendar, one.machine, log)

    def copy(region: Region, source: int, card: int, done: Callable[[], None]) -> None:
        links.send(source, card, region.size, region.key, done)

    pool = TwinPool(
        calendar, one.machine, granule, one.policies, log, links.bandwidth,
        copy if by_links else None, lambda region, block: None,
    )  # fmt: skip

    def answered(ticket: int, region: Region | None) -> None:
        if region is None:
            return
        card = pool.cards[region.card]
        runs[ticket] = [(start * granule, length * granule) for start, length in card.runs_of(region.block)]
        if one.asks[ticket].held >= 0:
            at = calendar.now + one.asks[ticket].held
            key = Key(kernel=ticket)
            calendar.at(at, Rank.FREE, key, lambda: pool.release(region, key, lambda: None))

    for ticket, (cycle, card, size, _) in enumerate(one.asks):
        ask = _asking(pool, Key(kernel=ticket), card, size, lambda region, ticket=ticket: answered(ticket, region))
        calendar.at(cycle, Rank.POOL_REQUEST, Key(kernel=ticket), ask)
    calendar.run()
    return Played([_of_twin(row) for row in log.of("pool")], {ticket: joined(it) for ticket, it in runs.items()})


def _asking(pool: TwinPool, key: Key, card: int, size: int, answer: Callable[[Any], None]) -> Callable[[], None]:
    return lambda: pool.allocate(key, card, size, answer)


def _of_twin(row: Row) -> tuple[Any, ...]:
    return row.cycle, RANKS[row.rank], row.card, row.kind, row.key.kernel, row.values


def board_of(one: Script) -> Board:
    """Return the board of a script."""
    cards = [BoardCard(id=IDS[k], memory_bytes=card.memory_bytes) for k, card in enumerate(one.machine.cards)]
    links = [BoardLink(between=f"{IDS[it.cards[0]]} {IDS[it.cards[1]]}", gbps=it.gbps) for it in one.machine.links]
    return Board(cards=cards, links=links)


def setup_of(one: Script, **others: Any) -> Setup:
    """Return the setup of the engine `pool` for a script, with other policies in some slots."""
    service, limit = one.machine.pool, one.machine.pool.idle_limit_bytes
    idle = {} if limit is None else {"limit_bytes_a_card": limit}
    names = {
        "cache": "no_cache" if one.policies.cache == "no_cache" else "split_and_coalesce", "cache_fit": "best_fit",
        "target": one.policies.target, "residency": one.policies.residency,
    }  # fmt: skip
    chosen = {question: policies(question)[name]() for question, name in names.items()} | {"driver": ByteCounter()}
    chosen["idle_release"] = policies("idle_release")["keep_all" if limit is None else "least_recently_used"](**idle)
    options = PoolOptions(
        path_metric="bottleneck",
        max_hops=service.max_hops,
        service_ns=service.request_ns,
        driver_alloc_ns=service.driver_ns,
        when_full=service.when_full,
    )
    return Setup("pool", board_of(one), None, chosen | others, options)


def part_of(one: Script, setup: Setup | None = None, **levers: Any) -> PoolPart:
    """Return the node's pool for a script."""
    service = one.machine.pool
    given = {"tickets": len(one.asks), "clock_mhz": one.machine.clock_mhz, "release_ns": service.release_ns}
    frames = policies("frames")[one.policies.frames]()
    given |= {"pages": one.pages, "policy": frames, "logs": True}
    return PoolPart(setup or setup_of(one), 1, **{**given, **levers})


class Play:
    """A pool that is asked what a script says."""

    def __init__(self, one: Script, part: PoolPart) -> None:
        self.script, self.part, self.said = one, part, Played([], {})
        self.pool = Stepped(part, {}, pool_api)
        self.links = new_links(ways_of(board_of(one), board_of(one).paths(), one.machine.clock_mhz))
        self.events = [(ask.cycle, RANK.pool_requests, ticket) for ticket, ask in enumerate(one.asks)]
        heapq.heapify(self.events)

    def run(self) -> Played:
        """Take one event after another until nothing is pending."""
        while self.events or min(self.pool.called("next_moment"), next_moment(self.links)) < NEVER:
            self.step()
        return self.said

    def step(self) -> None:
        comes, arrives = self.pool.called("next_moment"), int(next_moment(self.links))
        if arrives < min(comes, moment(*self.events[0][:2]) if self.events else NEVER):
            cycle, rank = cycle_of(arrives), rank_of(arrives)
            if take_next(self.links) != NOBODY:
                assert self.pool.call("copied", cycle) == 0
        elif self.events and moment(*self.events[0][:2]) < comes:
            cycle, rank, ticket = heapq.heappop(self.events)
            self._ask(cycle, rank, ticket)
        else:
            cycle, rank = int(cycle_of(comes)), int(rank_of(comes))
            assert self.pool.call("take_next") >= 0
        self._drain(cycle, rank)

    def _ask(self, cycle: int, rank: int, ticket: int) -> None:
        ask = self.script.asks[ticket]
        if rank == RANK.frees:
            assert self.pool.call("ask_release", ticket, cycle) == 0
        else:
            assert self.pool.call("ask_allocate", ticket, ask.card, ask.size, cycle) == 0

    def _drain(self, cycle: int, rank: int) -> None:
        """Take what was said in an event."""
        for at in range(self.pool.called("row_of", -1, 0)):
            self.said.rows.append((cycle, rank, *_words(self.pool, at)))
        self.pool.called("forget_rows")
        for at in range(self.part.lent.counters[pool_jobs.COUNT.answers]):
            fields = pool_jobs.Answer(*(self.pool.called("answer_of", at, field) for field in OF))
            self.told(fields, cycle, at)
        self.pool.called("forget_answers")

    def told(self, answer: pool_jobs.Answer, cycle: int, at: int) -> None:
        """Note the frames of a region, and give it back in time."""
        if answer.kind == GRANTED:
            runs = [tuple(self.pool.called("run_of", at, k, it) for it in (0, 1)) for k in range(answer.runs)]
            self.said.runs[answer.ticket] = runs
            if (held := self.script.asks[answer.ticket].held) >= 0:
                heapq.heappush(self.events, (cycle + held, RANK.frees, answer.ticket))
        elif answer.kind == COPY:
            way = answer.other * len(self.script.machine.cards) + answer.card
            begin(self.links, way, answer.bytes, cycle, 0, answer.ticket, answer.ticket)


def _words(part: Stepped, at: int) -> tuple[Any, ...]:
    """Return a row of the log as the twin writes it."""
    row = pool_jobs.LogRow(*(part.called("row_of", at, field) for field in ROW))
    kind = KINDS[row.kind]
    values: dict[str, Any] = {
        "request": {"bytes": row.bytes},
        "grant": {"borrower": row.borrower, "identifier": row.address, "bytes": row.bytes},
        "refuse": {"bytes": row.bytes},
        "answer": {"granted": bool(row.source)},
        "release": {"identifier": row.address, "bytes": row.bytes},
        "released": {"identifier": row.address},
        "return_to_driver": {"identifier": row.address, "bytes": row.bytes},
        "move": {"source": row.source, "bytes": row.bytes},
        "moved": {"source": row.source, "bytes": row.bytes},
    }[kind]
    if kind == "grant":
        values["source"] = SOURCES[row.source]
    return row.card, kind, row.ticket, tuple(values.items())
