"""A pool's run as plain data, given to the engine and to its slow twin."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.oracles import pool as slow
from tests.oracles import pool_flows, pool_memory, pool_pointers
from tests.oracles import pool_waiting as slow_waiting
from workbench.engines.kit.engine import Setup
from workbench.engines.pool import Pool
from workbench.machine import Board, Card, Link
from workbench.policies.placement import ByteCounter
from workbench.policies.pool import BestFit, KeepAll, MaxBandwidth, SplitAndCoalesce, Stay
from workbench.records.pool import OUTCOMES, PoolRecord
from workbench.workloads.pool_requests import ALLOC, DIE, FREE, PoolRequests
from workbench.workloads.workload import Workload

Row = tuple[int, int, int, int, int, int]
"""time, app, card, action, handle, bytes"""


class Fixed(Workload):
    """Requests given row by row."""

    def __init__(self, rows: list[Row]) -> None:
        object.__setattr__(self, "rows", rows)

    def pool_requests(self, machine: Any, streams: Any) -> PoolRequests:
        return PoolRequests(*np.array(self.rows, np.int64).reshape(-1, 6).T)


@dataclass
class Case:
    """A board, its requests, policies by slot and options; what is not said is as the engine has it."""

    rows: list[Row]
    board: Board
    policies: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    seed: int = 1

    def every_policy(self) -> dict[str, Any]:
        usual = {"cache": SplitAndCoalesce(), "cache_fit": BestFit(), "target": MaxBandwidth()}
        rest = {"idle_release": KeepAll(), "driver": ByteCounter(), "residency": Stay()}
        return {**usual, **rest, **self.policies}

    def setup(self) -> Setup:
        return Setup("pool", self.board, Fixed(self.rows), self.every_policy(), Pool.options(**self.options))

    def simulate(self) -> PoolRecord:
        return Pool().simulate(self.setup(), self.seed)


def line(*sizes: int, gbps: tuple[float, ...] = (), cpus: tuple[int, ...] = ()) -> Board:
    """Cards of these sizes in a row, the links between them so fast (16 GB/s where it is not said)."""
    cards = [Card(id=f"c{k}", memory_bytes=size, kind="cpu" if k in cpus else "gpu") for k, size in enumerate(sizes)]
    speeds = [*gbps, *[16.0] * len(sizes)]
    links = [Link(between=f"c{k} c{k + 1}", gbps=speeds[k]) for k in range(len(sizes) - 1)]
    return Board(cards=cards, links=links)


def assert_same(case: Case) -> PoolRecord:
    """The engine's record is the slow twin's, field by field."""
    record, setup = case.simulate(), case.setup()
    kind = slow_waiting.WaitingService if case.options.get("when_full") == "wait" else slow.Service
    twin = kind(case.board, setup.policies, setup.options, case.seed)
    rows = twin.run(case.rows)
    result = {
        "outcome": [OUTCOMES[it] for it in record.outcome],
        "card": record.card.tolist(),
        "identifier": record.identifier.tolist(),
        "taken": record.taken.tolist(),
        "done": record.done.tolist(),
        **{name: getattr(record, name).tolist() for name in ("app", "handle", "time", "allocation", "waited")},
    }
    for name, column in result.items():
        assert column == [row[name] for row in rows], f"{name}: {column} instead of {[row[name] for row in rows]}"
    assert record.answered.tolist() == pool_pointers.answered(rows, setup.options)
    assert [tuple(call) for call in record.calls.tolist()] == twin.calls
    assert record.mappings.tolist() == [twin.mappings.get(row, 0) for row in range(len(rows))]
    assert [tuple(move) for move in record.moves.tolist()] == twin.places.moves
    assert record.fallbacks == sum(term.fallbacks for term, _ in twin.terms)
    return record


def assert_access_times(case: Case, record: PoolRecord) -> None:
    """The times under way are those of flows that are followed one by one over the slow twin's paths."""
    setup = case.setup()
    twin = slow.Service(case.board, setup.policies, setup.options, case.seed)
    ids = [card.id for card in case.board.cards]
    flows = [*_reads(record, setup.options.touches), *_moves(record)]
    routes = [[ids[k] for k in twin.routes[one][other]] for _, _, one, other, _ in flows]
    starts, amounts = [float(it[0]) for it in flows], [float(it[1]) for it in flows]
    capacity, uses = pool_flows.limits(case.board), [pool_flows.uses(case.board, route) for route in routes]
    ends = pool_flows.finishing_times(starts, amounts, uses, capacity)
    alone = [amount / min(capacity[r] / n for r, n in use.items()) for amount, use in zip(amounts, uses, strict=True)]
    together = [end - start for start, end in zip(starts, ends, strict=True)]
    for times, of_regions, of_moves in (
        (together, record.access_ns, record.move_ns),
        (alone, record.access_alone_ns, record.move_alone_ns),
    ):
        access, moves = np.zeros(record.time.size), []
        for (*_, region), took in zip(flows, times, strict=True):
            if region is None:
                moves.append(took)
            else:
                access[region] += took
        np.testing.assert_allclose(of_regions, access, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(of_moves, moves, rtol=1e-6, atol=1e-6)


def _reads(record: PoolRecord, touches: float) -> Iterator[tuple[float, float, int, int, int]]:
    """Start, bytes, from where, to where, of which region: of every stay on another card that lasts."""
    stays = [
        [*it[:-2], *(max(when, int(record.answered[it[0]])) for when in it[-2:])] for it in pool_memory.stays(record)
    ]
    for stay in stays:
        region, card, *_, begin, end = stay
        mine = [it for it in stays if it[0] == region]
        life = mine[-1][-1] - mine[0][-2]
        share = (end - begin) / life if life else float(stay is mine[0])
        if card != record.borrower[region] and share:
            yield begin, record.asked[region] * share * touches, card, int(record.borrower[region]), region


def _moves(record: PoolRecord) -> Iterator[tuple[float, float, int, int, None]]:
    for _, region, left, to, _, _, _, begin in record.moves.tolist():
        yield begin, float(record.asked[region]), left, to, None


def crowd(seed: int, cards: int, count: int, largest: int, live: int = 12) -> list[Row]:
    """Random requests of three applications: some frees are repeated, some name nothing; sizes come again."""
    chance = random.Random(seed)
    sizes = [max(int(largest * chance.random() ** 3), 1) for _ in range(5)]
    home = [chance.randrange(cards) for _ in range(3)]
    rows: list[Row] = []
    held: list[tuple[int, int]] = []
    time = 0
    for handle in range(count):
        time += chance.choice([0, 1, 50])
        app = chance.choice([0, 0, 1, 2])
        if chance.random() < 0.02:
            rows.append((time, app, home[app], DIE, 0, 0))
        if held and (len(held) > live or chance.random() < 0.4):
            app, named = held.pop(chance.randrange(len(held))) if chance.random() < 0.95 else (0, count + handle)
            rows.append((time, app, home[app], FREE, named, 0))
            if chance.random() < 0.05:
                rows.append((time, app, home[app], FREE, named, 0))
        else:
            size = chance.choice(sizes) if chance.random() < 0.5 else chance.randint(1, largest)
            rows.append((time, app, home[app], ALLOC, handle, size))
            held.append((app, handle))
    return rows
