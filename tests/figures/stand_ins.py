"""Runs made by hand: a plan whose engine hands out records that a test has written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from workbench.engines.kit.engine import Setup
from workbench.engines.shared_memory import SharedMemoryOptions
from workbench.experiments.plan import Plan
from workbench.experiments.results import Results
from workbench.experiments.store import Row
from workbench.experiments.sweep import Sweep
from workbench.machine import Machine
from workbench.mechanisms.mechanism import Mechanism
from workbench.metrics.shared_memory import MEASURES, measure
from workbench.policies.placement.queueing import FifoHeadOnly, NextCycle
from workbench.policies.policy import read_policy
from workbench.records.shared_memory import SharedMemoryRecord, events
from workbench.runs.run import PlannedPoint, run_id
from workbench.workloads.synthetic.random_groups import RandomWorkgroups


def record(rows: Iterable[tuple[int, ...]], segments: int = 8, **changed: Any) -> SharedMemoryRecord:
    """One row a workgroup: arrival, grant, release, base, length; serials in the order of the grants."""
    arrival, grant, release, base, length = np.array([*rows], np.int64).reshape(-1, 5).T
    serial = np.empty(len(grant), np.int32)
    serial[np.argsort(grant, kind="stable")] = np.arange(len(grant))
    columns: dict[str, Any] = {
        "segments": segments,
        "layout": "contiguous",
        "addressed": True,
        "release_first": True,
        "arrival": arrival,
        "asked": length,
        "length": length,
        "grant": grant,
        "start": grant,
        "release": release,
        "base": base.astype(np.int32),
        "serial": serial,
        "refused": grant > arrival,
        "attempts": len(grant),
        "blocked_cycles": 0,
        "moves": np.zeros((0, 5), np.int64),
        "refusals": np.zeros((0, 3), np.int64),
    }
    return SharedMemoryRecord(**{**columns, **changed})


class Handed:
    """An engine that simulates nothing: it hands out the record of a setup and a seed."""

    name, revision, slots, options = "shared_memory", 1, {"placement": "first_fit"}, SharedMemoryOptions
    workload_kind = "workgroups"

    def __init__(self, records: Mapping[tuple[str, int], SharedMemoryRecord]) -> None:
        self.records = records

    def simulate(self, setup: Setup, seed: int, events: bool = False) -> SharedMemoryRecord:
        return self.records[_key(setup), seed]


def _key(setup: Setup) -> str:
    return f"{setup.policies['placement'].short()} {setup.machine.segments}"


def runs(
    points: Mapping[str, list[Any]],
    baseline: str | None = None,
    segments: Iterable[int] = (8,),
    failed: Iterable[tuple[str, int]] = (),
    named: Iterable[str] = (),
    measures: Iterable[str] = tuple(MEASURES),
) -> Results:
    """Runs of policies at seeds 0, 1, 2, ...

    Parameters
    ----------
    points : mapping
        Policy -> one entry a seed: a record, or a mapping of measures where no record is asked for.
    baseline : str, optional
        The policy that the others are compared with.
    segments : ints
        The same for each of these memories, varied as `machine.segments`.
    failed : pairs of policy and seed
        Runs that are rows with status failed.
    measures : str, ...
        What the sweep shows.
    """
    sizes = [*segments]
    setups = {(policy, size): _setup(policy, size) for size in sizes for policy in points}
    planned = [
        PlannedPoint(
            f"{policy}-{size}",
            setup,
            {
                "policy.placement": setup.policies["placement"].short(),
                **({"machine.segments": size} if sizes[1:] else {}),
            },
            f"{baseline}-{size}" if baseline not in (None, policy) else None,
        )
        for (policy, size), setup in setups.items()
    ]
    records, rows = {}, []
    for point, (policy, _) in zip(planned, setups, strict=True):
        for seed, given in enumerate(points[policy]):
            records[_key(point.setup), seed] = given
            broken = (policy, seed) in {*failed}
            result = {} if broken else given if isinstance(given, Mapping) else measure(given)
            why = f"{policy} broke at cycle 3." if broken else ""
            name = run_id(point.id, seed)
            rows.append(Row(name, point.id, seed, "failed" if broken else "done", why, 0.0, dict(result)))
    mechanism = Mechanism(Handed(records), MEASURES, measure, events)
    seeds = [*range(max(map(len, points.values())))]
    sweep = Sweep("by_hand", "by_hand.yaml", Path(), {}, mechanism, seeds, [*measures], [*named])
    return Results(Plan(sweep, planned), rows)


def _setup(policy: str, segments: int) -> Setup:
    name, _, lever = policy.rstrip(")").partition("(")
    path, _, value = lever.partition("=")
    given = {name: {path: int(value) if value.isdigit() else value} if lever else {}}
    policies = {"placement": read_policy("placement", given), "queue": FifoHeadOnly(), "retry": NextCycle()}
    return Setup("shared_memory", Machine(segments=segments), RandomWorkgroups(), policies, SharedMemoryOptions())
