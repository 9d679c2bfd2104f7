"""The measures of the pool against sums that are formed request by request, and the event log."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.engines.pool_cases import Case, crowd, line
from workbench.metrics.pool import MEASURES, measure
from workbench.policies.pool import Interleave, LeastRecentlyUsed, MostFree, NoCache
from workbench.records.pool import OUTCOMES
from workbench.records.pool_events import KINDS, events

CASES = {
    "usual": ({}, {}),
    "interleave": ({"target": Interleave()}, {}),
    "most_free": ({"target": MostFree(), "idle_release": LeastRecentlyUsed(limit_bytes_a_card=40)}, {}),
    "no_cache": ({"cache": NoCache()}, {}),
    "wait for ever": ({}, {"when_full": "wait", "wait_order": "any_that_fits", "wait_limit_ns": 0}),
    "wait for 99 ns": ({}, {"when_full": "wait", "wait_limit_ns": 99}),
}


def slow_measures(record):
    """Every measure that can be counted, one request after another."""
    cards = range(len(record.cards))
    active, reserved, held = 0, [0 for _ in cards], [0 for _ in cards]
    lent, peaks, shares, late = [0 for _ in cards], [0, 0, 0, 0, 0], [[] for _ in cards], 0
    lenders, speeds, waits, granted, cached_hits, calls = [], [], [], 0, 0, record.calls.tolist()
    for row in range(record.time.size):
        came, card, own = OUTCOMES[record.outcome[row]], int(record.card[row]), int(record.borrower[row])
        if came == "never_asked":
            continue
        if record.waited[row]:
            waits.append((int(record.waited[row]), came in ("cached", "physical", "stitched")))
        if record.action[row] == 0 and lent[own] > 0 and card != own:
            late += 1
        if came in ("cached", "physical", "stitched", "released"):
            sign = -1 if came == "released" else 1
            home = int(record.borrower[record.allocation[row]])
            active += sign * int(record.asked[record.allocation[row]])
            held[card] += sign * int(record.taken[row])
            lent[card] += sign * int(record.taken[row]) * (card != home)
            granted, cached_hits = granted + (sign > 0), cached_hits + (came == "cached")
            if sign > 0 and card != own:
                lenders.append(card)
                speeds.append(float(record.gbps[card, own]))
        while calls and calls[0][0] == row:
            reserved[calls[0][1]] += calls.pop(0)[3]
        now = active, sum(reserved), sum(reserved) - sum(held), sum(lent), max(np.subtract(reserved, held))
        peaks = [max(pair) for pair in zip(peaks, now, strict=True)]
        for k in cards:
            shares[k].append(held[k] / record.capacity[k])
    chances = [lenders.count(card) / len(lenders) for card in set(lenders)]
    used = [sum(each) / len(each) for each in shares]
    apart = sum(abs(one - other) for one in used for other in used) / (2 * len(used) * sum(used))
    allocations, asked = int((record.action == 0).sum()), OUTCOMES.index("never_asked") != record.outcome
    longest = sorted(waited for waited, _ in waits)
    if waits:
        waiting = {"wait_mean_ns": sum(longest) / len(waits), "wait_p99_ns": longest[math.ceil(0.99 * len(waits)) - 1]}
    return {
        "completed_rate": granted / allocations,
        "cache_hit_rate": cached_hits / granted,
        "driver_calls_per_request": len(record.calls) / sum(asked),
        "borrowed_rate": len(lenders) / granted,
        "borrowed_bandwidth_gbps": sum(speeds) / len(speeds),
        "lender_entropy": -sum(chance * math.log2(chance) for chance in chances),
        "lender_failure_rate": late / allocations,
        "utilisation_gini": apart,
        "active_peak_bytes": peaks[0],
        "reserved_peak_bytes": peaks[1],
        "cached_peak_bytes": peaks[2],
        "borrowed_peak_bytes": peaks[3],
        "cached_peak_card_bytes": peaks[4],
        "fragmentation": 1 - peaks[0] / peaks[1],
        "latency_mean_ns": sum((record.done - record.time)[asked]) / sum(asked),
        "waited_rate": sum(served for _, served in waits) / granted,
        "waited_in_vain_rate": sum(not served for _, served in waits) / allocations,
        "never_asked_rate": sum(~asked) / asked.size,
        **(waiting if waits else {}),
    }


@pytest.mark.parametrize(("policies", "options"), CASES.values(), ids=CASES)
def test_measures_are_what_is_counted_request_by_request(policies, options):
    board = line(200, 150, 250, gbps=(12.0, 48.0))
    record = Case(crowd(11, 3, 200, 90), board, policies, {"ipc_ns": 9, **options}).simulate()
    found = measure(record)
    for name, value in slow_measures(record).items():
        assert found[name] == pytest.approx(value, rel=1e-12, abs=1e-12), name
    assert set(found) == set(MEASURES)
    undefined = set() if record.waited.any() else {"wait_mean_ns", "wait_p99_ns"}
    assert {name for name, value in found.items() if not math.isfinite(value)} == undefined
    assert record.waited.any() == bool(options), "the case tests nothing"
    assert ("never_asked" in {OUTCOMES[it] for it in record.outcome}) == (options.get("wait_limit_ns") == 0)


def test_measures_of_nothing():
    found = measure(Case([], line(10, 10)).simulate())
    assert set(found) == set(MEASURES)
    assert math.isnan(found["completed_rate"])
    assert found["reserved_peak_bytes"] == 0


def test_events_tell_every_byte():
    policies = {"idle_release": LeastRecentlyUsed(limit_bytes_a_card=40)}
    record = Case(crowd(3, 3, 200, 90, live=20), line(200, 150, 250), policies).simulate()
    log = events(record)
    kind, size = log["kind"], log["bytes"]
    assert set(kind) == set(KINDS), "the case tests nothing"
    assert (np.diff(log["cycle"]) >= 0).all()
    assert log["serial"].tolist() == list(range(len(kind)))
    taken = record.calls[record.calls[:, 3] > 0, 3].sum()
    assert taken - size[kind == "return_to_driver"].sum() == record.calls[:, 3].sum()
    left = {}
    for it in range(len(kind)):
        if kind[it] == "grant":
            left[log["app"][it], log["handle"][it]] = size[it], log["card"][it], log["identifier"][it]
        if kind[it] == "release":
            given = left.pop((log["app"][it], log["handle"][it]))
            assert given == (size[it], log["card"][it], log["identifier"][it])
