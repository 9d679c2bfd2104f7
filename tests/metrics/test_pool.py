"""The measures of the pool against sums that are formed request by request, and the event log."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from tests.engines.pool_cases import Case, crowd, line
from tests.oracles import pool_memory as slow
from workbench.metrics.pool import MEASURES, in_use, measure, regions_of
from workbench.policies.pool import (
    ExpandableSegments,
    Interleave,
    LeastRecentlyUsed,
    ManagedMemory,
    MigrateBack,
    MostFree,
    NoCache,
)
from workbench.records.pool import KINDS, OUTCOMES, FilledRecord, events, remote, stays_of

GRANTED = ("cached", "physical", "stitched")
LIMITED = LeastRecentlyUsed(limit_bytes_a_card=40)
MOVING = {
    "home": {"residency": MigrateBack()},
    "managed": {"residency": ManagedMemory(to="target", back=True), "idle_release": LIMITED},
}
CASES = {
    "usual": ({}, {}),
    "interleave": ({"target": Interleave()}, {}),
    "most_free": ({"target": MostFree(), "idle_release": LIMITED}, {}),
    "no_cache": ({"cache": NoCache()}, {}),
    "segments": ({"cache": ExpandableSegments(large_page=512)}, {}),
    "wait for ever": ({}, {"when_full": "wait", "wait_order": "any_that_fits", "wait_limit_ns": 0}),
    "wait for 99 ns": ({}, {"when_full": "wait", "wait_limit_ns": 99}),
    **{name: (policies, {}) for name, policies in MOVING.items()},
}


def slow_measures(record):
    """Every measure, counted one request after another."""
    cards = range(len(record.cards))
    active, reserved, held = 0, [0 for _ in cards], [0 for _ in cards]
    lent, peaks, shares, late = [0 for _ in cards], [0, 0, 0, 0, 0], [[] for _ in cards], 0
    had, wanted, moves, over_time = 0, 0, record.moves.tolist(), [0 for _ in cards]
    away, reading, then = {}, 0.0, int(record.time[0])
    ever_away, came_to, asked_at = set(), [], []
    lenders, speeds, waits, granted, borrowed, cached_hits, calls = [], [], [], 0, 0, 0, record.calls.tolist()
    for row in range(record.time.size):
        came, card, own = OUTCOMES[record.outcome[row]], int(record.card[row]), int(record.borrower[row])
        came_to.append(came)
        wanted += int(record.asked[row]) * (record.action[row] == 0)
        reading += sum(away.values()) * max(int(record.time[row]) - then, 0)
        then = max(then, int(record.time[row]))
        if came == "never_asked":
            continue
        if record.waited[row]:
            waits.append((int(record.waited[row]), came in GRANTED))
        if came == "released":
            away.pop(int(record.allocation[row]), None)
        if record.action[row] == 0 and lent[own] > 0 and card != own:
            late += 1
        if came in ("cached", "physical", "stitched", "released"):
            sign = -1 if came == "released" else 1
            home = int(record.borrower[record.allocation[row]])
            active += sign * int(record.asked[record.allocation[row]])
            held[card] += sign * int(record.taken[row])
            lent[card] += sign * int(record.taken[row]) * (card != home)
            had += int(record.asked[row]) * (sign > 0)
            granted, cached_hits = granted + (sign > 0), cached_hits + (came == "cached")
            if sign > 0 and card != own:
                borrowed += 1
                lenders.append(card)
                speeds.append(float(record.gbps[card, own]))
                ever_away.add(row)
                away[row] = int(record.asked[row]) / speeds[-1]
        while moves and moves[0][0] == row:
            _, region, left, to, _, before, after, _ = moves.pop(0)
            home = int(record.borrower[region])
            held[left], held[to] = held[left] - before, held[to] + after
            lent[left], lent[to] = lent[left] - before * (left != home), lent[to] + after * (to != home)
            away.pop(region, None)
            if to != home:
                lenders.append(to)
                speeds.append(float(record.gbps[to, home]))
                ever_away.add(region)
                away[region] = int(record.asked[region]) / speeds[-1]
        while calls and calls[0][0] == row:
            reserved[calls[0][1]] += calls.pop(0)[3]
        now = active, sum(reserved), sum(reserved) - sum(held), sum(lent), max(np.subtract(reserved, held))
        peaks = [max(pair) for pair in zip(peaks, now, strict=True)]
        asked_at.append((int(record.time[row]), sum(held), sum(reserved)))
        lasting = int(record.done[row + 1] - record.done[row]) if row + 1 < record.time.size else 0
        for k in cards:
            shares[k].append(held[k] / record.capacity[k])
            over_time[k] += held[k] * lasting
    chances = [lenders.count(card) / len(lenders) for card in set(lenders)]
    used = [sum(each) / len(each) for each in shares]
    apart = sum(abs(one - other) for one in used for other in used) / (2 * len(used) * sum(used))
    allocations, requested = int((record.action == 0).sum()), OUTCOMES.index("never_asked") != record.outcome
    longest = sorted(waited for waited, _ in waits)
    if waits:
        waiting = {"wait_mean_ns": sum(longest) / len(waits), "wait_p99_ns": longest[math.ceil(0.99 * len(waits)) - 1]}
    else:
        waiting = {"wait_mean_ns": math.nan, "wait_p99_ns": math.nan}
    span = max(record.answered.tolist()) - min(record.time.tolist())
    under_way = [(float(record.access_ns[row]), float(record.access_alone_ns[row])) for row in ever_away]
    slowdowns = [time / alone for time, alone in under_way if alone > 0]
    answers = sorted((record.answered - record.time)[requested].tolist())
    until = [*(time for time, _, _ in asked_at[1:]), max(record.answered.tolist())]
    lasted = [(end - time, *amounts) for (time, *amounts), end in zip(asked_at, until, strict=True)]
    data = sum(filled for filled, came in zip(record.filled, record.outcome, strict=True) if OUTCOMES[came] in GRANTED)
    loads = [load for load, host in zip(over_time, record.hosts.tolist(), strict=True) if not host]
    return {
        "power_proxy_cv": statistics.pstdev(loads) / statistics.mean(loads),
        "allocations_per_millisecond": granted / (span / 1e6),
        "completed_rate": granted / allocations,
        "granted_bytes": had,
        "granted_bytes_rate": had / wanted,
        "misjudged_rate": came_to.count("misjudged") / allocations,
        "misused_frees": sum(came_to.count(misuse) for misuse in ("unknown_free", "repeated_free", "free_of_refused")),
        "fallbacks": record.fallbacks,
        "remote_access_mean_ns": sum(time for time, _ in under_way) / len(under_way),
        "remote_slowdown": sum(slowdowns) / len(slowdowns),
        "latency_p99_ns": answers[math.ceil(0.99 * len(answers)) - 1],
        "utilisation_std": statistics.pstdev(used),
        "unused_rate": 1 - data / sum(lasts * taken for lasts, taken, _ in lasted),
        "reserved_unused_rate": 1 - data / sum(lasts * got for lasts, _, got in lasted),
        "mapping_calls_per_request": sum(record.mappings.tolist()) / sum(requested),
        "cache_hit_rate": cached_hits / granted,
        "driver_calls_per_request": len(record.calls) / sum(requested),
        "borrowed_rate": borrowed / granted,
        "borrowed_bandwidth_gbps": sum(speeds) / len(speeds),
        "borrowed_reading_mean_ns": reading / (then - int(record.time[0])),
        "lender_entropy": -sum(chance * math.log2(chance) for chance in chances),
        "lender_failure_rate": late / allocations,
        "moves_per_request": len(record.moves) / record.time.size,
        "moved_bytes": sum(int(record.asked[move[1]]) for move in record.moves.tolist()),
        "transfer_mean_ns": (sum(record.access_ns) + sum(record.move_ns)) / granted,
        "utilisation_gini": apart,
        "active_peak_bytes": peaks[0],
        "reserved_peak_bytes": peaks[1],
        "cached_peak_bytes": peaks[2],
        "borrowed_peak_bytes": peaks[3],
        "cached_peak_card_bytes": peaks[4],
        "fragmentation": 1 - peaks[0] / peaks[1],
        "latency_mean_ns": sum((record.answered - record.time)[requested]) / sum(requested),
        "waited_rate": sum(served for _, served in waits) / granted,
        "waited_in_vain_rate": sum(not served for _, served in waits) / allocations,
        "never_asked_rate": sum(~requested) / requested.size,
        "span_ns": span,
        **waiting,
    }


@pytest.mark.parametrize(("policies", "options"), CASES.values(), ids=CASES)
def test_measures_are_what_is_counted_request_by_request(policies, options):
    scale = 1 << 15 if isinstance(policies.get("cache"), ExpandableSegments) else 1
    board = line(*(size * scale for size in (200, 150, 250)), gbps=(12.0, 48.0))
    record = Case(crowd(11, 3, 200, 90 * scale), board, policies, {"ipc_ns": 9, **options}).simulate()
    unknown = measure(record)
    record = FilledRecord.of(record, 0.25 * record.asked * np.arange(record.asked.size))
    measures, expected = measure(record), slow_measures(record)
    assert bool(len(record.moves)) == ("residency" in policies), "the case tests nothing"
    assert measures.keys() == expected.keys() == MEASURES.keys()
    for name, value in expected.items():
        assert measures[name] == pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True), name
    undefined = {"unused_rate", "reserved_unused_rate"}  # where no workload tells how full its regions are
    undefined |= set() if record.waited.any() else {"wait_mean_ns", "wait_p99_ns"}
    assert {name for name, value in unknown.items() if not math.isfinite(value)} == undefined
    assert record.waited.any() == bool(options), "the case tests nothing"
    assert ("never_asked" in {OUTCOMES[it] for it in record.outcome}) == (options.get("wait_limit_ns") == 0)


@pytest.mark.parametrize("policies", MOVING.values(), ids=MOVING)
def test_series_and_regions_are_those_of_a_replay_move_by_move(policies):
    record = Case(crowd(3, 3, 200, 90), line(200, 150, 250, gbps=(12.0, 48.0)), policies).simulate()
    used, requested, stays = slow.used(record), slow.used(record, "asked"), slow.stays(record)
    result = stays_of(record)
    displayed = zip(*(column.tolist() for column in result), strict=True)
    assert [[*it] for it in displayed] == sorted(stays, key=lambda stay: stay[0])
    assert in_use(record).sum(axis=0).tolist() == [sum(each) for each in used]
    for card in range(3):
        assert in_use(record)[card].tolist() == [each[card] for each in used]
        assert in_use(record, "asked")[card].tolist() == [each[card] for each in requested]
        assert [*zip(*(column.tolist() for column in regions_of(record, card)), strict=True)] == slow.regions(
            record, card
        )
    rows = np.unique(result.region[remote(record, result)])
    assert measure(record)["remote_access_mean_ns"] == pytest.approx(record.access_ns[rows].mean())
    assert (record.access_ns[rows] > 0).sum() > 5, "hardly anything is borrowed: the case tests nothing"


def test_power_is_balanced_over_gpus_and_by_time():
    """Two GPUs hold 60 bytes for 100 ns and 20 for 300: balanced; a CPU is no GPU, and capacities do not matter."""
    rows = [(0, 0, 0, 0, 1, 60), (100, 0, 0, 1, 1, 0), (100, 1, 1, 0, 2, 20), (400, 1, 1, 1, 2, 0)]
    for board in (line(200, 60), line(60, 200, 500, cpus=(2,))):
        measures = measure(Case(rows, board).simulate())
        assert measures["power_proxy_cv"] == pytest.approx(0, abs=1e-12)
        assert measures["allocations_per_millisecond"] == 2 / (400 / 1e6)
    twice = [*rows[:3], (700, 1, 1, 1, 2, 0)]
    assert measure(Case(twice, line(200, 60)).simulate())["power_proxy_cv"] == pytest.approx(1 / 3)


def test_measures_of_nothing():
    measures = measure(Case([], line(10, 10)).simulate())
    assert set(measures) == set(MEASURES)
    assert math.isnan(measures["completed_rate"]) and math.isnan(measures["borrowed_reading_mean_ns"])
    assert measures["reserved_peak_bytes"] == 0


def test_events_tell_every_byte():
    policies = {"idle_release": LeastRecentlyUsed(limit_bytes_a_card=40), "residency": MigrateBack()}
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
        assert (log["from_card"][it] == -1) == (kind[it] != "move")
        if kind[it] == "move":
            _, card, _ = left.pop((log["app"][it], log["handle"][it]))
            assert log["from_card"][it] == card != log["card"][it] == log["borrower"][it]
        if kind[it] in ("grant", "move"):
            left[log["app"][it], log["handle"][it]] = size[it], log["card"][it], log["identifier"][it]
        if kind[it] == "release":
            given = left.pop((log["app"][it], log["handle"][it]))
            assert given == (size[it], log["card"][it], log["identifier"][it])
