"""What a run costs whatever it does, in Python's instructions: the same on every machine and under any load.

A run has as little to do as its engine allows: one workgroup, one group, one warp, one access a core, or one job. The
allocator has one block that is awaited. The node has one card, and one kernel of one group.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import workbench as wb
from tests.work_counts import instructions
from workbench.runs import origin

WORKGROUP = {
    "synthetic": "random_workgroups",
    "count": 1,
    "size": {"uniform": [1, 20]},
    "duration": {"uniform": [50, 100]},
}
KERNEL = {"synthetic": "small_kernels", "count": 1, "streams_each": 1, "kernels": 1, "kernel_groups": 1, "phases": 1}
SWEEPS: dict[str, dict[str, Any]] = {
    "shared_memory": {"workload": WORKGROUP, "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}}},
    "dispatch": {
        "machine": "patent_dispatch",
        "workload": {"synthetic": "random_groups", "count": 1},
        "policy": {"choice": {"vary": ["most_residual", "round_robin"]}},
    },
    "translation": {
        "machine": "patent_pilot",
        "workload": {"synthetic": "zipf_mixture", "count": 8},
        "policy": {"locate": {"vary": ["directory", "no_directory"]}},
    },
    "malloc": {
        "machine": "h100",
        "workload": {"synthetic": "random_mallocs", "threads": 32},
        "policy": {"serve": {"vary": ["per_thread", "warp_aggregated"]}},
    },
    "pool": {
        "machine": "dgx_1v",
        "workload": {"synthetic": "mixed_jobs", "jobs": 1},
        "policy": {"target": {"vary": ["max_bandwidth", "round_robin"]}},
    },
    "node": {
        "machine": {"cards": 1, "modules": 1},
        "workload": KERNEL,
        "policy": {"choice": {"vary": ["most_residual", "round_robin"]}},
    },
    "torch_allocator": {"workload": {"synthetic": "awaited_block"}},
}

BEFORE = 5_525
"""Instructions of a run of `shared_memory` at the commit 823d687c."""

MOST_OF_A_RUN = dict.fromkeys(SWEEPS, 4 * BEFORE) | {"shared_memory": 4_600, "node": 20_500}
"""`shared_memory` takes some 4,500 now, a node some 20,000. The node's workloads are planned before: all points of a
seed share a plan."""

MOST_OF_A_SWEEP = 350_000
"""With a look at all of the package's own code that the runs execute; a walk through it takes 2,400,000."""


@pytest.mark.slow
@pytest.mark.parametrize("engine", SWEEPS)
def test_a_run_and_a_sweep_cost_no_more_than_they_did(engine):
    """What is the same for all runs of a plan or of a bundle is looked up once, not for each of them; counted in a
    process of its own, for what others registered or remembered is counted too."""
    command = [sys.executable, "-m", __name__, engine]
    reply = subprocess.run(command, capture_output=True, text=True, check=True)
    few, many = map(int, reply.stdout.split())
    of_a_run = (many - few) / 20
    assert 1_000 < of_a_run < MOST_OF_A_RUN[engine]
    if engine == "shared_memory":
        assert few - 4 * of_a_run < MOST_OF_A_SWEEP


def _act(engine: str, times: int) -> None:
    """Run two points so many times: with as many seeds, or, where nothing is drawn, at twice as many points."""
    sweep = {"engine": engine, **SWEEPS[engine]}
    if "policy" in sweep:
        sweep |= {"seeds": times}
    else:
        block_bytes = [(20 + k) << 20 for k in range(2 * times)]
        sweep |= {"seeds": 1, "workload": {**sweep["workload"], "block_bytes": {"vary": block_bytes}}}
    results = wb.run(sweep, workers=0)
    assert len(results.rows) == 2 * times
    assert not results.failures


if __name__ == "__main__":
    _, engine = sys.argv
    origin.LOOK_SECONDS = float("inf")  # whether sources were edited is looked up by the clock, not for a run
    for times in (2, 12):  # compiles, and fills what is remembered for a process
        _act(engine, times)
    print(*(min(instructions(lambda times=times: _act(engine, times)) for _ in range(3)) for times in (2, 12)))
