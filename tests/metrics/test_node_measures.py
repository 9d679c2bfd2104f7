"""Every measure of a node from a made-up record, beside sums written from the sentences (spec 6, section 7)."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

from tests.oracles.heat import conductances, step
from tests.slow import seeds
from workbench.machine.power import ClassPower, NoHeat, NoPower, RcHeat
from workbench.metrics.node import MEASURES, measure
from workbench.records.node import NodeRecord

POWER = ClassPower(idle_watts=0.2)
HEAT = RcHeat(step_cycles=8, resistance_k_per_w=5, capacity_j_per_k=1e-7)
PARTS = ("memory", "channel", "compute", "issue", "walkers", "translation", "link", "malloc_lock", "malloc_service",
         "heap_chunk", "shoot_down")  # fmt: skip
COUNTS = ("groups_ended", "groups_cancelled", "kernels_refused", "groups_refused", "steps", "touches", "remote_touches",
          "shoot_downs", "stalled_modules", "nulls", "chunks")  # fmt: skip
CARDS, MODULES, CLOCK = 2, 4, 1500.0


def made_up(seed: int, groups: int = 30) -> NodeRecord:
    """A record in which about a third of all groups and applications does not end, and many times are equal."""
    draw = np.random.default_rng(seed)
    window = int(draw.choice([8, 24]))
    makespan = int(draw.integers(1, 100))
    arrived = draw.integers(0, 50, 4)
    left = np.where(draw.random(4) < 0.3, -1, arrived + draw.integers(0, 50, 4))
    return NodeRecord(
        makespan=makespan,
        began=np.zeros(groups, np.int64),
        ended=np.where(draw.random(groups) < 0.3, -1, draw.integers(1, 90, groups)),
        card=draw.integers(0, CARDS, groups).astype(np.int16),
        times=draw.integers(0, 3, (groups, len(PARTS))),
        refused=draw.random(4) < draw.choice([0, 0.3]),
        arrived=arrived,
        left=left,
        alone=np.where(draw.random(4) < 0.2, -1, draw.integers(0, 40, 4)),
        served=draw.integers(0, 100, 5),
        counts={name: int(draw.integers(0, 50)) for name in COUNTS},
        clock_mhz=CLOCK,
        modules=MODULES,
        registers_scattered=draw.random(CARDS * MODULES),
        shared_scattered=draw.random(CARDS * MODULES),
        frames_scattered=draw.random(CARDS),
        live_bytes=float(draw.integers(1, 1 << 30)),
        reserved_bytes=float(draw.integers(1, 1 << 31)),
        window_cycles=window,
        spent=draw.random((-(-makespan // window), CARDS * MODULES)) * 1e4,
        power=POWER,
        heat=HEAT,
        messages=np.zeros((0, 10), np.int64),
        details=np.zeros(0),
    )


def plain(record: NodeRecord) -> dict[str, float]:
    counts, seconds = record.counts, record.makespan / (CLOCK * 1e6)
    served = dict(zip(("private", "merged", "peer", "shared", "walk"), record.served.tolist(), strict=True))
    touches = sum(served.values())
    applications = _applications(record)
    times = {
        "makespan_cycles": record.makespan,
        "groups_per_mcycle": counts["groups_ended"] / (record.makespan / 1e6),
        "groups_per_second": counts["groups_ended"] / seconds,
        "steps_per_second": counts["steps"] / seconds,
        **_times(record),
        **{name: applications.pop(name) for name in ("slowdown_mean", "slowdown_max")},
    }
    return {
        **{name: math.nan if True in record.refused.tolist() else value for name, value in times.items()},
        "groups_ended": counts["groups_ended"],
        "groups_cancelled": counts["groups_cancelled"],
        "kernels_refused": counts["kernels_refused"],
        "groups_refused": counts["groups_refused"],
        "remote_share": counts["remote_touches"] / counts["touches"] if counts["touches"] else math.nan,
        "shoot_downs": counts["shoot_downs"],
        "stalled_modules": counts["stalled_modules"],
        "malloc_nulls": counts["nulls"],
        "heap_chunks": counts["chunks"],
        "private_hit_rate": served["private"] / touches,
        "near_hit_rate": 1 - (served["merged"] + served["shared"] + served["walk"]) / touches,
        "shared_per_kilo": 1000 - (served["private"] + served["merged"] + served["peer"]) / touches * 1000,
        "walks_per_kilo": served["walk"] / (touches / 1000),
        "fragmentation_shared": statistics.fmean(record.shared_scattered),
        "fragmentation_registers": statistics.fmean(record.registers_scattered),
        "fragmentation_cards": statistics.fmean(record.frames_scattered),
        "reserved_over_live": record.reserved_bytes / record.live_bytes,
        "live_mean_bytes": record.live_bytes,
        "reserved_mean_bytes": record.reserved_bytes,
        **applications,
        **_power(record),
        **_heat(record),
    }


def _times(record: NodeRecord) -> dict[str, float]:
    ended = [group for group, cycle in enumerate(record.ended.tolist()) if cycle >= 0]
    rows = {group: dict(zip(PARTS, record.times[group].tolist(), strict=True)) for group in ended}
    ranked = sorted(ended, key=lambda group: (sum(rows[group].values()), record.card[group], group))
    values: dict[str, float] = {}
    for percent in (50, 99):
        group = ranked[math.ceil(percent * len(ranked) / 100) - 1]
        values[f"group_p{percent}_cycles"] = sum(rows[group].values())
        values |= {f"group_p{percent}_{part}_cycles": cycles for part, cycles in rows[group].items()}
    values["group_mean_cycles"] = statistics.fmean(sum(row.values()) for row in rows.values())
    for part in PARTS:
        values[f"group_mean_{part}_cycles"] = statistics.fmean(row[part] for row in rows.values())
        values[f"{part}_share"] = values[f"group_mean_{part}_cycles"] / values["group_mean_cycles"]
        slowest = [rows[group][part] for group in ranked[-math.ceil(len(ranked) / 20) :]]
        values[f"group_slowest_{part}_cycles"] = statistics.fmean(slowest)
    return values


def _applications(record: NodeRecord) -> dict[str, float]:
    speeds = []
    for refused, arrived, left, alone in zip(record.refused, record.arrived, record.left, record.alone, strict=True):
        if alone >= 0:
            ends = left >= 0 and not refused
            speeds.append((alone / (left - arrived) if left > arrived else 1.0) if ends else 0.0)
    slowdowns = [1 / speed for speed in speeds if speed]
    squares = sum(speed**2 for speed in speeds)
    return {
        "applications_refused": sum(record.refused),
        "slowdown_mean": statistics.fmean(slowdowns) if slowdowns else math.nan,
        "slowdown_max": max(slowdowns, default=math.nan),
        "fairness": sum(speeds) ** 2 / (len(speeds) * squares) if squares else math.nan,
    }


def _windows(record: NodeRecord) -> list[tuple[int, list[float]]]:
    """How many cycles of each window lie within the run, and each module's watts in it."""
    rows = []
    for begin, spent in zip(range(0, record.makespan, record.window_cycles), record.spent.tolist(), strict=True):
        cycles = min(record.window_cycles, record.makespan - begin)
        rows.append((cycles, [0.2 + picojoules * 1e-12 / (cycles / (CLOCK * 1e6)) for picojoules in spent]))
    return rows


def _power(record: NodeRecord) -> dict[str, float]:
    rows = _windows(record)
    mean = sum(cycles * statistics.fmean(watts) for cycles, watts in rows) / record.makespan
    variance = sum(cycles * statistics.pvariance(watts) for cycles, watts in rows) / record.makespan
    return {
        "energy_joules": mean * CARDS * MODULES * record.makespan / (CLOCK * 1e6),
        "power_mean_watts": mean,
        "power_cv": math.sqrt(variance) / mean,
        "power_peak_over_mean": max(max(watts) for _, watts in rows) / mean,
    }


def _heat(record: NodeRecord) -> dict[str, float]:
    """From the equations of the network; after the makespan the last window's modules are idle."""
    network = conductances(2, 2, HEAT.resistance_k_per_w, HEAT.coupling_w_per_k)
    keeps, gains = step(network, HEAT.capacity_j_per_k, HEAT.step_cycles / CLOCK * 1e-6)
    heat, spreads, peak = np.zeros((CARDS, MODULES)), [], 0.0
    for cycles, watts in _windows(record):
        power = [0.2 + (each - 0.2) * cycles / record.window_cycles for each in watts]
        for _ in range(record.window_cycles // HEAT.step_cycles):
            heat = np.array([keeps @ heat[k] + gains @ power[MODULES * k : MODULES * (k + 1)] for k in range(CARDS)])
            spreads += [max(one) - min(one) for one in heat.tolist()]
            peak = max(peak, *heat.ravel().tolist())
    return {"temperature_spread_k": statistics.fmean(spreads), "temperature_peak_k": peak}


@pytest.mark.parametrize("seed", seeds(30, 100))
def test_every_measure_equals_its_slow_twin(seed):
    record = made_up(seed)
    measures, expected = measure(record), plain(record)
    assert measures.keys() == expected.keys() == MEASURES.keys()
    for name, value in expected.items():
        assert measures[name] == pytest.approx(value, rel=1e-8, nan_ok=True), name


def test_what_did_not_happen_has_no_measures():
    record = made_up(1, groups=0)._replace(
        makespan=0,
        refused=np.zeros(4, bool),
        alone=np.zeros(0, np.int64),
        served=np.zeros(5, np.int64),
        power=NoPower(),
        heat=NoHeat(),
        spent=None,
    )
    undefined = {name for name, value in measure(record).items() if math.isnan(value)}
    assert undefined >= {"groups_per_mcycle", "group_p99_cycles", "near_hit_rate", "fairness", "power_cv", "link_share"}
    assert "makespan_cycles" not in undefined and "groups_ended" not in undefined
