"""The analysis of a sensitivity study, one a way to run, and its tables: a row a lever, a row a pair.

A way to run is everything but the ranges: a policy, a workload by name. The output of a point is the mean of a measure
over the seeds, or of what it gains on its baseline at the same seeds. Where intervals are wider than effects, a study
could not decide on a lever, and the table says how many samples would do.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from workbench.digests import canonical
from workbench.errors import InputError, at, unknown_name
from workbench.experiments.choices import Point, expand
from workbench.experiments.coordinates import FileNames
from workbench.experiments.designs import Drawn, Morris, Saltelli, draw, with_choices
from workbench.experiments.designs.draw import ZIP
from workbench.experiments.results import Results
from workbench.experiments.saved_results import named
from workbench.experiments.setups import read_setup
from workbench.experiments.sweep import Sweep
from workbench.explain.sensitivity.estimates import Effects, Estimates, Indices, elementary_effects, sobol_indices
from workbench.metrics.measure import Measure
from workbench.runs.run import PlannedPoint, point_id, run_id

if TYPE_CHECKING:
    import pandas as pd


class Sensitivity:
    """What the measures of a study depend on."""

    def __init__(self, results: Results, analysis: list[Analysis]) -> None:
        self.results = results
        """The runs behind it, as of any sweep."""
        self.analyses = analysis
        """One analysis a measure and way to run."""

    @functools.cached_property
    def table(self) -> pd.DataFrame:
        """Return one row a lever: way, measure, of, lever, and

        - of `saltelli`: first, first_low, first_high, total, total_low, total_high, shares of the variance;
        - of `morris`: mean_size, mean_size_low, mean_size_high, mean, spread, in the measure's unit.
        """
        import pandas as pd

        return pd.DataFrame([row for one in self.analyses for row in _levers(one)])

    @functools.cached_property
    def pairs(self) -> pd.DataFrame:
        """Return one row a pair of levers: way, measure, of, lever, with, second, second_low, second_high; empty where
        pairs were not estimated."""
        import pandas as pd

        columns = ["way", "measure", "of", "lever", "with", "second", "second_low", "second_high"]
        return pd.DataFrame([row for one in self.analyses for row in _pairs(one)], columns=columns)

    @functools.cached_property
    def undecided(self) -> list[str]:
        """Return a sentence a lever whose interval is wider than its effect, with the samples to raise the design
        to."""
        design = check(self.results.plan.sweep).design
        assert isinstance(design, (Saltelli, Morris))
        return [sentence for one in self.analyses for sentence in undecided(one, design)]


def _levers(one: Analysis) -> Iterator[dict[str, Any]]:
    for k, path in enumerate(one.paths):
        row = {**_head(one), "lever": path}
        if isinstance(one.estimates, Effects):
            effects = one.estimates
            yield {
                **row,
                **_sides("mean_size", effects.mean_size, k),
                "mean": float(effects.mean[k]),
                "spread": float(effects.spread[k]),
            }
        else:
            yield {**row, **_sides("first", one.estimates.first, k), **_sides("total", one.estimates.total, k)}


def _pairs(one: Analysis) -> Iterator[dict[str, Any]]:
    second = None if isinstance(one.estimates, Effects) else one.estimates.second
    if second is not None:
        for i, j in itertools.combinations(range(len(one.paths)), 2):
            yield {**_head(one), "lever": one.paths[i], "with": one.paths[j], **_sides("second", second, (i, j))}


def _head(one: Analysis) -> dict[str, Any]:
    return {"way": one.way, "measure": one.measure.name, "of": one.of}


def _sides(name: str, estimates: Estimates, place: Any) -> dict[str, float]:
    return {
        name: float(estimates.value[place]),
        f"{name}_low": float(estimates.low[place]),
        f"{name}_high": float(estimates.high[place]),
    }


Of = Literal["mean", "gain"]


class Analysis(NamedTuple):
    """What one measure of one way to run depends on."""

    way: str
    """Which policies and settings, where the sweep has several."""
    measure: Measure
    of: Of
    """Whether the measure itself was analyzed, or what it gains on the baseline."""
    paths: tuple[str, ...]
    """The dotted path of each lever, in the order of the sweep."""
    point: str
    """The id of one of the points."""
    rows: int
    """Rows of the design, equal ones included."""
    seeds: int
    """What each output is a mean of."""
    estimates: Indices | Effects


def check(sweep: Sweep, measure: str | None = None, of: str = "mean") -> Drawn:
    """Refuse, before anything runs, a sweep that could not be analyzed; return what its design draws.

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
    if of == "gain" and not sweep.config.get("baseline"):
        raise InputError(at(sweep.where, "sensitivity of a gain needs a baseline, such as {placement: first_fit}."))
    return drawn


def analyse(runs: Results, measure: str | None = None, of: Of = "mean") -> list[Analysis]:
    """Analyze every measure of the sweep, or one, of every way to run.

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


def _analysis(runs: Results, drawn: Drawn, way: Way, measure: Measure, of: Of, values: np.ndarray) -> Analysis:
    paths = tuple(drawn.axes[k].path for k in way.axes)
    try:
        estimates = _indices_or_effects(drawn, values, np.array(way.axes))
    except InputError as wrong:
        raise InputError(at(at(runs.plan.sweep.where, measure.name), at(way.name, str(wrong)))) from None
    return Analysis(way.name, measure, of, paths, way.points[0], len(values), len(runs.seeds), estimates)


def _indices_or_effects(drawn: Drawn, values: np.ndarray, kept: np.ndarray) -> Indices | Effects:
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


SMALL = 0.05
"""Of all variance, or of the largest effect: an interval no wider than this decides that a lever matters little."""


def samples_needed(value: float, low: float, high: float, samples: int, small: float) -> int | None:
    """Return the number of samples that would make an interval no wider than its effect, None where these do.

    The width of an interval falls with the square root of the samples. As the effect is an estimate too, a study near
    the limit may have to be raised twice.

    Parameters
    ----------
    value, low, high : float
        The estimate and the limits of its interval, in any one unit.
    samples : int
        Pairs or walks behind it.
    small : float
        The width that is enough however small the effect, in the same unit, above 0.

    Examples
    --------
    >>> samples_needed(0.5, 0.4, 0.6, 64, small=0.05)
    >>> samples_needed(0.1, -0.1, 0.3, 64, small=0.05)
    1024
    """
    ratio = (high - low) / max(abs(value), small)
    return math.ceil(samples * ratio**2 * (1 - 1e-9)) if ratio > 1 else None


def undecided(one: Analysis, design: Saltelli | Morris) -> Iterator[str]:
    """Yield a sentence a lever whose interval is wider than its effect, with the samples to raise the design to.

    Parameters
    ----------
    one : Analysis
        Of one measure and way to run.
    design : Saltelli or Morris
        What its runs were drawn by; the sentence names its lever (`base`, a power of two, or `trajectories`).
    """
    for k, path in enumerate(one.paths):
        needed = [(name, number) for name, number in _needed(one, design, k) if number is not None]
        if needed:
            most = max(number for _, number in needed)
            names = " and ".join(name for name, _ in needed)
            where = f"{one.way}: " if one.way else ""
            subject = f"{where}{one.measure.name}: {names} of {path}"
            yield f"{subject}: undecided, raise the samples to {_written(design, most)}"


def _needed(one: Analysis, design: Saltelli | Morris, k: int) -> Iterator[tuple[str, int | None]]:
    samples = design.base if isinstance(design, Saltelli) else design.trajectories
    for name, estimates, small in _estimates(one):
        value, low, high = (float(side[k]) for side in estimates)
        yield name, samples_needed(value, low, high, samples, small)


def _estimates(one: Analysis) -> Iterator[tuple[str, Estimates, float]]:
    if isinstance(one.estimates, Effects):
        yield "mean_size", one.estimates.mean_size, SMALL * float(np.max(one.estimates.mean_size.value))
    else:
        yield "first", one.estimates.first, SMALL
        yield "total", one.estimates.total, SMALL


def _written(design: Saltelli | Morris, samples: int) -> str:
    if isinstance(design, Saltelli):
        return f"base: {1 << (samples - 1).bit_length()}"
    return f"trajectories: {samples}"


def outputs(runs: Results, measure: Measure, of: Of) -> dict[str, float]:
    """Return the output of every point by its id; with `gain`, of those that have a baseline.

    All points share their seeds, so an output is a function of the levers alone.

    Raises
    ------
    InputError
        A run is missing, failed, or has no finite value.
    """
    means = {point.id: _values(runs, point, measure) for point in runs.points}
    if of == "mean":
        return {id: math.fsum(values) / len(values) for id, values in means.items()}
    sign = -1.0 if measure.better == "higher" else 1.0
    compared = {point.id: str(point.baseline) for point in runs.points if point.baseline is not None}
    gains = {id: [a - b for a, b in zip(means[first], means[id], strict=True)] for id, first in compared.items()}
    return {id: sign * (math.fsum(values) / len(values)) for id, values in gains.items()}


def _values(runs: Results, point: PlannedPoint, measure: Measure) -> list[float]:
    """Return the measure at every seed, in their order."""
    by_seed = runs.values(point, measure.name)
    for seed in runs.seeds:
        if not math.isfinite(by_seed.get(seed, math.nan)):
            raise InputError(
                f"sensitivity needs a finite {measure.name} of every run: {_why(runs, point, seed, by_seed)}"
            )
    return [by_seed[seed] for seed in runs.seeds]


def _why(runs: Results, point: PlannedPoint, seed: int, by_seed: dict[int, float]) -> str:
    row = runs.rows.get(run_id(point.id, seed))
    place = ", ".join(f"{path} = {value}" for path, value in point.coordinates.items())
    where = f"seed {seed} where {place}" if place else f"seed {seed}"
    if row is None:
        return f"{where} has not been run."
    return f"{where} failed: {row.error}" if row.status != "done" else f"{where} gave {by_seed[seed]:g}."


class Way(NamedTuple):
    """The points of one way to run, in the order of the design."""

    name: str
    """The choices that are no ranges; empty where there is one way alone."""
    axes: tuple[int, ...]
    """The places, among those of the design, of the ranges that this way has."""
    points: list[str]
    """The id of the point of each row of the design; equal rows have the same."""


def ways(sweep: Sweep, drawn: Drawn) -> list[Way]:
    """Return every way to run that has a range, in the order of the sweep."""
    result: dict[str, tuple[dict[str, Any], set[str], dict[int, str]]] = {}
    paths, varied = {axis.path for axis in drawn.axes}, with_choices(sweep)
    names = FileNames(varied, sweep.folder)
    for alternative in expand(varied, "", sweep.where, names):
        if ZIP in alternative.steps:
            chosen = _chosen(alternative, paths, names)
            _, ranged, ids = result.setdefault(canonical(chosen), (chosen, set(), {}))
            ranged |= paths & alternative.coordinates.keys()
            setup = read_setup(sweep, alternative.value)
            ids[alternative.steps[ZIP]] = point_id(setup.identity(), sweep.mechanism.revision)
    place = {repr(row): k for k, row in enumerate(drawn.different)}
    rows = [place[repr(row)] for row in drawn.rows]
    return [
        Way(_name(chosen), tuple(k for k, axis in enumerate(drawn.axes) if axis.path in ranged), [ids[k] for k in rows])
        for chosen, ranged, ids in result.values()
    ]


def _chosen(alternative: Point, ranges: set[str], names: FileNames) -> dict[str, Any]:
    """Return the choices that were not drawn, by path, the values of ranges within them left out."""
    others = {path: value for path, value in alternative.coordinates.items() if path not in ranges}
    return {path: _without(names.shown(named(value), path), path, ranges) for path, value in others.items()}


def _without(node: Any, path: str, ranges: set[str]) -> Any:
    if isinstance(node, Mapping):
        kept = {key: value for key, value in node.items() if f"{path}.{key}" not in ranges}
        return {key: _without(value, f"{path}.{key}", ranges) for key, value in kept.items()}
    if isinstance(node, list):
        kept_at = [(k, value) for k, value in enumerate(node) if f"{path}[{k}]" not in ranges]
        return [_without(value, f"{path}[{k}]", ranges) for k, value in kept_at]
    return node


def _name(chosen: Mapping[str, Any]) -> str:
    """Return the outermost choices as a legend says them."""
    outermost = [p for p in chosen if not any(p != q and p.startswith((f"{q}.", f"{q}[")) for q in chosen)]
    return ", ".join(_value_text(path, chosen[path]) for path in outermost)


def _value_text(path: str, value: Any) -> str:
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, inside),) = value.items()
        return f"{name}({_inside(inside)})" if inside else str(name)
    if isinstance(value, str):
        return value
    last = path.rsplit(".", 1)[-1].replace("_", " ")
    return f"{last} {_inside(value)}"


def _inside(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={_inside(inner)}" for key, inner in value.items())
    return ", ".join(map(_inside, value)) if isinstance(value, list) else str(value)
