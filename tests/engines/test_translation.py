"""Where the engine `translation` keeps things changes nothing: hash tables or a table by page, one block or many."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines.translation_cases import GivenAccesses, simulate
from tests.engines.translation_load_cases import drawn
from workbench.engines.kit.engine import Setup
from workbench.engines.translation import Translation, TranslationOptions, growth, trace
from workbench.machine.translation import TranslationMachine
from workbench.policies.policy import policies, read_policy

MACHINE = {"cores": 4, "private_entries": 8, "shared_entries": 32}


def drawn_rows(every: int) -> list[tuple[int, int, int, bool]]:
    draw = np.random.default_rng(4)
    return [
        (t // every, int(draw.integers(4)), int(draw.integers(60) ** 2), bool(draw.random() < 0.01)) for t in range(600)
    ]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("cells", [0, 1 << 21])
def test_hash_tables_and_the_table_by_page_say_the_same(cells, monkeypatch):
    usual = simulate(drawn_rows(1), MACHINE)
    monkeypatch.setattr(growth, "DENSE_CELLS", cells)
    assert same(usual, simulate(drawn_rows(1), MACHINE, cuts=(50, 300)))


@pytest.mark.parametrize("issue", ["open", {"warps": {"count": 2}}])
@pytest.mark.parametrize("every", [1, 7, 600])
def test_where_a_trace_is_cut_says_nothing(every, issue, monkeypatch):
    whole = simulate(drawn_rows(every), MACHINE, cores_issue=issue)
    assert same(whole, simulate(drawn_rows(every), MACHINE, cuts=range(10, 600, 37), cores_issue=issue))
    monkeypatch.setattr(trace, "PIECE", 5)
    assert same(whole, simulate(drawn_rows(every), MACHINE, cores_issue=issue))


@pytest.mark.slow
def test_the_cases_under_load_know_every_policy():
    known = {question: {name for name, cls in policies(question).items() if cls.built_in} for question in SLOTS}
    met = {question: set[str]() for question in SLOTS}
    for seed in range(400):
        chosen = drawn(seed).policies
        for question, slots in SLOTS.items():
            for slot in slots:
                met[question] |= {chosen[slot].name, getattr(chosen[slot], "base", chosen[slot]).name}
    assert met == known


SLOTS = {
    "eviction": ["eviction", "shared_eviction"],
    "fill": ["fill"],
    "peer": ["peer"],
    "remote_fill": ["remote_fill"],
    "locate": ["locate"],
}


def pieces(rows, monkeypatch, piece):
    """The rows as cores issue them, piece by piece: lists of (cycle, core, number in the trace)."""
    monkeypatch.setattr(trace, "PIECE", piece)
    engine, workload = Translation(), GivenAccesses([(cycle, core, 7, False) for cycle, core in rows])
    slots = {slot: read_policy(engine.question_of(slot), name, slot) for slot, name in engine.slots.items()}
    setup = Setup("translation", TranslationMachine(**MACHINE), workload, slots, TranslationOptions())
    result = list(trace.Trace(engine.given(setup, 1)).pieces_in_order())
    for rows in result:
        numbers = rows.order if rows.order.size else rows.first + np.arange(rows.cycle.size)
        yield list(zip(rows.cycle.tolist(), rows.core.tolist(), numbers.tolist(), strict=True))


def test_cores_of_one_cycle_issue_in_order_however_many_pieces_it_has(monkeypatch):
    result = pieces([(4, core) for core in (1, 2, 2, 3, 0)], monkeypatch, piece=2)
    assert [row for one in result for row in one] == [(4, 0, 4), (4, 1, 0), (4, 2, 1), (4, 2, 2), (4, 3, 3)]


def test_a_trace_whose_cores_never_stand_in_order_is_taken_in_small_pieces(monkeypatch):
    rows = [(t // 7, core) for t, core in enumerate([3, 1, 2, 0, 3, 1, 0] * 50)]
    result = list(pieces(rows, monkeypatch, piece=10))
    wanted = sorted((cycle, core, number) for number, (cycle, core) in enumerate(rows))
    assert [row for one in result for row in one] == wanted
    assert max(map(len, result)) <= 10 + 7
