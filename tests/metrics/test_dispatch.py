"""Measures of a dispatcher, each against its slow twin, and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.dispatch_cases import Case, Row
from tests.oracles import dispatch_measures as slow
from tests.slow import examples
from tests.toy_dispatch import toy
from workbench.machine import ClassPower, NoHeat, NoPower, RcHeat
from workbench.metrics.dispatch import MEASURES, measure, service_measures
from workbench.metrics.dispatch_modules import (
    balance_measures,
    energy_joules,
    energy_prediction,
    execution_spans,
    module_power,
    power_measures,
    total_pj,
    windows,
)
from workbench.metrics.dispatch_rows import makespan, refusal_measures, wait_measures
from workbench.policies.dispatch import PartitionByKernel, RoundRobin
from workbench.records.dispatch import DispatchRecord

WARM = {"power": ClassPower(), "heat": RcHeat(step_cycles=7, capacity_j_per_k=1e-8)}

records = st.builds(
    toy,
    seed=st.integers(0, 10**6),
    a_round=st.integers(1, 3),
    groups=st.integers(0, 25),
    modules=st.integers(1, 3),
    units=st.integers(1, 3),
    channels=st.integers(1, 4),
    levels=st.integers(1, 4),
    horizon=st.integers(1, 60),
    round_cycles=st.integers(1, 3),
    history_cycles=st.integers(1, 16),
    **{name: st.just(spec) for name, spec in WARM.items()},
)
some = records.filter(lambda record: len(record.group) > 0)


def alike(result: dict[str, float], expected: dict[str, float], rel: float = 1e-9) -> None:
    assert result.keys() == expected.keys()
    for name, value in expected.items():
        assert result[name] == pytest.approx(value, rel=rel, abs=1e-12, nan_ok=True), name


@examples(20, 300)
@given(records)
def test_waits(record):
    alike(wait_measures(record), slow.wait_measures(record))


@examples(20, 300)
@given(some)
def test_balance_is_the_sum_over_cycles(record):
    alike(balance_measures(record), slow.balance_measures(record))


@pytest.mark.parametrize(("seed", "groups", "units"), [(787, 4, 1), (868, 3, 3), (1836, 4, 3)])
def test_of_two_resources_that_are_as_busy_the_first_is_looked_at(seed, groups, units):
    """In these records the averages of equal shares round to different numbers, and the second to the larger."""
    some = {"channels": 1, "levels": 1, "horizon": 20, "round_cycles": 1, "history_cycles": 4, **WARM}
    record = toy(seed=seed, a_round=1, groups=groups, modules=3, units=units, **some)
    alike(balance_measures(record), slow.balance_measures(record))


@examples(20, 300)
@given(records)
def test_service(record):
    alike(service_measures(record), slow.service_measures(record))


@pytest.mark.parametrize("seed", range(4))
def test_service_of_many_groups_whose_channels_come_and_go(seed):
    record = toy(seed, groups=90, modules=3, channels=4, levels=1 + seed % 2, horizon=150)
    alike(service_measures(record), slow.service_measures(record))


@examples(20, 300)
@given(records)
def test_refusals(record):
    alike(refusal_measures(record), slow.refusal_measures(record))


@examples(13, 200)
@given(some)
def test_power_and_heat_are_sums_over_cycles(record):
    result = power_measures(record)
    assert result.pop("energy_prediction") == pytest.approx(slow.energy_prediction(record), rel=1e-6, nan_ok=True)
    alike(result, {**slow.power_measures(record, 7), **slow.heat_measures(record)})


@examples(13, 200)
@given(some)
def test_power_of_each_module_is_its_energy_over_the_run(record):
    spent, seconds = slow.energies(record), slow.makespan(record) / (record.clock_mhz * 1e6)
    expected = [record.power.idle() + sum(now[m] for now in spent) * 1e-12 / seconds for m in range(record.modules)]
    assert module_power(record).tolist() == pytest.approx(expected, rel=1e-9)


@examples(13, 200)
@given(some, st.integers(1, 90))
def test_energy_is_conserved_whatever_the_windows(record, cycles):
    """All windows together, the counts times their energies, and power times time are the same."""
    spent = sum(float(chunk.sum()) for chunk in windows(record, cycles))
    assert spent == pytest.approx(total_pj(record, execution_spans(record)), rel=1e-12)
    counted = (record.instructions * record.power.energies_pj()).sum()
    rounded_by = record.duration[record.group].sum() / 2**21
    assert abs(spent - counted) <= record.power.energies_pj().sum() * rounded_by
    seconds = makespan(record) / (record.clock_mhz * 1e6)
    power = power_measures(record)["power_mean_watts"]
    assert power * record.modules * seconds == pytest.approx(energy_joules(record), rel=1e-12)


def test_energy_of_a_split_group_is_that_of_its_instructions():
    """E23: each of 8 waves executes 7/8 of an instruction: a matrix instruction of 10,290 pJ is 72,030 pJ for all 7.

    The rate is exact here: 7 * 2^20 / (8 * 64) is a whole number.
    """
    parts, matrix = 8, 3
    blank = one_channel_each([0] * parts, parts, 1)
    record = blank._replace(
        power=ClassPower(idle_watts=0.0),
        arrival=np.zeros(1, np.int64),
        channel=np.zeros(1, np.int64),
        priority=np.ones(1, np.int64),
        waves=np.array([parts]),
        duration=np.array([64]),
        instructions=np.array([[7 * (s == matrix) for s in range(6)]]),
        group=np.zeros(parts, np.int32),
        module=np.arange(parts, dtype=np.int32) % blank.modules,
        splits=np.array([[0, 0, parts]]),
    )
    each = float(record.power.energies_pj()[matrix])
    assert total_pj(record, execution_spans(record)) == 7 * each
    assert energy_joules(record) == pytest.approx(7 * each * 1e-12, rel=1e-15)
    assert sum(float(chunk.sum()) for chunk in windows(record, 7)) == pytest.approx(7 * each, rel=1e-15)
    alike(
        {name: value for name, value in power_measures(record).items() if name in slow.power_measures(record, 1024)},
        slow.power_measures(record, 1024),
    )


def test_chunks_of_windows_follow_each_other(monkeypatch):
    record = toy(3, groups=60, **WARM)
    whole = np.concatenate([*windows(record, 2)])
    monkeypatch.setattr("workbench.metrics.dispatch_modules.AT_ONCE", 7 * record.modules)
    measured = measure(record)
    chunks = [*windows(record, 2)]
    assert len(chunks) > 5 and (np.concatenate(chunks) == whole).all()
    monkeypatch.undo()
    alike(measured, measure(record), rel=1e-12)


def counted(record: DispatchRecord) -> dict[str, float]:
    """The measures of pace, rounds and work, from each group and each dispatch."""
    dispatched, cycles = len(slow.dispatches(record)), slow.makespan(record)
    once, each = record.rounds * record.modules, record.head_rounds * record.modules
    numbers = {
        "makespan_cycles": cycles,
        "groups_per_kilocycle": len(record.arrival) / (cycles / 1000),
        "failed_rounds": record.failed_rounds,
        "failed_round_rate": record.failed_rounds / record.rounds,
        "splits": sum(1 for _ in record.splits),
        "refused_by_fragmentation": record.refused_by_fragmentation,
        "over_promised": record.over_promised,
        "probe_operations": once,
        "probe_operations_each_head": each,
        "probe_operations_per_dispatch": once / dispatched,
        "probe_operations_each_head_per_dispatch": each / dispatched,
        "placement_searches_per_dispatch": record.placement_searches / dispatched,
        "pieces_per_dispatch": record.pieces / dispatched,
        **slow.hang_measures(record),
    }
    return {name: float(value) for name, value in numbers.items()}


@examples(8, 100)
@given(some)
def test_every_measure_has_a_slow_twin(record):
    measures, prediction = measure(record), slow.energy_prediction(record)
    of_rounds = {**counted(record), **slow.wait_measures(record), **slow.refusal_measures(record)}
    of_modules = {**slow.service_measures(record), **slow.balance_measures(record), **slow.power_measures(record, 7)}
    expected = {**of_rounds, **of_modules, **slow.heat_measures(record), "energy_prediction": prediction}
    assert expected.keys() == measures.keys() >= MEASURES.keys()
    alike({name: measures[name] for name in counted(record)}, counted(record))


@pytest.mark.parametrize("barrier", [0, -1])
def test_a_run_that_hangs_says_what_never_starts_and_has_no_times(barrier):
    """Spec 7, V1, and the same where the small groups name no barrier, so that they end and the large ones start."""
    small = [Row(waves=1, barrier=barrier, duration=10, kernel=0) for _ in range(2)]
    rows = [*small, *(Row(waves=2, barrier=0, duration=10, kernel=1) for _ in range(3)), Row(channel=1, kernel=2)]
    shut = {"admission": PartitionByKernel(parts="0-3 | 0-3 | ", others="nowhere"), "choice": RoundRobin()}
    record = Case(rows, modules=4, slots=2, policies=shut, options={"dispatches_a_round": 64}).engine()
    measures, expected = measure(record), slow.hang_measures(record)
    assert {name: measures[name] for name in expected} == expected
    never, lacking, waiting = (2, 4, 4) if barrier == 0 else (1, 1, 0)
    assert list(expected.values())[:3] == [never, lacking, waiting]
    assert math.isnan(measures["makespan_cycles"]) and math.isnan(measures["wait_mean_cycles"])


def test_every_measure_that_is_declared_is_given_and_every_one_given_is_declared():
    measures = measure(toy(1, **WARM))
    assert set(MEASURES) <= set(measures)
    parts = set(measures) - set(MEASURES)
    assert all(name in MEASURES for name in parts)
    assert parts == {f"wait_{kind}_cycles[{level}]" for kind in ("mean", "p99", "max") for level in (1, 2, 3)} | {
        f"utilisation[{name}]" for name in ("vgpr", "waves", "shared", "workgroups")
    }


def test_a_run_without_groups_has_no_averages():
    measures = measure(toy(groups=0, **WARM))
    assert measures["makespan_cycles"] == measures["probe_operations"] == 0
    for name in ("groups_per_kilocycle", "wait_p99_cycles", "utilisation", "power_cv", "service_variance"):
        assert math.isnan(measures[name]), name


@pytest.mark.parametrize("changed", [{}, {"power": NoPower(), "heat": NoHeat()}, {"heat": RcHeat()}])
def test_without_power_there_is_neither_power_nor_heat(changed):
    measures = measure(toy(2, **changed))
    for name in ("energy_joules", "power_cv", "temperature_spread_k", "energy_prediction"):
        assert math.isnan(measures[name]), name


def test_power_without_heat_is_measured_in_windows_of_1024_cycles():
    record = toy(2, groups=20, power=ClassPower())
    measures = measure(record)
    alike({name: measures[name] for name in slow.power_measures(record, 1024)}, slow.power_measures(record, 1024))
    assert math.isnan(measures["temperature_spread_k"])


def one_channel_each(picks: list[int], groups_a_channel: int, channels: int) -> DispatchRecord:
    """All groups of one wave wait from the start; one is dispatched a cycle, from these channels in this order."""
    count = len(picks)
    blank = toy(groups=0)
    order = np.argsort(np.argsort(picks, kind="stable"), kind="stable")
    assert all(picks.count(c) == groups_a_channel for c in range(channels))
    return blank._replace(
        channels=channels,
        levels=1,
        arrival=np.zeros(count, np.int64),
        channel=np.sort(picks),
        priority=np.ones(count, np.int64),
        waves=np.ones(count, np.int64),
        duration=np.ones(count, np.int64),
        demand=np.ones((count, 4), np.int64),
        instructions=np.zeros((count, 6), np.int64),
        refused=np.zeros(count, np.int64),
        group=order.astype(np.int32),
        cycle=np.arange(count),
        module=np.zeros(count, np.int32),
        sent=np.tile(np.array([1, 0], np.int32), (count, 1)),
        level=np.ones(count, np.int32),
        shared_out=np.zeros(count, bool),
        rounds=count,
        head_rounds=count * channels,
    )


def test_marks_serve_in_blocks_so_that_the_largest_gap_is_7_of_4_channels():
    """V27: each aligned block of 4 picks is a permutation; from the first of one to the last of the next are 7."""
    measures = measure(one_channel_each([0, 1, 2, 3, 3, 2, 1, 0], 2, 4))
    assert measures["service_gap_max"] == 7
    even = measure(one_channel_each([0, 1, 2, 3] * 3, 3, 4))
    assert even["service_gap_max"] == 4


def test_lags_are_counts_of_services_while_all_compete():
    picks = [0, 0, 0, 1, 1, 1]
    measures = measure(one_channel_each(picks, 3, 2))
    contested = [np.var([1, 0]), np.var([2, 0]), np.var([3, 0])]
    assert measures["service_variance"] == pytest.approx(np.mean(contested))
    assert measures["probe_operations"] == 2 * 6 and measures["probe_operations_each_head"] == 2 * 12
    assert measures["probe_operations_each_head_per_dispatch"] == 4


def test_counters_are_taken_from_the_record():
    record = toy(5, over_promised=3, pieces=500)
    measures = measure(record)
    assert measures["failed_rounds"] == record.failed_rounds > 0
    assert measures["failed_round_rate"] == record.failed_rounds / record.rounds
    assert measures["splits"] == len(record.splits) > 0
    assert measures["over_promised"] == 3
    assert measures["pieces_per_dispatch"] == 500 / len(record.group)
    assert measures["placement_searches_per_dispatch"] == record.placement_searches / len(record.group)
    assert measures["refused_by_fragmentation"] == record.refused_by_fragmentation
    assert measures["groups_per_kilocycle"] == 1000 * 30 / slow.makespan(record)


def test_modules_that_never_differ_foretell_nothing():
    record = one_channel_each([0, 0, 0, 0], 4, 1)._replace(**WARM, history_cycles=1)
    assert math.isnan(energy_prediction(record))
    assert math.isnan(energy_prediction(toy(1, **WARM, history_cycles=0)))


def test_a_module_that_goes_on_as_it_did_foretells_all():
    blank = one_channel_each([0, 0], 2, 1)
    record = blank._replace(
        **WARM, history_cycles=4, cycle=np.zeros(2, np.int64), module=np.array([0, 1], np.int32),
        duration=np.array([40, 40]), instructions=np.array([[40] * 6, [4000] * 6]),
    )  # fmt: skip
    assert energy_prediction(record) == pytest.approx(1)


def test_a_billion_cycles_are_exact():
    """Whole numbers count what is used, however long a group runs."""
    blank = one_channel_each([0, 0], 2, 1)
    record = blank._replace(duration=np.array([10**12 + 1, 1]), power=ClassPower(idle_watts=0.0))
    result = balance_measures(record)
    assert result["utilisation[workgroups]"] == (10**12 + 2) / (2 * 3 * (10**12 + 1))
    assert total_pj(record, execution_spans(record)) == 0
