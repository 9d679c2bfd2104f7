"""A tuning study, watched while it is tuned and judged when it is done.

Its front over parallel axes, how its best grew, and shares of its levers.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import ipywidgets as widgets
import numpy as np

from workbench.dashboards._background import Later, has_loop
from workbench.dashboards._canvas import PickingWidget, PointsPanel, script
from workbench.dashboards._elements import small_print
from workbench.experiments.results_folder import is_held
from workbench.metrics.measure import Measure
from workbench.tuning import StudyResults, open_study
from workbench.tuning.importances import INERT
from workbench.tuning.parallel_coordinates import ParallelAxis, parallel_axes
from workbench.tuning.storages import JOURNAL
from workbench.tuning.study import Trial

LOOK_SECONDS = 2.0
"""How often a study that is tuned just now is looked at."""
LEVERS = "importances.csv"
"""What a study that is done keeps of its levers' shares."""
MOST_LEVERS = 10


class Shares(NamedTuple):
    """What the levers of a study share in one goal."""

    title: str
    rows: Sequence[tuple[str, float]]
    floor: float
    """What a lever that changes nothing reaches."""


class Growth(NamedTuple):
    """How the best of a study grew, trial by trial."""

    title: str
    label: str
    values: Sequence[float]
    trials: int
    """How many there are to be."""


class StudyView:
    """Shows a study: its front in two of its measures, over parallel axes, its history, the shares of its levers."""

    def __init__(self, folder: Path, on_pick: Callable[[str], None]) -> None:
        """Tell `on_pick` the id of the point of a trial that is clicked."""
        self._folder, self._on_pick = folder, on_pick
        self._size = -1
        self.results: StudyResults = open_study(folder)
        self._measures = _measures(self.results)
        names = [one.name for one in self._measures]
        self.across = widgets.Dropdown(options=names, value=names[0], description="across")
        self.upward = widgets.Dropdown(options=names, value=names[min(1, len(names) - 1)], description="upward")
        self.shares = _shares_of(folder)
        self.goal = widgets.Dropdown(options=list(self.shares) or ["-"], description="levers for")
        self.progress, self.note = widgets.HTML(), widgets.HTML()
        self.points, self.panel = PointsPanel(self.pick), StudyPanel(self.pick)
        for one in (self.across, self.upward, self.goal):
            one.observe(lambda _change: self.draw(), "value")
        chosen = [self.across, self.upward] if len(names) > 1 else []
        self._rows = [widgets.HBox(chosen), self.points] if len(names) > 1 else []
        rest = [self.goal] if self.shares else []
        self.widget = widgets.VBox([self.progress, *self._rows, self.note, *rest, self.panel])
        self.widget.add_class("wb-study")
        self.chosen = 0
        self._look = Later(self.look)
        self.draw()
        self._look_again()

    @property
    def is_tuned_now(self) -> bool:
        """Return whether a driver tunes the study at this moment."""
        return is_held(self._folder)

    def look(self) -> None:
        """Show what came since the last look, and look again while the study is tuned."""
        size = (self._folder / JOURNAL).stat().st_size
        if size != self._size:
            self._size = size
            self.results = open_study(self._folder)
            self.shares = _shares_of(self._folder)
            self.draw()
        self._look_again()

    def _look_again(self) -> None:
        if self.is_tuned_now and has_loop():
            self._look.start(LOOK_SECONDS)

    def stop(self) -> None:
        """Look no more."""
        self._look.cancel()

    def pick(self, place: int) -> None:
        """Choose a point of the front, as a click does."""
        self.choose(place)
        self._on_pick(self.results.best_trials[place].point)

    def choose_point(self, point: str) -> None:
        """Show the point of an id as the chosen one, if it is on the front."""
        place = next((k for k, trial in enumerate(self.results.best_trials) if trial.point == point), None)
        if place is not None:
            self.choose(place)

    def choose(self, place: int) -> None:
        """Show a point of the front as the chosen one."""
        self.chosen = place
        self.points.choose(place)
        self.panel.choose(place)

    def draw(self) -> None:
        """Draw all of it."""
        self.progress.value = small_print(_counted(self.results, self.is_tuned_now))
        self._draw_points()
        goal = str(self.goal.value)
        rows, floor = self.shares.get(goal, ([], 0.0))
        order = [lever for lever, _ in self.shares.get(goal, ([], 0.0))[0]]
        names = [trial.name for trial in self.results.best_trials]
        title = f"Which levers matter: shares in {goal.replace('_', ' ')} (PED-ANOVA)"
        shares = Shares(title, rows[:MOST_LEVERS], floor)
        self.panel.show(parallel_axes(self.results, order), names, _growth(self.results), shares, self.chosen)

    def _draw_points(self) -> None:
        front = self.results.best_trials
        if len(self._measures) < 2 or not front:
            return
        measures = [next(one for one in self._measures if one.name == box.value) for box in (self.across, self.upward)]
        places, note = self._places(measures)
        others = [one for one in self.results.all_trials if one.values is not None and one not in front]
        pale, before = (
            [[_values(self.results, trial)[one.name] for one in measures] for trial in trials]
            for trials in (others, front if self.results.holdout is not None else ())
        )
        names, labels = [trial.name for trial in front], [one.label for one in measures]
        self.points.show(labels, places, names, self.chosen, pale, before, self._held(measures))
        self.note.value = small_print(note)

    def _held(self, measures: list[Measure]) -> list[list[float]]:
        """Return the places of the baselines on fresh seeds, of measures that are objectives."""
        objectives = {one.measure.name: one for one in self.results.study.objectives}
        if self.results.holdout is None or not all(one.name in objectives for one in measures):
            return []
        front = self.results.front
        own = {point.id for point in front.points}
        held = [point for point in front.first_points if point.id not in own]
        return [[front.interval(point, objectives[one.name]).mean for one in measures] for point in held]

    def _places(self, measures: list[Measure]) -> tuple[list[list[float]], str]:
        """Return the points of the front, on fresh seeds where they were run there, and the note on them."""
        grey = "gray: every other trial, on the seeds that it was tuned on"
        if self.results.holdout is None:
            values = [_values(self.results, trial) for trial in self.results.best_trials]
            return [[one[measure.name] for measure in measures] for one in values], f"Dots: the front so far; {grey}."
        table = self.results.pareto
        places = table[[one.name for one in measures]].to_numpy(float).tolist()
        recommended = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in self.results.to_take]
        rest = " ".join(["", *self.results.trades, *recommended])
        fresh = "Dots: the front, on seeds that no trial has seen; each arrow begins at the seeds of the study"
        return places, f"{fresh}; {grey}.{rest}"


def _measures(results: StudyResults) -> list[Measure]:
    """Return the measures of which a point of the study has a mean: its objectives, then what its constraints bound."""
    measures = [*(one.measure for one in results.study.objectives), *(one.measure for one in results.study.constraints)]
    return list({one.name: one for one in measures}.values())


def _values(results: StudyResults, trial: Trial) -> dict[str, float]:
    """Return the means of a trial by measure, on the study's own seeds."""
    bounded = {one.measure.name: value for one, value in zip(results.study.constraints, trial.limits, strict=False)}
    objectives = (one.measure.name for one in results.study.objectives)
    return {**bounded, **dict(zip(objectives, trial.values or (), strict=False))}


def _growth(results: StudyResults) -> Growth:
    """Return the growth of the best: the hypervolume so far, or with one objective its best value so far."""
    objectives, costs = results.study.objectives, results.costs()
    trials = max(results.study.trials, len(costs))
    if len(objectives) > 1:
        shares = 100 * results.history.shares if len(costs) else np.empty(0)
        return Growth("How fast the front was found", "hypervolume (%)", shares.tolist(), trials)
    sign = 1.0 if objectives[0].direction == "minimize" else -1.0
    best = np.minimum.accumulate([math.inf if one is None else one[0] for one in costs]) if costs else np.empty(0)
    name = objectives[0].measure.label
    return Growth(f"The best {name} so far", name, (sign * best).tolist(), trials)


def _shares_of(folder: Path) -> dict[str, tuple[list[tuple[str, float]], float]]:
    """Return, by goal, the share of each lever, the largest first, and what noise alone reaches; empty until the study
    is done."""
    if not (folder / LEVERS).is_file():
        return {}
    with (folder / LEVERS).open(newline="") as file:
        rows = list(csv.DictReader(file))
    goals = [name for name in (rows[0] if rows else {}) if name != "lever"]
    return {goal: _of_goal(rows, goal) for goal in goals}


def _of_goal(rows: list[dict[str, str]], goal: str) -> tuple[list[tuple[str, float]], float]:
    shares = {row["lever"]: float(row[goal] or 0) for row in rows}
    floor = shares.pop(INERT, 0.0)
    return sorted(shares.items(), key=lambda one: -one[1]), floor


def _counted(results: StudyResults, is_tuned_now: bool) -> str:
    """Return the progress of the study, in words."""
    trials = max(results.study.trials, len(results.all_trials))
    further = {"failed": len(results.failures), "given up": len(results.pruned)}
    words = "".join(f", {count} {word}" for word, count in further.items() if count)
    rest = "; it is tuned just now, and this page follows" if is_tuned_now else ""
    return f"{len(results.all_trials)} of {trials} trials{words}, {len(results.best_trials)} on the front{rest}."


class StudyPanel(PickingWidget):
    """Draws a study; a click on a line chooses its point."""

    _esm = script("study.js")

    def show(
        self, axes: Sequence[ParallelAxis], names: Sequence[str], growth: Growth, shares: Shares, chosen: int
    ) -> None:
        """Show the front, the history and the shares, each left out where there is nothing of the kind."""
        self.put(
            {
                "parallel": {"axes": [_plain(axis) for axis in axes], "names": list(names)},
                "history": {**growth._asdict(), "values": [_finite(value) for value in growth.values]},
                "shares": {
                    "title": shares.title,
                    "floor": shares.floor,
                    "rows": [{"lever": lever, "share": share} for lever, share in shares.rows],
                },
                "chosen": chosen,
            }
        )

    def choose(self, place: int) -> None:
        """Draw another line on top."""
        if self.scene and self.scene["chosen"] != place:
            self.put({**self.scene, "chosen": place})


def _plain(axis: ParallelAxis) -> dict[str, Any]:
    labels = {"name": axis.name, "ends": list(axis.range_labels), "words": list(axis.labels)}
    return {**labels, "at": [_finite(position) for position in axis.positions]}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
