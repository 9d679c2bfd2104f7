"""The engine `malloc` against its slow twin, field by field, and against itself."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.malloc_cases import batch, cases, simulate
from tests.oracles import malloc as slow
from tests.slow import examples
from workbench.engines.malloc import prepare
from workbench.policies.malloc import PerThread, TrylockBackoff, TrylockSpin, WarpAggregated
from workbench.records.malloc import address, events


@pytest.mark.bounds
@examples(40, 800)
@given(cases())
def test_equals_the_slow_twin(case):
    expected = slow.run(case.rows, **case.twin)
    record = simulate(case.rows, **case.policies, **case.options, events=True)
    requests, blocks = expected.requests, expected.blocks
    rows = range(len(case.rows))
    assert record.leader.tolist() == [r.leader for r in requests]
    assert record.total.tolist() == [sum(r.sizes) for r in requests]
    for name in ("acquired", "ended", "ready"):
        assert getattr(record, name).tolist() == [getattr(r, name) for r in requests], name
    assert address(record).tolist() == [expected.address.get(row, -1) for row in rows]
    assert {row for row in rows if record.request[row] == -1} == expected.nothing
    assert {row for row in rows if record.request[row] == -2} == expected.nobody_asked
    assert record.size.tolist() == _by_row(rows, requests, "sizes")
    assert record.offset.tolist() == _by_row(rows, requests, "offsets")
    for name in ("base", "granules", "granted", "returned"):
        assert getattr(record, name).tolist() == [getattr(b, name) for b in blocks], name
    assert record.bytes.tolist() == [b.size for b in blocks]
    assert record.owner.tolist() == [b.request for b in blocks]
    for number, block in enumerate(blocks):
        assert set(np.flatnonzero(record.block == number)) == set(block.rows)
    counted = (record.acquisitions, record.tried_in_vain, record.heap_atomics, record.rereads)
    assert counted == (expected.acquisitions, expected.in_vain, expected.atomics, expected.rereads)
    assert [tuple(line) for line in record.taken_log.tolist()] == expected.log
    assert [tuple(line) for line in record.refusals.tolist()] == expected.refused


@examples(30, 600)
@given(
    cases(),
    st.none()
    | st.builds(
        TrylockBackoff,
        hold_cycles=st.integers(1, 9),
        first_cycles=st.integers(1, 4),
        most_cycles=st.integers(4, 8),
    ),
)
def test_skipping_changes_nothing(case, lock):
    """Lines that are looked at in every cycle, tries counted one by one, and memory that goes back at each event."""
    policies = case.policies | ({} if lock is None else {"lock": lock})
    with mock.patch.object(prepare, "SKIPS", 0):
        plain = simulate(case.rows, **policies, **case.options, events=True)
    skipping = simulate(case.rows, **policies, **case.options, events=True)
    assert _plain(skipping) == _plain(plain)


def _plain(record):
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in record._asdict().items()
    }


def _by_row(rows, requests, column):
    result = dict.fromkeys(rows, 0)
    for request in requests:
        result.update(zip(request.rows, getattr(request, column), strict=True))
    return [result[row] for row in rows]


CROWD = [(30 * k, thread, 3 + thread % 5, 30 * k + 2500) for k in range(6) for thread in range(12)]


def test_keeping_events_changes_nothing_and_the_log_replays_to_a_legal_history():
    serve = WarpAggregated(warp_size=4)
    plain, kept = (simulate(CROWD, serve, events=e, heap_bytes=64, granule_bytes=4) for e in (False, True))
    for one, other in zip(plain[:-2], kept[:-2], strict=True):
        assert np.array_equal(one, other)
    log = events(kept)
    assert sorted(set(log["kind"])) == ["acquire", "grant", "refuse", "release"]
    assert np.array_equal(log["serial"], np.arange(len(log["serial"])))
    assert (np.diff(log["cycle"]) >= 0).all()
    held = np.zeros(64, int)
    for kind, at, size in zip(log["kind"], log["address"], log["bytes"], strict=True):
        if kind in ("grant", "release"):
            held[at : at + size] += 1 if kind == "grant" else -1
        assert held.min() >= 0 and held.max() <= 1
    assert held.sum() == kept.bytes[kept.returned < 0].sum()
    assert set(log["warp"]) == {0, 1, 2}


def test_the_same_seed_draws_the_same_winners_and_another_others():
    lock = TrylockSpin(drawn_from=64)
    first, again, other = (simulate(batch([8] * 64), PerThread(), lock=lock, seed=seed) for seed in (1, 1, 2))
    assert first.acquired.tolist() == again.acquired.tolist() != other.acquired.tolist()
    assert sorted(first.acquired) == sorted(other.acquired)


def test_nobody_calls():
    record = simulate([])
    assert (len(record.leader), len(record.base), record.heap_atomics) == (0, 0, 0)
