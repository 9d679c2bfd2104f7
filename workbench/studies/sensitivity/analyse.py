"""From the runs of a sensitivity study to indices or effects, one analysis a way to run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.errors import InputError, at, unknown_name
from workbench.experiments.designs import Drawn, Morris, Saltelli, draw
from workbench.experiments.run_set import RunSet
from workbench.experiments.sweep import Sweep
from workbench.metrics.measure import Measure
from workbench.studies.sensitivity.effects import Effects, elementary_effects
from workbench.studies.sensitivity.indices import Indices, sobol_indices
from workbench.studies.sensitivity.outputs import Of, outputs
from workbench.studies.sensitivity.ways import Way, ways


class Analysis(NamedTuple):
    """What one measure of one way to run depends on."""

    way: str
    """Which policies and settings, where the sweep has several."""
    measure: Measure
    of: Of
    """Whether the measure itself was analysed, or what it gains on the baseline."""
    paths: tuple[str, ...]
    """The dotted path of each lever, in the order of the sweep."""
    point: str
    """The id of one of the points."""
    rows: int
    """Rows of the design, equal ones included."""
    seeds: int
    """What each output is a mean of."""
    found: Indices | Effects


def check(sweep: Sweep, measure: str | None = None, of: str = "mean") -> Drawn:
    """Refuse, before anything runs, a sweep that could not be analysed; return what its design draws.

    Raises
    ------
    InputError
        The design is none for sensitivity, there is no such measure, or no baseline to gain on.
    """
    drawn = draw(sweep)
    if drawn is None or not isinstance(drawn.design, (Saltelli, Morris)):
        cure = "design: {saltelli: {base: 64}} (Sobol's indices) or {morris: {trajectories: 20}}"
        raise InputError(at(sweep.where, f"sensitivity needs {cure}, and ranges, vary: {{from: , to: }}."))
    paths = [axis.path for axis in drawn.axes]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise InputError(at(sweep.where, f"sensitivity needs one range at a lever; {twice} has several."))
    known = sweep.mechanism.measures
    if measure is not None and measure not in known:
        raise unknown_name(sweep.where, "measure", measure, known)
    if measure is not None:
        sweep.check_computed(measure)
    if of not in ("mean", "gain"):
        raise unknown_name(sweep.where, "output of a point", of, ("mean", "gain"))
    if of == "gain" and not sweep.said.get("baseline"):
        raise InputError(at(sweep.where, "sensitivity of a gain needs a baseline, such as {placement: first_fit}."))
    return drawn


def analyse(runs: RunSet, measure: str | None = None, of: Of = "mean") -> list[Analysis]:
    """Analyse every measure of the sweep, or one, of every way to run.

    Parameters
    ----------
    measure : str, optional
        Any measure of the engine; all that the sweep names if None.
    of : {"mean", "gain"}
        The measure itself in the mean over the seeds, or the mean paired difference to the baseline, positive = better.

    Raises
    ------
    InputError
        As `check`; an output is not finite; or all outputs of a way are equal, so that there is nothing to explain.
    """
    sweep = runs.plan.sweep
    drawn = check(sweep, measure, of)
    names = [measure] if measure is not None else sweep.measures
    analyses = []
    for declared in (sweep.mechanism.measures[name] for name in names):
        values = outputs(runs, declared, of)
        for way in ways(sweep, drawn):
            if way.points[0] in values:
                analyses.append(_analysis(runs, drawn, way, declared, of, np.array([values[id] for id in way.points])))
    return analyses


def _analysis(runs: RunSet, drawn: Drawn, way: Way, measure: Measure, of: Of, values: np.ndarray) -> Analysis:
    paths = tuple(drawn.axes[k].path for k in way.axes)
    try:
        estimates = _found(drawn, values, np.array(way.axes))
    except InputError as wrong:
        raise InputError(at(at(runs.plan.sweep.where, measure.name), at(way.name, str(wrong)))) from None
    return Analysis(way.name, measure, of, paths, way.points[0], len(values), len(runs.seeds), estimates)


def _found(drawn: Drawn, values: np.ndarray, kept: np.ndarray) -> Indices | Effects:
    """Return the indices or effects of the ranges that the way has; the others change nothing in it."""
    design = drawn.design
    if isinstance(design, Morris):
        ranks = design.ranks(drawn.axes)
        places = [
            [axis.share_of(axis.at_share(rank)) for axis, rank in zip(drawn.axes, row, strict=True)] for row in ranks
        ]
        effects = elementary_effects(values, ranks, design.levels, shares=np.array(places), seed=design.seed)
        size = type(effects.mean_size)(*(side[kept] for side in effects.mean_size))
        return Effects(size, effects.mean[kept], effects.spread[kept])
    assert isinstance(design, Saltelli)
    every = sobol_indices(values, len(drawn.axes), second_order=design.second_order, seed=design.seed)
    first, total = (type(part)(*(side[kept] for side in part)) for part in (every.first, every.total))
    second = every.second and type(every.second)(*(side[np.ix_(kept, kept)] for side in every.second))
    return Indices(first, total, second)
