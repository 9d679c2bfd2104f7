"""A tuning study's front: two objectives of every trial, and the best once more on fresh seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.figures.estimates import means_of, without_limits
from workbench.figures.pareto import Cloud, Pareto, cloud_of, draw
from workbench.figures.registry import OfStudy
from workbench.metrics.measure import Measure

if TYPE_CHECKING:
    from workbench.tuning.results import StudyResults


def study_front_data(results: StudyResults) -> Pareto | None:
    """Compute two panels: every trial on the seeds of the study, and the front and its baseline on the hold-out seeds.

    The axes are the first two objectives, and a third is the colour; the steps are the front of the two. A trial that
    tried what an earlier one had tried is not shown again, nor one that breaks a constraint. None for a study of one
    objective, or without a front.
    """
    if len(results.study.objectives) < 2 or results.holdout is None:
        return None
    x, y, *more = (one.measure._replace(better=one.better) for one in results.study.objectives[:3])
    return Pareto(x, y, (_trials(results, x, y), _fresh(results, x, y)), *more)


def _trials(results: StudyResults, *measures: Measure) -> Cloud:
    different = {
        trial.point: trial for trial in reversed(results.all_trials) if trial.feasible(results.study.constraints)
    }
    first = sorted(different.values(), key=lambda trial: trial.number)
    values = np.array([trial.values for trial in first], float).reshape(-1, len(results.study.objectives)).T
    sides = [without_limits(side) for side in values[:2]]
    names = _distinct_names([(_chosen(trial.proposal.chosen), trial.number) for trial in first])
    cloud = cloud_of("trials on the seeds of the study", names, np.zeros(len(first), int), sides, measures)
    return cloud._replace(shade=values[2] if len(values) > 2 else None)


def _fresh(results: StudyResults, *measures: Measure) -> Cloud:
    assert results.holdout is not None
    points, baselines = results.holdout.points, _baselines(results)
    pairs = [
        (results.front.name(point), trial.number) for point, trial in zip(results.front.points, results.front.trials)
    ]
    names = dict(zip((point.id for point in results.front.points), _distinct_names(pairs)))
    names |= {one: "baseline" if len(baselines) == 1 else f"baseline, {name}" for one, name in baselines.items()}
    kept = [[results.front.interval(point, one) for one in results.study.objectives[:3]] for point in points]
    indices = [k for k, intervals in enumerate(kept) if all(one.n for one in intervals)]
    x, y, *more = (means_of(kept[k][side] for k in indices) for side in range(len(kept[0])))
    n = np.array([min(one.n for one in kept[k]) for k in indices], int)
    cloud = cloud_of("front on fresh seeds", tuple(names[points[k].id] for k in indices), n, (x, y), measures)
    return cloud._replace(
        without=tuple(names[point.id] for k, point in enumerate(points) if k not in indices),
        shade=more[0].mean if more else None,
        baseline=np.array([points[k].id in baselines for k in indices], bool),
    )


def _chosen(chosen: Mapping[str, Any]) -> str:
    """Return what a trial chose, as a policy is written: levers in brackets behind the choice that has them.

    >>> _chosen({"policy.placement": "next_fit", "policy.placement.next_fit.start": 4, "policy.queue": "fifo"})
    'next_fit(start=4), fifo'
    """
    inside = {path: [other for other in chosen if other.startswith(f"{path}.")] for path in chosen}
    within = {other for others in inside.values() for other in others}
    return ", ".join(_with_levers(path, chosen, inside[path]) for path in chosen if path not in within)


def _with_levers(path: str, chosen: Mapping[str, Any], levers: Sequence[str]) -> str:
    value = chosen[path]
    levers_text = ", ".join(f"{other.rpartition('.')[2]}={chosen[other]}" for other in levers)
    name = value if isinstance(value, str) else f"{path.rpartition('.')[2]}={value}"
    return f"{name}({levers_text})" if levers_text else str(name)


def _distinct_names(names: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    """Return names, with the number of the trial behind those that several trials have."""
    count = Counter(name for name, _ in names)
    return tuple(f"{name} (trial {number})" if count[name] > 1 else name for name, number in names)


def _baselines(results: StudyResults) -> dict[str, str]:
    """Return what the points of the front are held to, by id: the names."""
    assert results.holdout is not None
    own = {point.id for point in results.front.points}
    return {point.id: results.front.name(point) for point in results.holdout.points if point.id not in own}


PARETO_FIGURE = OfStudy(
    "pareto",
    "Two objectives of every trial against each other, and the front once more on fresh seeds beside its baseline.",
    study_front_data,
    draw,
)
