"""Figures of a tuning study: its front, how fast that was reached, and which levers matter.

The front is of every trial, and of the best of them once more on fresh seeds; the hypervolume after each trial is a
share of the final one; importances are shares in what makes trials good, a panel a goal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.figures._pareto import Cloud, Pareto, cloud_of
from workbench.figures.estimates import Means, means_of, rests_on, without_limits
from workbench.figures.figure_files import Column
from workbench.figures.labels import measure_label
from workbench.figures.registry import OfStudy, on_paper
from workbench.metrics.measure import Measure
from workbench.tuning.importances import INERT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from workbench.tuning.results import StudyResults


ENOUGH = 0.95
MOST_KEYS = 16
"""Trials that the key of the front names; the CSV names all."""
MOST_LEVERS = 8
"""Shown in each panel; the CSV has all."""


class StudyFront(NamedTuple):
    """Two objectives of every trial, and those of the front once more on fresh seeds, with its baseline."""

    x: Measure
    y: Measure
    shade: Measure | None
    """A third objective, told by the color."""
    tuned: Cloud
    """Every trial, on the seeds of the study."""
    fresh: Cloud
    """The front and its baseline, on the hold-out seeds."""
    keys: dict[str, str]
    """The name of each trial of the front, and what it chose."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a trial and kind of seeds; names are the same in both."""
        columns = Pareto(self.x, self.y, (self.tuned, self.fresh), self.shade).columns()
        return {**columns, "chosen": [self.keys.get(name, "") for name in np.asarray(columns["point"]).tolist()]}


def study_front_data(results: StudyResults) -> StudyFront | None:
    """Compute every trial on the seeds of the study, and the front and its baseline on the hold-out seeds.

    The axes are the first two objectives, and a third is the color. A trial that tried what an earlier one had tried is
    not shown again, nor one that breaks a constraint. None for a study of one objective, or without a front.
    """
    if len(results.study.objectives) < 2 or results.holdout is None:
        return None
    x, y, *more = (one.measure._replace(better=one.better) for one in results.study.objectives[:3])
    keys = {trial.name: _chosen(trial.proposal.chosen) for trial in results.front.trials}
    return StudyFront(x, y, more[0] if more else None, _trials(results, x, y), _fresh(results, x, y), keys)


def _trials(results: StudyResults, *measures: Measure) -> Cloud:
    different = {trial.point: trial for trial in reversed(results.found) if trial.feasible(results.study.constraints)}
    first = sorted(different.values(), key=lambda trial: trial.number)
    values = np.array([trial.values for trial in first], float).reshape(-1, len(results.study.objectives)).T
    sides = [without_limits(side) for side in values[:2]]
    names = [trial.name for trial in first]
    cloud = cloud_of("trials on the seeds of the study", names, np.zeros(len(first), int), sides, measures)
    return cloud._replace(shade=values[2] if len(values) > 2 else None)


def _fresh(results: StudyResults, *measures: Measure) -> Cloud:
    points, baselines = results.front.first_points, _baselines(results)
    names = {point.id: trial.name for point, trial in zip(results.front.points, results.front.trials, strict=True)}
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


@on_paper
def draw_study_front(data: StudyFront) -> Figure:
    """Draw an arrow from where each trial of the front lay on the seeds of the study to where it lies on fresh ones.

    All other trials are small and gray. A trial has its number next to its dot, and the key gives its choices; the
    baselines are diamonds. A third objective is the color of the dots.
    """
    from workbench.figures import frame, marks, plot_style
    from workbench.figures._point_names import Names, name_all

    sheet, (axes,) = plot_style.stacked(1, 2.6)
    tones, tuned, fresh = plot_style.palette(), data.tuned, data.fresh
    shades = [one.shade for one in (tuned, fresh) if one.shade is not None]
    tints = marks.scale(shades) if len(shades) == 2 else None
    tint = None if tints is None else np.asarray(tints.to_rgba(shades[-1]))
    held = np.zeros(len(fresh.names), bool) if fresh.baseline is None else fresh.baseline
    front = np.array([name in data.keys for name in tuned.names], bool)
    axes.scatter(tuned.x.mean[~front], tuned.y.mean[~front], s=4, c=tones.quiet, label="other trial, tuning seeds")
    ring: dict[str, Any] = {"c": tones.paper, "edgecolors": tones.ink, "linewidths": 0.6, "zorder": 2}
    axes.scatter(tuned.x.mean[front], tuned.y.mean[front], s=9, label="trial of the front, tuning seeds", **ring)
    for k, j in _arrows(data):
        ends = (fresh.x.mean[j], fresh.y.mean[j]), (tuned.x.mean[k], tuned.y.mean[k])
        marks.arrow(axes, *ends)
    x, y, kept = _of(fresh.x, ~held), _of(fresh.y, ~held), np.ones(int((~held).sum()), bool)
    marks.points(axes, x, y, kept, tint=None if tint is None else tint[~held])
    marks.diamonds(axes, fresh.x.mean[held], fresh.y.mean[held], None if tint is None else tint[held])
    axes.scatter([], [], s=14, c=tones.better, edgecolors=tones.ink, linewidths=0.7, label="the same, fresh seeds")
    if held.any():
        axes.scatter([], [], s=30, marker="D", c=tones.ink, label="baseline, fresh seeds")
    axes.margins(0.1)
    rest = max(len(data.keys) - MOST_KEYS, 0)
    note = rests_on([int(n) for n in fresh.n]).replace("seeds", "fresh seeds") if len(fresh.n) else ""
    note += f"; not defined: {', '.join(fresh.without)}" if fresh.without else ""
    note += f"; {rest} more trials of the front are named in the CSV" if rest else ""
    frame.name_sides([axes], measure_label(data.x), measure_label(data.y), note)
    if tints is not None and data.shade is not None:
        frame.colour_bar([axes], tints, measure_label(data.shade))
    frame.legend(sheet, [axes], {_number(name): chosen for name, chosen in [*data.keys.items()][:MOST_KEYS]})
    places = np.column_stack(
        [np.concatenate([fresh.x.mean, tuned.x.mean[front]]), np.concatenate([fresh.y.mean, tuned.y.mean[front]])]
    )
    name_all(sheet, [Names(axes, places, {k: _number(name) for k, name in enumerate(fresh.names)}, every=False)])
    return sheet


def _number(name: str) -> str:
    """Return the label of a dot: the number of a trial, or the whole of another name."""
    return name.removeprefix("trial ")


def _arrows(data: StudyFront) -> list[tuple[int, int]]:
    """Return, of each trial that has values on both kinds of seeds, its places in the two clouds."""
    place = {name: k for k, name in enumerate(data.tuned.names)}
    return [(place[name], j) for j, name in enumerate(data.fresh.names) if name in place]


def _of(side: Means, kept: np.ndarray) -> Means:
    return Means(*(values[kept] for values in side))


def _chosen(chosen: Mapping[str, Any]) -> str:
    """Return the choices of a trial, as a policy is written: levers in brackets behind the choice that has them.

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


def _baselines(results: StudyResults) -> dict[str, str]:
    """Return the names of the baselines of the points of the front, by id."""
    assert results.holdout is not None
    own = {point.id for point in results.front.points}
    return {point.id: results.front.name(point) for point in results.front.first_points if point.id not in own}


PARETO_FIGURE = OfStudy(
    "pareto",
    "Two objectives of every trial, with arrows from the front to its values on fresh seeds, and its baseline.",
    study_front_data,
    draw_study_front,
)


class HypervolumeHistory(NamedTuple):
    """What is drawn."""

    sampler: str
    volumes: np.ndarray
    """float64[trials], the hypervolume so far, in the product of the objectives' units."""
    shares: np.ndarray
    """float64[trials], of the final one."""
    enough: int | None
    """After how many trials 95 % of the final hypervolume was reached."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a trial."""
        return {"trials": np.arange(1, len(self.shares) + 1), "hypervolume": self.volumes, "share": self.shares}


def hypervolume_history_data(results: StudyResults) -> HypervolumeHistory | None:
    """Compute the hypervolume on the study's own seeds; None where no trial counts."""
    history = results.history
    if not len(history.volumes) or not history.volumes[-1] > 0:
        return None
    return HypervolumeHistory(results.study.sampler.name, history.volumes, history.shares, history.trials_to(ENOUGH))


@on_paper
def draw_hypervolume_history(data: HypervolumeHistory) -> Figure:
    """Draw a line in steps, with the place where 95 % is reached."""
    from workbench.figures import frame, plot_style

    sheet, (axes,) = plot_style.stacked(1, 1.7)
    trials = np.arange(1, len(data.shares) + 1)
    axes.step(trials, 100 * data.shares, where="post", color=plot_style.palette().better)
    if data.enough is not None:
        axes.axhline(100 * ENOUGH, color=plot_style.palette().quiet, linewidth=0.7, zorder=1)
        axes.plot([data.enough], [100 * data.shares[data.enough - 1]], "o", color=plot_style.palette().ink, zorder=3)
        right = data.enough < 0.6 * len(trials)
        axes.annotate(
            f"95 % after {data.enough} trials",
            (data.enough, 100 * ENOUGH),
            (5 if right else -5, -9),
            textcoords="offset points",
            ha="left" if right else "right",
            va="top",
        )
    axes.set_xlim(1, max(len(trials), 2))
    axes.set_ylim(0, 104)
    frame.title(axes, f"sampler {data.sampler}")
    frame.name_sides([axes], "trials", "hypervolume (% of the final one)")
    return sheet


HYPERVOLUME_HISTORY_FIGURE = OfStudy(
    "hypervolume_history",
    "The hypervolume of the front after each trial, as a share of the final one.",
    hypervolume_history_data,
    draw_hypervolume_history,
)


class LeverImportances(NamedTuple):
    """What is drawn."""

    levers: tuple[str, ...]
    """The dotted path of every tuned lever."""
    goals: tuple[str, ...]
    """The front, and each objective."""
    shares: np.ndarray
    """float64[goals, levers]; those of the levers add up to 1, that of the inert one is what noise alone reaches."""
    trials: int
    """How many trials they rest on."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a lever."""
        return {"lever": list(self.levers), **dict(zip(self.goals, self.shares, strict=True))}


def lever_importances_data(results: StudyResults) -> LeverImportances | None:
    """Compute the shares by PED-ANOVA; None where too few trials are done."""
    table = results.importances
    if not len(table):
        return None
    goals = tuple(name for name in table.columns if name != "lever")
    kept = results.study.constraints
    done = sum(trial.values is not None and trial.feasible(kept) for trial in results.found)
    return LeverImportances(tuple(table["lever"]), goals, table[list(goals)].to_numpy().T, done)


@on_paper
def draw_lever_importances(data: LeverImportances) -> Figure:
    """Draw bars, the longest on top."""
    from workbench.figures import frame, plot_style

    rows = min(len(data.levers), MOST_LEVERS)
    sheet, panels = plot_style.stacked(len(data.goals), 0.35 + 0.15 * rows, share_x=True)
    for axes, goal, shares in zip(panels, data.goals, data.shares, strict=True):
        order = np.argsort(-shares, kind="stable")[:rows]
        place = np.arange(rows)[::-1]
        axes.barh(
            place,
            100 * shares[order],
            0.7,
            color=plot_style.palette().better,
            edgecolor=plot_style.palette().ink,
            linewidth=0.4,
        )
        axes.axvline(
            100 * shares[data.levers.index(INERT)], color=plot_style.palette().ink, linewidth=0.6, linestyle=":"
        )
        axes.set_yticks(place, [short_path(data.levers[k]) for k in order])
        axes.tick_params(axis="y", length=0)
        frame.title(axes, goal if goal != "front" else "reaching the front")
    more = f"; {len(data.levers) - rows} more levers each" if len(data.levers) > rows else ""
    frame.name_sides(
        panels,
        "share in what makes a trial good (%)",
        "",
        f"PED-ANOVA over {data.trials} trials{more}; dotted: noise alone",
    )
    return sheet


def short_path(path: str) -> str:
    """Return a lever as a figure names it: without the package, and at most its slot, its policy and itself.

    >>> short_path("policy.choice.weighted_choice.choices[1].least_recent_energy.nx"), short_path("policy.placement")
    ('choice: least recent energy: nx', 'placement')
    """
    if path == INERT:
        return path
    parts = path.split(".")[1:]
    kept = parts if len(parts) <= 2 else [parts[0], *parts[-2:]]
    return ": ".join(part.replace("_", " ") for part in kept)


LEVER_IMPORTANCES_FIGURE = OfStudy(
    "lever_importances",
    "The share of each lever in what makes trials good, for the front and for each objective.",
    lever_importances_data,
    draw_lever_importances,
)
