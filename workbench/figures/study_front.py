"""What a tuning study found: every trial, and the best of them once more on fresh seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.figures.means import Means, means_of
from workbench.figures.of_study import OfStudy
from workbench.figures.pareto import Cloud, Pareto, cloud_of, draw
from workbench.metrics.measure import Measure

if TYPE_CHECKING:
    from workbench.studies.tuning.results import StudyResults


def study_front_data(found: StudyResults) -> Pareto | None:
    """Two panels: every trial on the seeds of the study, and the front and its baseline on the hold-out seeds.

    The axes are the first two objectives; a trial that tried what an earlier one had tried is not shown again, nor one
    that breaks a constraint. None for a study of one objective, or without a front.
    """
    if len(found.study.objectives) < 2 or found.holdout is None:
        return None
    x, y = (one.measure._replace(better=one.better) for one in found.study.objectives[:2])
    return Pareto(x, y, (_trials(found, x, y), _fresh(found, x, y)))


def _trials(found: StudyResults, *measures: Measure) -> Cloud:
    different = {trial.point: trial for trial in reversed(found.found) if trial.feasible(found.study.constraints)}
    first = sorted(different.values(), key=lambda trial: trial.number)
    values = np.array([(trial.values or ())[:2] for trial in first], float).reshape(-1, 2).T
    sides = [Means(side, *np.full((2, len(first)), np.nan)) for side in values]
    names = tuple(f"trial {trial.number}" for trial in first)
    return cloud_of("trials on the seeds of the study", names, np.zeros(len(first), int), sides, measures)


def _fresh(found: StudyResults, *measures: Measure) -> Cloud:
    assert found.holdout is not None
    names = {point.id: f"baseline, {found.front.name(point)}" for point in found.holdout.points}
    names |= {trial.point: f"trial {trial.number}" for trial in found.front.trials}
    objectives = found.study.objectives[:2]
    kept = [[found.front.interval(point, one) for one in objectives] for point in found.holdout.points]
    shown = [k for k, intervals in enumerate(kept) if all(one.n for one in intervals)]
    sides = [means_of(kept[k][side] for k in shown) for side in range(2)]
    n = np.array([min(one.n for one in kept[k]) for k in shown], int)
    cloud = cloud_of(
        "front on fresh seeds", tuple(names[found.holdout.points[k].id] for k in shown), n, sides, measures
    )
    left_out = [names[point.id] for k, point in enumerate(found.holdout.points) if k not in shown]
    return cloud._replace(without=tuple(left_out))


FIGURE = OfStudy(
    "pareto",
    "Two objectives of every trial against each other, and the front once more on fresh seeds beside its baseline.",
    study_front_data,
    draw,
)
