"""The measures of a shared memory against sums over every cycle of the slow twin."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.test_shared_memory import T1, simulate
from tests.figures.stand_ins import record as by_hand
from tests.oracles import shared_memory as slow
from tests.slow import examples
from workbench.errors import InputError
from workbench.metrics.shared_memory import MEASURES, held_by_segment, measure
from workbench.metrics.statistics import gini
from workbench.policies.placement import ByteCounter, Compaction, FirstFit, NearestBoundary
from workbench.policies.placement.queueing import AfterKCycles, NextCycle


def runs_of(free: list[bool]) -> list[tuple[int, int]]:
    result, k = [], 0
    while k < len(free):
        end = k
        while end < len(free) and free[end]:
            end += 1
        if end > k:
            result.append((k, end - k))
        k = max(end, k + 1)
    return result


def slow_measures(jobs: list[tuple[int, int, int]], segments: int) -> dict[str, float]:
    """Every measure as a sum over the cycles from the first arrival to the last release."""
    happened = slow.run(jobs, segments, slow.nearest_boundary)
    drained = max(happened.release.values())
    cycles = range(drained - happened.first_cycle)
    waiting = [c for c in cycles if happened.queue[c] > 0]
    shapes = [(happened.free[c], runs_of(happened.free[c])) for c in waiting]

    def over_waiting(values: list[float]) -> float:
        return sum(values) / len(values) if values else math.nan

    def off_middle(runs: list[tuple[int, int]]) -> float:
        if not runs:
            return 0.0
        start, length = max(runs, key=lambda r: (r[1], -r[0]))
        return abs(start + length / 2 - segments / 2)

    def fragmented(cycle: int) -> bool:
        now = cycle + happened.first_cycle
        head = next((row for row, job in enumerate(jobs) if job[0] <= now < happened.grant[row]), None)
        longest = max((n for _, n in runs_of(happened.free[cycle])), default=0)
        return head is not None and longest < jobs[head][1] <= sum(happened.free[cycle])

    def low_end(row: int) -> float:
        below, above = happened.base[row], segments - happened.base[row] - jobs[row][1]
        return 0.5 if below == above else float(below < above)

    wear = [0] * segments
    for row, base in happened.base.items():
        for k in range(jobs[row][1]):
            wear[base + k] += 1
    held = [sum(not free[k] for free in happened.free) for k in range(segments)]
    waits = sorted(happened.grant[row] - jobs[row][0] for row in range(len(jobs)))
    half = segments // 2
    return {
        "drain_cycles": drained,
        "workgroups_per_kilocycle": len(jobs) / (drained / 1000),
        "power_proxy_cv": float(np.std(held) / np.mean(held)),
        "mean_queue": sum(happened.queue[c] for c in cycles) / len(cycles),
        "utilisation": sum(segments - sum(happened.free[c]) for c in cycles) / (segments * len(cycles)),
        "mean_free_segments": over_waiting([sum(free) for free, _ in shapes]),
        "mean_external_fragmentation": over_waiting(
            [1 - max(n for _, n in runs) / sum(free) if runs else 0 for free, runs in shapes]
        ),
        "mean_free_runs": over_waiting([len(runs) for _, runs in shapes]),
        "longest_run_off_middle": over_waiting([off_middle(runs) for _, runs in shapes]),
        "blocked_though_enough_cycles": happened.blocked_cycles,
        "blocked_though_enough_rate": happened.blocked_cycles / len(waiting) if waiting else math.nan,
        "blocked_by_fragmentation_cycles": sum(map(fragmented, cycles)),
        "blocked_by_fragmentation_rate": over_waiting([fragmented(c) for c in waiting]),
        "wear_cv": float(np.std(wear) / np.mean(wear)),
        "wear_gini": sum(abs(a - b) for a in wear for b in wear) / (2 * segments * sum(wear)),
        "wear_max_over_min": max(wear) / min(wear) if min(wear) else math.inf,
        "low_end_share": sum(map(low_end, happened.base)) / len(jobs),
        "wear_low_over_high": sum(wear[:half]) / sum(wear[-half:]) if sum(wear[-half:]) else math.inf,
        "first_try_rate": 1 - len(happened.refused) / len(jobs),
        "wait_mean_cycles": sum(waits) / len(waits),
        "wait_p99_cycles": waits[math.ceil(0.99 * len(waits)) - 1],
        "attempts": happened.attempts,
        "moved_segments": 0,
    }


rows = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12), st.integers(1, 20)), min_size=1, max_size=25)


@examples(60, 400)
@given(rows=rows)
def test_every_average_is_the_sum_over_cycles(rows):
    jobs = sorted(rows, key=lambda job: job[0])
    measures, expected = measure(simulate(jobs, 13, NearestBoundary())), slow_measures(jobs, 13)
    assert measures.keys() == expected.keys() == MEASURES.keys()
    for name, value in expected.items():
        assert measures[name] == pytest.approx(value, rel=1e-12, nan_ok=True), name


def test_littles_law_holds_exactly():
    record = simulate(T1, 16, NearestBoundary())
    measures = measure(record)
    assert measures["mean_queue"] * 13 == pytest.approx(measures["wait_mean_cycles"] * len(T1))


def test_every_declared_measure_is_given_and_no_other():
    assert list(measure(simulate(T1))) and set(measure(simulate(T1))) == set(MEASURES)


def test_a_byte_counter_has_no_shape_and_no_wear():
    measures = measure(simulate(T1, placement=ByteCounter()))
    assert math.isnan(measures["mean_external_fragmentation"])
    assert math.isnan(measures["wear_gini"])
    assert math.isnan(measures["low_end_share"]) and math.isnan(measures["power_proxy_cv"])
    with pytest.raises(InputError, match="there is no time by segment: these grants are not ranges"):
        held_by_segment(simulate(T1, placement=ByteCounter()))
    assert measures["drain_cycles"] <= measure(simulate(T1, placement=FirstFit()))["drain_cycles"]


def test_compaction_is_replayed_with_its_moves():
    rng = np.random.default_rng(3)
    jobs = [(0, int(m), int(d)) for m, d in zip(rng.integers(1, 9, 200), rng.integers(1, 40, 200), strict=True)]
    record = simulate(jobs, 16, Compaction())
    measures = measure(record)
    assert measures["moved_segments"] > 0
    assert measures["blocked_though_enough_cycles"] == 0
    assert measures["drain_cycles"] == measure(simulate(jobs, 16, ByteCounter()))["drain_cycles"]
    held = [0] * 16
    for row, length in enumerate(record.length.tolist()):
        base, moves = int(record.base[row]), [move for move in record.moves.tolist() if move[1] == row]
        for cycle in range(int(record.grant[row]), int(record.release[row])):
            base = next((move[3] for move in reversed(moves) if move[0] <= cycle), base)
            for segment in range(base, base + length):
                held[segment] += 1
    assert held_by_segment(record).tolist() == held
    assert measures["power_proxy_cv"] == pytest.approx(np.std(held) / np.mean(held), rel=1e-12)


def test_a_memory_whose_two_halves_are_held_for_10_and_30_cycles_is_out_of_balance_by_a_half():
    measures = measure(simulate([(0, 8, 10), (0, 8, 30)], 16, FirstFit()))
    assert (measures["power_proxy_cv"], measures["wear_cv"]) == (0.5, 0.0)
    assert measures["workgroups_per_kilocycle"] == 2000 / measures["drain_cycles"]


@pytest.mark.parametrize(("retry", "until"), [(NextCycle(), 51), (AfterKCycles(k=100), 103)])
def test_waiting_for_the_next_try_is_no_fragmentation(retry, until):
    pieces = [(0, 4, 3), (0, 8, 50), (0, 4, 4), (0, 6, 1)]  # from cycle 6 to 51 two holes of 4, and 6 are wanted
    measures = measure(simulate(pieces, retry=retry))
    assert measures["blocked_by_fragmentation_cycles"] == 51 - 6
    assert measures["blocked_though_enough_cycles"] == until - 6
    assert measure(simulate([(0, 12, 5), (0, 8, 5)], retry=retry))["blocked_by_fragmentation_rate"] == 0


def test_an_empty_run_has_no_averages():
    measures = measure(simulate([]))
    assert measures["drain_cycles"] == 0
    assert math.isnan(measures["mean_queue"])


def test_gini_of_known_values():
    assert gini(np.array([1.0, 2.0, 3.0])) == pytest.approx(2 / 9)


@pytest.mark.parametrize(
    ("row", "segments"),
    [((0, 0, 1, 0, 5), "0 to 4"), ((0, 0, 1, -1, 2), "-1 to 0"), ((0, 0, 1, 3, 2), "3 to 4")],
)
def test_a_range_outside_of_the_memory_is_refused_and_written_nowhere(row, segments):
    sentence = f"the record of a run puts workgroup 0 into segments {segments}, but the memory has segments 0 to 3."
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        measure(by_hand([row], segments=4))


def test_a_move_outside_of_the_memory_is_refused():
    with pytest.raises(InputError, match="puts workgroup 0 into segments 3 to 4, but "):
        measure(by_hand([(0, 0, 9, 0, 2), (1, 1, 2, 2, 2)], segments=4, moves=np.array([[1, 0, 0, 3, 1]])))
