"""Runs of a real plan with made-up measures: where the policy loses is known."""

from __future__ import annotations

import numpy as np

from workbench.experiments.plan import make_plan
from workbench.experiments.results import Results
from workbench.experiments.sweep import read_sweep
from workbench.runs.row import Row

SWEEP = {
    "engine": "shared_memory",
    "machine": {"segments": {"vary": [64, 128, 256, 512]}},
    "workload": {
        "synthetic": "random_workgroups",
        "count": {"vary": [100, 200, 300, 400, 500]},
        "size": {"vary": [{"constant": 4}, {"uniform": [1, 8]}, {"constant": 8}]},
    },
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
    "baseline": {"placement": "first_fit"},
    "seeds": 2,
    "measures": ["drain_cycles"],
}


def runs_of(loses, sweep=SWEEP, value=1000.0, gain=10.0, failing=lambda point: False):
    """Return runs of which `loses(setup)` says where the policy is worse than its baseline."""
    plan, rows = make_plan(read_sweep(sweep)), []
    for run in plan.runs():
        own = run.point.setup.policies["placement"].name != "first_fit"
        result = value + own * (gain if loses(run.point) else -gain)
        failed = failing(run.point)
        rows.append(
            Row(
                run.id,
                run.point.id,
                run.seed,
                "failed" if failed else "done",
                "",
                0.0,
                {} if failed else {"drain_cycles": result},
            )
        )
    return Results(plan, rows)


def random_points(seed, count=90, categories=True):
    """Return mappings and the levers over them: numbers that repeat and do not, some missing, and a category."""
    draws = np.random.default_rng(seed)
    points = [
        {
            "load": float(draws.integers(0, 1000)) / 1000,
            "size": int(2 ** draws.integers(0, 5)),
            "depth": None if draws.random() < 0.2 else int(draws.integers(1, 4)),
            "law": str(draws.choice(["flat", "long", "twin"])),
        }
        for _ in range(count)
    ]
    order = {law: k for k, law in enumerate(dict.fromkeys(point["law"] for point in points))}
    for point in points:
        likely = 0.8 if point["load"] > 0.6 and point["law"] != "flat" else 0.15
        point.update(hit=bool(draws.random() < likely), order={"law": order[point["law"]]})
    return points, ["load", "size", "depth", "law"][: 4 if categories else 3]
