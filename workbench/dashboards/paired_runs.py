"""A dashboard's question and its runs: what a page opens with, runs seed by seed, and is saved as.

An opening is an engine, its first question, its panels. A page can be opened with a sweep file, a results folder or the
front of a tuning study. Runs are done seed by seed, so that a few are there at once and the rest follows. The setting
is saved as a sweep file; where a notebook is run without anybody before it, a picture stands in the dashboard's place.
"""

from __future__ import annotations

import base64
import csv
import io
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import ipywidgets as widgets
import numpy as np
from ipywidgets import Widget

from workbench.dashboards.elements import alert, button, escaped
from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, StoreError, WorkbenchError
from workbench.experiments.mechanism import warm_up
from workbench.experiments.notebooks.execution import STILL
from workbench.experiments.plan import Plan, PlannedPoint, PlannedRun, make_plan, plan_different_runs, with_preset
from workbench.experiments.results_folder import write_whole
from workbench.experiments.run_set import RunSet, open_folder
from workbench.experiments.store import Row
from workbench.experiments.sweep import read_sweep
from workbench.experiments.worker import work
from workbench.figures.panels import LineNames
from workbench.levers import Spec
from workbench.strict_yaml import read_mapping
from workbench.studies.tuning import open_study
from workbench.studies.tuning.holdout import front_sweep
from workbench.studies.tuning.storages import JOURNAL
from workbench.workloads.workload import Workload

if TYPE_CHECKING:
    from workbench.dashboards.sidebar import Sidebar


class Opening(NamedTuple):
    """An engine, and what a dashboard of it asks before anything was turned."""

    engine: str
    title: str
    """The heading of the page."""
    seen: str
    """What one sees, in a sentence."""
    machine: Mapping[str, Any]
    """As a sweep says it: a preset, or the levers of a rule; it differs from a preset in `machine_levers` alone."""
    machine_levers: Sequence[str]
    """The levers of the machine that can be turned."""
    machine_line: Callable[[Any], str]
    """What the machine has, in a line below them."""
    regime: str
    length: int | Mapping[str, Any]
    """The length of every regime's queues here, or levers that bound it where a regime has them, so that a run is done
    within a move."""
    baseline: Mapping[str, Any]
    """The policy of each slot, where it is not the engine's default."""
    other: Mapping[str, Any]
    """The policies of the other side, where they are not the baseline's."""
    compared: Sequence[str]
    """The slots in which the two sides may differ."""
    options: Mapping[str, Any]
    """Levers of the engine that are not at their defaults."""
    seeds: int
    measure: str
    """What is compared seed by seed: what the first claim of the specification names first, at a length of queue at
    which the default seeds decide it."""
    view: type[Spec]
    """What the panels let one choose to look at."""
    first: Sequence[str] = ()
    """The levers that matter first, as patterns of their paths: they stand on top."""
    machine_rules: Mapping[str, type[Spec]] = {}
    """What else may say the machine, beside the presets: the words of the drop-down, and the levers below it."""
    dropped: type[Workload] | None = None
    """The workload that a file dropped into the page becomes, by its lever `trace`; None = none can be dropped."""
    cards: Callable[[], Sequence[Any]] = tuple
    """Makes the levers that the page is about, of which each gets a card on top of it (`CardLever`)."""
    options_titled: str = ""
    """The name of a section of the engine's options alone, before that of the policies that both sides share."""


_further: ContextVar[tuple[str, ...]] = ContextVar("further compared slots", default=())


@contextmanager
def comparing(slots: Sequence[str]) -> Iterator[None]:
    """Let both sides of the pages that are made within this context differ in further slots."""
    before = _further.set(tuple(slots))
    try:
        yield
    finally:
        _further.reset(before)


def widened(opening: Opening) -> Opening:
    """Return an opening with the further slots in which the sides of the page that is made may differ."""
    return opening._replace(compared=tuple(dict.fromkeys([*opening.compared, *_further.get()])))


class Panels(Protocol):
    """The pictures of an engine's runs, below the histogram that every dashboard has."""

    @property
    def widgets(self) -> Sequence[Widget]:
        """Return the widgets from top to bottom."""

    @property
    def notes(self) -> Notes:
        """Return what the pictures need of every run beside its measures."""

    def show_seed(self, names: Sequence[str], records: Sequence[Any], view: Any) -> None:
        """Show one run of either side."""

    def show_runs(self, runs: PairedRuns, run_set: RunSet, view: Any) -> None:
        """Show all that has been run."""


class Answer(Protocol):
    """What a page opens with once a file was dropped into it, above all else."""

    @property
    def widgets(self) -> Sequence[Widget]:
        """Return the widgets from top to bottom."""

    def show(self, workload: Workload) -> bool:
        """Show what a workload says by itself, whatever the policies; return whether it says anything."""


class NothingToChoose(Spec):
    """A view without levers."""


Notes = Mapping[str, Callable[[Any], np.ndarray]]
"""What is kept of every record beside its measures: a name, and the function that finds a few numbers."""


class PairedRuns:
    """One comparison of two points at the same seeds, as far as it has been run.

    Raises
    ------
    InputError
        The sweep is not valid, or what is asked for is more than the machine has.
    """

    def __init__(self, config: Mapping[str, Any], notes: Notes | None = None) -> None:
        self._plan = plan_different_runs(read_sweep(config))
        self._left = [list(pair) for _, pair in groupby(self._plan.runs(), key=lambda run: run.seed)]
        self._rows: list[Row] = []
        self._done: list[int] = []
        self._notes = notes or {}
        self._noted: dict[tuple[str, str], list[np.ndarray]] = {}

    @property
    def points(self) -> tuple[PlannedPoint, PlannedPoint]:
        """Return the baseline and the other; the same twice where the two sides are the same."""
        return self._plan.points[0], self._plan.points[-1]

    @property
    def names(self) -> tuple[str, str]:
        """Return what figures call the two: the policies in which they differ."""
        names = LineNames(RunSet(self._plan, []))
        return names.of(self.points[0]), names.of(self.points[1])

    @property
    def same(self) -> bool:
        """Return whether the two sides are one and the same."""
        return len(self._plan.points) == 1

    @property
    def asked(self) -> int:
        """Return how many seeds are wanted."""
        return len(self._plan.sweep.seeds)

    @property
    def done(self) -> int:
        """Return how many seeds have been run."""
        return len(self._done)

    def noted(self, note: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return what was noted of the runs of the baseline and of the other, in the order of the seeds."""
        baseline, other = (self._noted.get((point.id, note), []) for point in self.points)
        return baseline, other

    def warm_up(self, say: Callable[[str], object]) -> None:
        """Compile what is not compiled yet, and say so."""
        warm_up(self._plan.points[0].setup, say)

    def advance(self, seconds: float) -> RunSet:
        """Run the next seeds, at least one, for about so long; return all that is known then."""
        began, count = time.perf_counter(), 0
        while self._left:
            self._run(self._left.pop(0))
            count += 1
            spent = time.perf_counter() - began
            if spent + spent / count > seconds:
                break
        sweep = self._plan.sweep._replace(seeds=list(self._done))
        return RunSet(Plan(sweep, self._plan.points), self._rows)

    def records(self, seed: int) -> list[Any]:
        """Return what happened on either side at one seed.

        Raises
        ------
        PolicyError
            A policy raised, or its answer is not allowed.
        """
        engine = self._plan.sweep.mechanism.engine
        return [engine.simulate(point.setup, seed) for point in self.points]

    def _run(self, pair: list[PlannedRun]) -> None:
        for run in pair:
            see = partial(self._note, run.point.id)
            task = run.id, run.point.id, run.seed
            self._rows.extend(work(run.point.setup, [task], see, self._plan.sweep.own))
        self._done.append(pair[0].seed)

    def _note(self, point: str, record: Any) -> None:
        for name, note in self._notes.items():
            self._noted.setdefault((point, name), []).append(note(record))


FRONT = "front.csv"
"""What a tuning study keeps of its best points."""


class SavedPoint(NamedTuple):
    """One point and what it is compared with."""

    label: str
    baseline: Setup
    other: Setup
    values: tuple[float, ...]
    """The mean of each of the measures; NaN where it was not run."""
    id: str = ""
    """Of the point in its plan."""

    def differs_in(self, slot: str) -> bool:
        """Return whether the two sides have another policy in a slot."""
        return bool(self.baseline.policies[slot] != self.other.policies[slot])


class Saved(NamedTuple):
    """A sweep with what is known of it."""

    engine: str
    title: str
    machine: Any
    """As the sweep says it; None where it varies."""
    seeds: int
    measures: tuple[str, ...]
    """The labels of the first two measures, with their units."""
    points: list[SavedPoint]
    study: Path | None = None
    """The results folder of the study that these points are the front of."""

    @property
    def differing(self) -> list[str]:
        """Return the slots in which a point differs from what it is compared with."""
        slots = [slot for one in self.points for slot in one.other.policies if one.differs_in(slot)]
        return list(dict.fromkeys(slots))


def read_saved(name: str) -> Saved:
    """Read what a page is to be opened with.

    Raises
    ------
    InputError
        The file is no sweep, or a study that has not been tuned yet.
    StoreError
        The folder holds no results.
    """
    path = Path(name)
    if (path / JOURNAL).is_file():
        return _saved_study(name, path)
    if path.is_dir():
        return _saved(open_folder(path), _title(name, path), path)
    if "objectives" in read_mapping(path):
        raise InputError(f"{name}: is a study; tune it (workbench tune {name}), then open its results folder.")
    return _saved(RunSet(make_plan(read_sweep(path)), []), name, None)


def _saved_study(name: str, folder: Path) -> Saved:
    """Read the front of a study; of one that is tuned just now, or was stopped, the front so far."""
    if (folder / FRONT).is_file():
        return _saved(open_folder(folder), _title(name, folder), folder)._replace(study=folder)
    results = open_study(folder)
    if not results.best_trials:
        raise StoreError(f"{name}: the study has no trial yet that could be shown; open it again when it has.")
    sweep = front_sweep(results.study, [trial.proposal for trial in results.best_trials])
    saved = _saved(RunSet(make_plan(sweep), []), f"{name} (the front of a study so far)", None)
    return saved._replace(study=folder)


def _title(name: str, folder: Path) -> str:
    return f"{name} (the front of a study)" if (folder / FRONT).is_file() else name


def _saved(runs: RunSet, title: str, folder: Path | None) -> Saved:
    sweep, names = runs.plan.sweep, LineNames(runs)
    measures = _objectives(folder) or sweep.measures[:2]
    known = sweep.mechanism.measures
    pairs = _pairs(runs.plan)
    points = [
        SavedPoint(_label(runs, names, point), *pair, tuple(_mean(runs, point, name) for name in measures), point.id)
        for point, pair in pairs
    ]
    engine, machine = sweep.mechanism.engine, sweep.said.get("machine") or {}
    return Saved(
        engine.name,
        title,
        None if "vary" in str(machine) else with_preset(engine.machine, machine, sweep.folder, sweep.where),
        len(sweep.seeds),
        tuple(known[name].label for name in measures),
        points,
    )


def _objectives(folder: Path | None) -> list[str]:
    """Return the first two objectives of a study whose front lies in a folder; none of a sweep's results."""
    if folder is None or not (folder / FRONT).is_file():
        return []
    with (folder / FRONT).open(newline="") as file:
        columns = next(csv.reader(file), [])
    return [name.removesuffix("_tuned") for name in columns if name.endswith("_tuned")][:2]


def _pairs(plan: Plan) -> list[tuple[PlannedPoint, tuple[Setup, Setup]]]:
    """Return the points that are compared with a baseline, with both setups; without any, each with the first."""
    by_id = {point.id: point for point in plan.points}
    compared = [point for point in plan.points if point.baseline in by_id and point.baseline != point.id]
    if compared:
        return [(point, (by_id[str(point.baseline)].setup, point.setup)) for point in compared]
    first = plan.points[0].setup
    return [(point, (first if _beside(first, point.setup) else point.setup, point.setup)) for point in plan.points]


def _beside(one: Setup, another: Setup) -> bool:
    """Return whether two setups differ in policies alone."""
    return all(getattr(one, part) == getattr(another, part) for part in ("machine", "workload", "options"))


def _label(runs: RunSet, names: LineNames, point: PlannedPoint) -> str:
    return runs.label(point) or names.of(point)


def _mean(runs: RunSet, point: PlannedPoint, measure: str) -> float:
    values = [value for value in runs.values(point, measure).values() if math.isfinite(value)]
    return sum(values) / len(values) if values else math.nan


class SaveBox:
    """The text of the sweep, a name, and a button that saves it."""

    def __init__(self, name: str) -> None:
        self.text = widgets.Textarea(disabled=True, rows=16, layout={"width": "auto"})
        self.name = widgets.Text(name, description="file", layout={"width": "auto", "flex": "1 1 auto"})
        self.save = button("save", "write the sweep to this file", self._save)
        self.words = widgets.HTML()
        line = widgets.HBox([self.name, self.save])
        self.widget = widgets.VBox([self.text, line, self.words])

    def _save(self) -> None:
        try:
            path = saved_as(self.name.value, self.text.value)
            file = escaped(path)
            self.words.value = f"Saved as {file}. To see it again: workbench open dashboard {file}"
        except WorkbenchError as mistake:
            self.words.value = alert(mistake)


def saved_as(name: str, text: str) -> Path:
    """Write a sweep to a file that is not there yet, or holds the same; return its path.

    Raises
    ------
    InputError
        The name is not that of a YAML file, or another sweep has it.
    StoreError
        It cannot be written.
    """
    path = Path(name.strip())
    if path.suffix not in (".yaml", ".yml"):
        raise InputError(f"file must end with .yaml. Got {name!r}.")
    if path.exists() and path.read_text() != text:
        raise InputError(f"{path} is there already and holds something else; choose another name.")
    if not path.parent.is_dir():
        raise StoreError(f"{path} cannot be written: there is no folder {path.parent}.")
    write_whole(path, text)
    return path


SECONDS = 2.0
"""How long the runs behind a picture may take."""
FIGURE = "drain_difference"


def is_wanted() -> bool:
    """Return whether this process runs notebooks that nobody watches."""
    return bool(os.environ.get(STILL))


def static_view(sidebar: Sidebar) -> dict[str, Any]:
    """Return what stands where a dashboard would: its first picture, and what it was opened with in words.

    The words alone where nothing can be drawn: both sides are the same, or a run fails.
    """
    config = sidebar.said()
    engine = str(config["engine"])
    words = f'A dashboard with sliders stood here: wb.dashboard("{engine}") in a notebook opens it.'
    try:
        runs = PairedRuns(config)
        if runs.same:
            return {"text/plain": words}
        picture = _drawn(runs, sidebar.measure.plain(), engine)
    except WorkbenchError:
        return {"text/plain": words}
    baseline, other = runs.names
    seen = f"{other} beside {baseline}, {runs.done} paired runs."
    return {"image/png": base64.b64encode(picture).decode("ascii"), "text/plain": f"{words} {seen}"}


def _drawn(runs: PairedRuns, measure: str, engine: str) -> bytes:
    from workbench.figures import figure

    recipe, image = figure(FIGURE, engine), io.BytesIO()
    recipe.draw(recipe.choose(runs.advance(SECONDS), measure=measure)).savefig(image, format="png")
    return image.getvalue()
