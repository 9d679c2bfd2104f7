"""A sweep some of whose runs kill the process that does them, do not end, or misbehave in any other way."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace

from benchmarks.faults.deeds import DEEDS
from workbench.experiments.plan import Plan, make_plan
from workbench.experiments.sweep import read_sweep
from workbench.levers import lever
from workbench.workloads.synthetic.random_groups import RandomWorkgroups

SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": "first_fit"},
    "measures": ["drain_cycles"],
}
NEVER = -1


class Faulty(RandomWorkgroups):
    """Kills its process at one seed and does not end at another; `WORKBENCH_SPARES` names a process that is spared."""

    kills: int = lever(NEVER, least=-1, most=10**6, description="the seed that kills its process")
    hangs: int = lever(NEVER, least=-1, most=10**6, description="the seed that does not end")
    sleeps_ms: float = lever(0, least=0, most=10**6, unit="milliseconds", description="how long each run sleeps")

    def workgroups(self, machine, streams):
        spared = os.environ.get("WORKBENCH_SPARES") == str(os.getpid())
        if streams.seed == self.kills and not spared:
            os._exit(9)
        time.sleep(1000 if streams.seed == self.hangs and not spared else self.sleeps_ms / 1e3)
        return super().workgroups(machine, streams)


class Misbehaving(RandomWorkgroups):
    """Does at some seeds what no code should; `WORKBENCH_SPARES` names a process that is spared."""

    deeds: str = lever("", description="what is done at which seed: 3=raises 5=loops")

    def workgroups(self, machine, streams):
        if os.environ.get("WORKBENCH_SPARES") != str(os.getpid()):
            deeds = dict(one.split("=") for one in self.deeds.split())
            if deed := deeds.get(str(streams.seed)):
                DEEDS[deed]()
        return super().workgroups(machine, streams)


def faulty_plan(
    seeds: int,
    kills: int = NEVER,
    hangs: int = NEVER,
    sleeps_ms: float = 0,
    deeds: Mapping[str, str] | None = None,
) -> Plan:
    """A plan of one point; `deeds` says by seed what is done."""
    plan = make_plan(read_sweep({**SWEEP, "seeds": seeds}))
    (point,) = plan.points
    values = point.setup.workload.values()
    if deeds is None:
        workload = Faulty(**values, kills=kills, hangs=hangs, sleeps_ms=sleeps_ms)
    else:
        workload = Misbehaving(**values, deeds=" ".join(f"{seed}={deed}" for seed, deed in deeds.items()))
    return replace(plan, points=[point._replace(setup=point.setup._replace(workload=workload))])
