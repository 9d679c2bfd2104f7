"""What a study says of trials that nothing tells apart: which point beats the baseline, which lever matters."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.statistics.rate import Rate
from workbench.levers import lever
from workbench.metrics.measure import Measure
from workbench.policies.placement import Placement
from workbench.tuning.front import Front
from workbench.tuning.importances import INERT, lever_shares
from workbench.tuning.objectives import Objective
from workbench.tuning.study import Proposal, Study, Trial, read_study

LEVERS = ("a", "b", "c", "d", "e")


class Indifferent(Placement):
    """Five levers that change nothing, for a study that is never run."""

    a: float = lever(0.5, least=0.0, most=1.0, description="changes nothing")
    b: float = lever(0.5, least=0.0, most=1.0, description="changes nothing")
    c: float = lever(0.5, least=0.0, most=1.0, description="changes nothing")
    d: float = lever(0.5, least=0.0, most=1.0, description="changes nothing")
    e: float = lever(0.5, least=0.0, most=1.0, description="changes nothing")

    def answer(see):  # type: ignore[no-untyped-def]
        return -1


class HeldOut:
    """Runs of a front on fresh seeds, as `Front` reads them; none is better than the baseline but by luck."""

    def __init__(self, draws: np.random.Generator, points: int, objectives: int, seeds: int) -> None:
        self.points = [self._point(f"p{k}") for k in range(points)]
        self._baseline, self.seeds = self._point("baseline"), list(range(seeds))
        measures = {f"m{k}": Measure(f"m{k}", "", "lower", "", compared_by="ratio") for k in range(objectives)}
        sweep = SimpleNamespace(planned=None, seeds=self.seeds, mechanism=SimpleNamespace(measures=measures))
        self.plan = SimpleNamespace(sweep=sweep)
        self._values = {
            (point.id, f"m{k}"): dict(enumerate(draws.normal(1000, 10, seeds).tolist()))
            for point in (*self.points, self._baseline)
            for k in range(objectives)
        }

    def values(self, point: Any, measure: str) -> Mapping[int, float]:
        return self._values[point.id, measure]

    def refused(self, point: Any, measure: str) -> set[int]:
        return set()

    def starved(self, point: Any) -> set[int]:
        return set()

    def hung(self, point: Any, measure: str) -> set[int]:
        return set()

    def has_ended(self, point: Any, seeds: Any) -> bool:
        return True

    def baseline_of(self, point: Any) -> Any:
        return self._baseline

    def label(self, point: Any) -> str:
        return str(point.id)

    @staticmethod
    def _point(id: str) -> Any:
        return SimpleNamespace(id=id, setup=SimpleNamespace(policies={}), coordinates={})


def false_winners(points: int, objectives: int, repetitions: int, seeds: int = 20) -> Rate:
    """How often some point of a front is said to beat the baseline in every objective, where none does."""
    draws, wrong = np.random.default_rng([points, objectives]), 0
    for _ in range(repetitions):
        holdout: Any = HeldOut(draws, points, objectives, seeds)
        goals = tuple(Objective(one, "minimize") for one in holdout.plan.sweep.mechanism.measures.values())
        request: Any = SimpleNamespace(objectives=goals, constraints=(), workload_names=[""])
        trials = [trial(k, {}, (0.0,) * objectives) for k in range(points)]
        wrong += bool(Front(request, trials, holdout).table()["beats_baseline"].any())
    return Rate(wrong, repetitions)


def false_levers(trials: int, repetitions: int) -> tuple[Rate, Rate]:
    """How often one of five levers that change nothing has more than the noise floor: of levers, and of studies."""
    draws, levers, studies = np.random.default_rng(trials), 0, 0
    for _ in range(repetitions):
        chosen = draws.random((trials, len(LEVERS))).tolist()
        values = draws.normal(1000, 10, trials).tolist()
        made = [trial(k, dict(zip(paths(), row, strict=True)), (values[k],)) for k, row in enumerate(chosen)]
        shares = lever_shares(study(), made)["drain_cycles"]
        above = sum(share > shares[INERT] for name, share in shares.items() if name != INERT)
        levers, studies = levers + above, studies + bool(above)
    return Rate(levers, repetitions * len(LEVERS)), Rate(studies, repetitions)


def trial(number: int, chosen: dict[str, Any], values: tuple[float, ...]) -> Trial:
    """Return a trial that chose these levers."""
    return Trial(number, Proposal({}, chosen), f"p{number}", values, "")


@functools.cache
def study() -> Study:
    """Return a study of five levers that change nothing."""
    tuned = {Indifferent.name: {name: {"tune": True} for name in LEVERS}}
    config = {"engine": "shared_memory", "workload": "large_uniform", "policy": {"placement": tuned}}
    return read_study({**config, "objectives": ["drain_cycles"], "seeds": 2, "trials": 20, "sampler": "random"})


@functools.cache
def paths() -> list[str]:
    """Return its levers' dotted paths."""
    from workbench.tuning.space import dimensions

    return [dimension.path for dimension in dimensions(study().space)]
