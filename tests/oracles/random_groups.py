"""Random groups drawn one by one: every column of every group as the set of numbers that it may be."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.oracles.laws import numbers_at
from workbench.streams import Streams


def plain_rank(law: Any) -> Any:
    """The law itself: these twins are asked about uncorrelated laws alone."""
    assert law.name != "correlated"
    return law


def kernels(workload: Any, seed: int, demand: dict[str, Any]) -> list[dict[str, Any]]:
    """One dictionary a kernel: `grid`, and each column as a set of numbers; `demand` has the law of each label."""
    streams, made, left = Streams(seed), [], workload.count
    laws = {
        "waves": (workload.waves, "waves"),
        "duration": (workload.duration, "durations"),
        **{f"demand {label}": (law, f"demand {label}") for label, law in demand.items()},
    }
    weights = list(workload.channel_weights) or [1.0] * workload.channels
    while left > 0:
        n = len(made)
        rank = {name: streams.uniforms(name, n + 1)[n] for name in ("grids", "channels", "independent", "priorities")}
        kernel = {key: numbers_at(plain_rank(law), streams.uniforms(s, n + 1)[n]) for key, (law, s) in laws.items()}
        (grid,) = numbers_at(plain_rank(workload.grid), rank["grids"], slack=0)
        kernel["grid"] = min(grid, left)
        kernel["channel"] = _walk(weights, rank["channels"])
        kernel["flagged_by_rank"] = rank["independent"] < workload.independent
        kernel["priority"] = numbers_at(plain_rank(workload.priority), rank["priorities"])
        made.append(kernel)
        left -= kernel["grid"]
    return made


def _walk(weights: list[float], rank: float) -> set[int]:
    """Walk along the weights until the rank is used up; both neighbours where it is at a step."""
    result, so_far, total = set(), 0.0, sum(weights)
    for place, weight in enumerate(weights):
        if weight and so_far - 1e-12 <= rank < so_far + weight / total + 1e-12:
            result.add(place)
        so_far += weight / total
    return result


def load(machine: Any, groups: Any, last_arrival: int) -> Fraction:
    """The share of its time for which the resource that is asked for most would be busy, packed without a gap."""
    shares = []
    for resource in machine.resources():
        taken = 0
        for row in range(len(groups.arrival)):
            usual = {"waves": 1, "workgroups": 1, "barriers": int(groups.waves[row] > 1)}.get(resource.label)
            blocks = int(groups.demand[resource.label][row]) if usual is None else usual
            times = int(groups.waves[row]) if resource.level == "unit" else 1
            taken += blocks * times * int(groups.duration[row])
        units = machine.simds_a_unit if resource.level == "unit" else 1
        shares.append(Fraction(taken, resource.blocks * units * machine.compute_units * last_arrival))
    return max(shares)
