"""What a run costs whatever it does, in Python's instructions: the same on every machine and under any load."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import workbench as wb
from tests.work_counts import instructions

SWEEP: dict[str, Any] = {
    "engine": "shared_memory",
    "workload": {
        "synthetic": "random_workgroups",
        "count": 1,
        "size": {"uniform": [1, 20]},
        "duration": {"uniform": [50, 100]},
    },
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary"]}},
}

MOST_OF_A_RUN = 4_600
"""0.4.0 takes 4,300, with two measures less and no look at code, origin or interrupts; this one some 4,500."""

MOST_OF_A_SWEEP = 350_000
"""With a look at all of the package's own code that the runs execute; a walk through it takes 2,400,000."""


@pytest.mark.slow
def test_a_run_and_a_sweep_cost_no_more_than_they_did():
    """What is the same for all runs of a plan or of a bundle is looked up once, not for each of them; counted in a
    process of its own, for what others registered or remembered is counted too. What is done by the clock, now and
    then, is in one count and not in the next: the least of three counts."""
    reply = subprocess.run([sys.executable, "-m", __name__], capture_output=True, text=True, check=True)
    few, many = map(int, reply.stdout.split())
    of_a_run = (many - few) / 20
    assert 1_000 < of_a_run < MOST_OF_A_RUN
    assert few - 4 * of_a_run < MOST_OF_A_SWEEP


def _act(seeds: int) -> None:
    wb.run({**SWEEP, "seeds": seeds}, workers=0)


if __name__ == "__main__":
    for seeds in (2, 12):  # compiles, and fills what is remembered for a process
        _act(seeds)
    print(*(min(instructions(lambda seeds=seeds: _act(seeds)) for _ in range(3)) for seeds in (2, 12)))
