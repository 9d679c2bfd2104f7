"""A study that takes a tenth of a second, its undisturbed course, and a policy that fails."""

from __future__ import annotations

import copy
import functools
import json
from typing import Any

from workbench.experiments.progress import Silent
from workbench.levers import lever
from workbench.policies.placement import Placement
from workbench.structures.bitmaps import first_start
from workbench.tuning import tune

SMALL: dict[str, Any] = {
    "engine": "shared_memory",
    "machine": {"segments": 32},
    "workload": {"synthetic": "random_workgroups", "count": 30, "size": {"uniform": [1, 16]}},
    "policy": {
        "placement": {
            "tune": ["first_fit", "worst_fit", {"size_segregated_ends": {"threshold": {"tune": {"most": 16}}}}],
        },
        "queue": {"tune": ["fifo_head_only", {"fifo_lookahead": {"k": {"tune": {"least": 1, "most": 4}}}}]},
    },
    "baseline": {"placement": "first_fit", "queue": "fifo_head_only"},
    "seeds": 2,
    "objectives": ["drain_cycles", "mean_external_fragmentation"],
    "sampler": {"nsga2": {"population": 6, "seed": 3}},
    "trials": 20,
    "holdout_seeds": {"first": 100, "count": 3},
    "report_seeds": 3,
}


def small(**changed: Any) -> dict[str, Any]:
    """The small study with some keys changed; a key that is None is left out."""
    config = {**copy.deepcopy(SMALL), **changed}
    return {key: value for key, value in config.items() if value is not None}


class Counts(Silent):
    """Remembers which runs were done."""

    def __init__(self) -> None:
        self.runs: list[str] = []

    def advance(self, row: Any) -> None:
        self.runs.append(row.id)


def undisturbed(sampler: dict[str, Any] = SMALL["sampler"]) -> tuple[Any, list[str]]:
    """What the study finds when nothing happens to it, and the runs that it does; played once for all tests."""
    return _undisturbed(json.dumps(sampler))


@functools.cache
def _undisturbed(sampler: str) -> tuple[Any, list[str]]:
    watch = Counts()
    return tune(small(sampler=json.loads(sampler)), progress=watch), watch.runs


class FailsWhenWide(Placement):
    """Answers a start outside the memory when its lever is above 1; otherwise the first start."""

    shift: int = lever(0, least=0, most=3, description="how far outside")

    def answer(see: Any) -> int:  # type: ignore[misc]
        start = first_start(see.free, see.length, 0)
        return see.segments + 5 if see.levers[0] > 1 else start
