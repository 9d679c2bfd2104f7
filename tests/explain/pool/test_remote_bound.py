"""The bounds of the pool against laying every byte and every region by hand, and as bounds for every policy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from tests.engines.pool_cases import Case, crowd, line
from tests.oracles import pool_bound as slow
from tests.slow import examples
from workbench.errors import InputError
from workbench.explain.pool_bounds import cuts_of, granted_in_order, most_granted
from workbench.explain.pool_demand import Demand, demand_of, loads
from workbench.explain.remote_bound import (
    fixed_bound,
    is_nested,
    least_reading,
    min_cost_flow_time,
    moving_bound,
    over_bound,
)
from workbench.machine.paths import best_paths
from workbench.metrics.pool import measure
from workbench.policies.pool import LocalOnly, ManagedMemory, MaxBandwidth, MigrateBack, MostFree, RoundRobin
from workbench.records.pool import granted

METRICS = ("bottleneck", "hop_penalised", "direct_only")


@st.composite
def demands(draw, most_regions=5, metrics=METRICS):
    """A few regions on three or four small cards: times of requests, regions, sizes of cards, paths, who lends."""
    cards = draw(st.integers(2, 4))
    count = draw(st.integers(1, most_regions))
    rows = 2 * count
    times = np.cumsum(draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows)))
    times[-1] += 1
    order = draw(st.permutations(range(rows)))
    regions = []
    for k in range(count):
        begin, end = sorted(order[2 * k : 2 * k + 2])
        stays = draw(st.integers(0, 4)) == 0
        size, borrower = draw(st.integers(1, 6)), draw(st.integers(0, cards - 1))
        regions.append((begin, rows if stays else end, size, borrower))
    regions.sort()
    sizes = draw(st.lists(st.integers(0, 8), min_size=cards, max_size=cards))
    direct = np.zeros((cards, cards))
    for one in range(1, cards):
        other = draw(st.integers(0, one - 1))
        direct[one, other] = direct[other, one] = draw(st.sampled_from([4.0, 8.0, 16.0]))
    hops = draw(st.sampled_from([1, 8]))
    gbps = best_paths(direct, draw(st.sampled_from(metrics)), hops).bottleneck_gbps
    lends = draw(st.lists(st.booleans(), min_size=cards, max_size=cards))
    return times.tolist(), regions, sizes, gbps.tolist(), lends


def demand(times, regions, sizes, gbps, lends):
    columns = (np.array(column, np.int64) for column in zip(*regions, strict=True))
    return Demand(np.array(times), *columns, np.array(sizes), np.array(gbps), np.array(lends))


@examples(20, 300)
@given(said=demands())
def test_the_moving_bound_is_what_laying_byte_after_byte_takes(said):
    result, moments = demand(*said), loads(demand(*said))
    assert moving_bound(result) == pytest.approx(slow.moving(*said), rel=1e-9)
    if is_nested(result.gbps):
        flows = [min_cost_flow_time(result, load) for load in moments]
        assert least_reading(result, moments) == pytest.approx(np.array(flows), rel=1e-6, abs=1e-9)


@examples(13, 200)
@given(said=demands(most_regions=4))
def test_whole_regions_are_the_best_of_all_ways_to_lay_them_and_the_bounds_are_in_order(said):
    result = demand(*said)
    moving, shares, whole = moving_bound(result), fixed_bound(result), fixed_bound(result, whole=True)
    assert whole == pytest.approx(slow.whole(*said), rel=1e-6, abs=1e-9)
    assert moving <= shares * (1 + 1e-6) + 1e-9
    assert shares <= whole * (1 + 1e-6) + 1e-9


@examples(13, 200)
@given(said=demands())
@pytest.mark.slow
def test_what_could_be_granted_is_what_laying_byte_after_byte_leaves_room_for(said):
    result = demand(*said)
    assert granted_in_order(result).tolist() == slow.in_order(*said)
    everything = math.isfinite(moving_bound(result))
    for of, worth in (("regions", lambda it: 1), ("bytes", lambda it: it[2])):
        bound = most_granted(result, of)
        assert bound >= slow.most(*said, worth) - 1e-7
        assert (bound > 1 - 1e-9) == everything


@pytest.mark.parametrize("policy", [MaxBandwidth(), MostFree(), RoundRobin(), LocalOnly()], ids=lambda it: it.name)
def test_no_policy_is_nearer_than_the_bounds_of_what_it_granted(policy):
    board = line(90, 60, 120, 200, gbps=(12.0, 48.0, 24.0))
    record = Case(crowd(4, 4, 80, 90), board, {"target": policy}).simulate()
    requested, had = demand_of(record), demand_of(record, granted_only=True)
    value = measure(record)["borrowed_reading_mean_ns"]
    assert moving_bound(had) <= fixed_bound(had) * (1 + 1e-9) <= value * (1 + 1e-6)
    assert value == 0 if policy.name == "local_only" else value > 0, "the case tests nothing"
    assert had.size.sum() == requested.size[granted(record)[requested.begin]].sum()
    assert had.size.sum() <= most_granted(requested, "bytes") * requested.size.sum() * (1 + 1e-9)
    assert had.size.size <= most_granted(requested) * requested.size.size * (1 + 1e-9)


@pytest.mark.parametrize("residency", [MigrateBack(), ManagedMemory(back=True)], ids=lambda it: it.name)
def test_who_moves_regions_reaches_the_moving_bound_which_those_that_stay_cannot(residency):
    """Each of three regions fills card 0 and overlaps the next one for 20 of its 60 ns."""
    rows = [(0, 0, 0, 0, 1, 100), (40, 0, 0, 0, 2, 100), (60, 0, 0, 1, 1, 0), (80, 0, 0, 0, 3, 100)]
    rows += [(100, 0, 0, 1, 2, 0), (140, 0, 0, 1, 3, 0)]
    record = Case(rows, line(100, 200, gbps=(10.0,), cpus=(1,)), {"residency": residency}).simulate()
    had, value = demand_of(record, granted_only=True), measure(record)["borrowed_reading_mean_ns"]
    assert had.size.size == 3 and len(record.moves) > 0
    assert value == pytest.approx(moving_bound(had)) == pytest.approx(100 / 10 * 40 / 140)
    assert fixed_bound(had) == pytest.approx(100 / 10 * 60 / 140)


def test_a_policy_that_foresees_reaches_the_bound_of_whole_regions():
    """Two regions, one near place: the optimum gives it to the larger one, which comes later."""
    gbps = best_paths(np.array([[0, 16, 4], [16, 0, 0], [4, 0, 0]], float)).bottleneck_gbps
    requested = demand([0, 0, 10], [(0, 3, 2, 0), (1, 3, 8, 0)], [0, 8, 8], gbps, [True] * 3)
    assert fixed_bound(requested, whole=True) == 2 / 4 + 8 / 16
    assert moving_bound(requested) == fixed_bound(requested) == 2 / 4 + 8 / 16


def test_what_is_too_large_or_unknown_is_said():
    many = demand([0, 1], [(0, 2, 1, 0)] * 2001, [9999, 9], [[math.inf, 2], [2, math.inf]], [True, True])
    assert fixed_bound(many) == 0
    with pytest.raises(InputError, match=r"at most 4,000 entries\. Got 4,002; relax it with whole=False\.$"):
        fixed_bound(many, whole=True)
    with pytest.raises(InputError, match="unknown unit of what is granted 'kib'; there are bytes, regions"):
        most_granted(many, "kib")


@pytest.mark.slow
def test_a_sweep_beside_its_bounds():
    full = {"synthetic": "full_card", "footprint": 2.0, "size": {"log_uniform": [1 << 28, 1 << 31]}}
    config = {"engine": "pool", "machine": "dgx_1v", "workload": full, "seeds": 2, "measures": ["completed_rate"]}
    chosen = {"policy": {"target": {"vary": ["max_bandwidth", "most_free", "local_only"]}}}
    bounds = over_bound(wb.run({**config, **chosen}, workers=0))
    near, far, refuses = bounds[0], bounds[2], bounds[4]
    assert 1 <= near.over < far.over and near.bound_ns == far.bound_ns == near.bound_of_all_ns
    assert near.bound_ns <= near.fixed_bound_ns <= near.value_ns
    assert refuses.bound_ns == refuses.value_ns == 0 and math.isnan(refuses.over)
    assert refuses.granted_percent < 100 == refuses.grantable_percent == near.granted_percent
    assert math.isnan(over_bound(wb.run({**config, "seeds": 1}, workers=0), fixed_entries=0)[0].fixed_bound_ns)


def test_cards_that_differ_in_whom_they_may_ask_have_their_own_cuts():
    gbps = best_paths(np.array([[0, 16, 0], [16, 0, 16], [0, 16, 0]], float), "direct_only").bottleneck_gbps
    cuts = cuts_of(demand([0, 1], [(0, 2, 1, 0)], [1, 2, 4], gbps, [True] * 3))
    config = {tuple(m): int(r) for m, r in zip(cuts.members.tolist(), cuts.capacity.tolist(), strict=True)}
    assert config[1, 0, 0] == 3 and config[0, 0, 1] == 6 and config[1, 1, 1] == 7
