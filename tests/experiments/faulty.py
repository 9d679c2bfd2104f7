"""Runs that kill the process that does them, or do not end."""

from __future__ import annotations

import os
import time
from dataclasses import replace

from workbench.experiments.plan import Plan, make_plan
from workbench.experiments.sweep import read_sweep
from workbench.levers import lever
from workbench.workloads.synthetic.random_workgroups import RandomWorkgroups

SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": "first_fit"},
    "measures": ["drain_cycles"],
}


class Faulty(RandomWorkgroups):
    """Kills its process at one seed and sleeps at another; it spares the process that the tests run in."""

    kills: int = lever(-1, least=-1, most=10**6, says="the seed that kills its process")
    hangs: int = lever(-1, least=-1, most=10**6, says="the seed that does not end")
    spares: int = lever(0, least=0, most=1 << 40, says="the process that is not killed")

    def workgroups(self, machine, streams):
        if streams.seed == self.kills and os.getpid() != self.spares:
            os._exit(9)
        if streams.seed == self.hangs:
            time.sleep(1000)
        return super().workgroups(machine, streams)


def faulty_plan(seeds: int, kills: int = -1, hangs: int = -1) -> Plan:
    """A plan of one point."""
    found = make_plan(read_sweep({**SWEEP, "seeds": seeds}))
    (point,) = found.points
    workload = Faulty(**point.setup.workload.values(), kills=kills, hangs=hangs, spares=os.getpid())
    return replace(found, points=[point._replace(setup=point.setup._replace(workload=workload))])
