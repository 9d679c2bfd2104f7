"""The runs of a plan with their rows: the one value that tables, statistics, figures and exports start from.

Its methods that compare, draw, explain and export are doors: each imports the package behind it when it is called.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.experiments.checked_rows import Checked, standing
from workbench.experiments.hangs import GROUPS_THAT_LACK, NEVER_STARTED, Hang, hangs
from workbench.experiments.origins import RowsOfOrigin, origins_of, origins_sentence
from workbench.experiments.plan import Plan
from workbench.experiments.results_folder import SWEEP
from workbench.experiments.seeds import draws_nothing
from workbench.experiments.store import Store
from workbench.mechanisms.measured_by import read_measured
from workbench.runs.row import STARVED, Row
from workbench.runs.run import PlannedPoint, run_id
from workbench.runs.user_code import check_code

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from workbench.explain.discovery import Discovery
    from workbench.explain.sensitivity import Sensitivity
    from workbench.explain.sensitivity.analysis import Of
    from workbench.statistics.result_table import ResultTable


class Results:
    """The runs of a sweep: table, statistics, events, figures, export.

    The rows are in the plan's order. `workbench.run` and `workbench.open_results` return these results.
    """

    def __init__(self, plan: Plan, rows: Iterable[Row], folder: Path | None = None, seconds: float = 0.0) -> None:
        self.plan = plan
        self.folder = folder
        self.seconds = seconds
        self.rows = {row.id: row for row in rows}
        self.whole: Results | None = None
        """All runs of the sweep, of which these are those of some points; None where these are all."""
        self.checked = Checked()
        """How many rows are of code of the user's of which a fresh process has confirmed some runs."""
        self.version_note = ""
        """Which earlier version kept the rows, and how to have them simulated again; empty if this version did."""
        self.code_notes: list[str] = []
        """Why the code of some points was not run, and who made their rows; empty if all of it was read."""
        self._ids: dict[str, list[str]] = {}
        self._drawn: dict[tuple[int, int], bool] = {}
        """Whether a workload draws on a machine, by the objects of both, which the plan keeps alive."""

    def _repr_html_(self) -> str:
        from workbench.statistics.result_card import results_card

        return results_card(self).html

    def __repr__(self) -> str:
        """Return runs, points and the table of results in 80 columns and 30 lines, as `print` shows them."""
        from workbench.statistics.result_card import results_card

        return results_card(self).text

    @property
    def points(self) -> list[PlannedPoint]:
        """Return the points of the sweep, baselines included."""
        return self.plan.points

    @property
    def seeds(self) -> list[int]:
        """Return the paired seeds."""
        return self.plan.sweep.seeds

    def check_whole(self) -> None:
        """Refuse to sum up the runs of a shard: what they say is not what the sweep says.

        Raises
        ------
        InputError
            They are of one; the sentence says how all are gathered.
        """
        if self.plan.part is not None:
            raise InputError(self.part_sentence)

    @property
    def part_sentence(self) -> str:
        """Return the share of each shard that is here, and its summary; empty where the plan is of a whole sweep."""
        part = self.plan.part
        if part is None:
            return ""
        kept = f"{part.shard.name}: {len(self.rows)} of its {len(self.plan)} runs are kept"
        return f"{kept}; a part has no summary, test or figure, so first: workbench gather DIR... --out DIR"

    @property
    def failures(self) -> list[Row]:
        """Return the runs that failed, starved ones among them."""
        return [row for row in self.rows.values() if row.status != "done"]

    @property
    def unmeasured(self) -> list[Row]:
        """Return the runs that are done and lack a cell: other code computed it than there is now, or nothing has
        yet."""
        done = (row for row in self.rows.values() if row.status == "done")
        return [row for row in done if not row.measures or self.plan.sweep.user_measures.keys() - row.measures.keys()]

    @functools.cached_property
    def notes(self) -> list[str]:
        """Return the notes that a reader of a table needs, a sentence each: missing measures, several origins, what was
        refused, and the `notes` of a workload."""
        messages = [*self.code_notes, *([self.version_note] if self.version_note else [])]
        if missing := self.unmeasured:
            again = (
                f"; measure them again with: workbench run {self.folder / SWEEP} --out {self.folder}"
                if self.folder
                else ""
            )
            messages.append(f"{_lacked(missing, self.plan.sweep.user_measures)}{again}")
        if several := origins_sentence(self.origins):
            messages.append(several)
        messages += filter(None, map(self._refusals, self.points))
        read = (point.setup.workload for point in self.points if point.setup)
        rules = (note for workload in read for note in getattr(workload, "notes", ()))
        return [*messages, *dict.fromkeys(rules)]

    def _refusals(self, point: PlannedPoint) -> str:
        """Return the measures of a point that are missing, and in how many runs, because something was refused; else
        nothing."""
        measures = self.plan.sweep.mechanism.measures
        lacking = {name: self.refused(point, name) for name in self.plan.sweep.measures if measures[name].refusals}
        seeds = set().union(*lacking.values())
        names = ", ".join(name for name, refused in lacking.items() if refused)
        hang = self.hang(point)
        if hang is not None and (seeds or any(self.hung(point, name) for name in self.plan.sweep.measures)):
            missing = f", so {names} of these runs are missing" if names else ""
            return (
                f"{self.label(point)}: hangs at {hang.seeds} of {hang.of} seeds ({hang.never_started} groups never "
                f"start){missing}; in a comparison these runs are the worst."
            )
        if not seeds:
            return ""
        counted = ", ".join(dict.fromkeys(measures[name].refusals for name, refused in lacking.items() if refused))
        return (
            f"{self.label(point)}: in {len(seeds)} of {len(self.seeds)} runs something was refused ({counted}), so "
            f"{names} of these are missing: less was done; in a comparison they are the worst."
        )

    @functools.cached_property
    def origins(self) -> list[RowsOfOrigin]:
        """Return the origins of the rows: what computed how many of them, the largest part first."""
        return origins_of(self.rows.values())

    @functools.cached_property
    def varied(self) -> list[str]:
        """Return the dotted paths of the varied levers, in the order of the sweep."""
        return list(dict.fromkeys(path for point in self.points for path in point.coordinates))

    @functools.cached_property
    def table(self) -> pd.DataFrame:
        """Return one row a run: run_id, status, error, seed, one column a varied lever, one a measure."""
        import pandas as pd

        return pd.DataFrame(self.columns())

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the columns of `table` as plain values, without pandas, which takes longer to import than a small
        sweep to run."""
        kept = [(run, self.rows[run.id]) for run in self.plan.runs() if run.id in self.rows]
        return {
            "run_id": [run.id for run, _ in kept],
            "status": [row.status for _, row in kept],
            "error": [row.error for _, row in kept],
            "seed": [run.seed for run, _ in kept],
            **{path: [run.point.coordinates.get(path) for run, _ in kept] for path in self.varied},
            **_columns(self.plan.sweep.measures, [row.measures for _, row in kept]),
        }

    def summary(self) -> pd.DataFrame:
        """Return, per point and measure, n, mean, interval, and the paired difference to the baseline, with its
        test; refused of a shard, as all that sums runs up."""
        from workbench.statistics.summary import summary

        return summary(self)

    def sentences(self, measure: str | None = None) -> list[str]:
        """Say what came out, of all measures or one, a sentence a comparison with the baseline: verdict, difference,
        interval, corrected p."""
        from workbench.statistics.sentences import sentences

        return sentences(self, measure)

    def comparisons(self, measure: str | None = None) -> ResultTable:
        """Return the table of results, of all measures or one: a block per workload and measure, a row per policy.

        A notebook shows it; `print` gives it in 80 columns.
        """
        from workbench.statistics.result_table import result_table

        return result_table(self, measure)

    def figure_data(self, name: str, **choices: Any) -> Any:
        """Return the data of a figure, as a named tuple of arrays; its data function has the choices, such as
        `measure`."""
        from workbench.figures import figure

        return figure(name, self.plan.sweep.mechanism.engine.name).choose(self, **choices)

    def figure(self, name: str, *, width: float | None = None, dark: bool = False, **choices: Any) -> Figure:
        """Draw a figure by its name with Matplotlib, so many inches wide, on light or dark paper; a notebook cell shows
        it."""
        from workbench.figures import figure
        from workbench.figures.plot_style import WIDTH, Format, formatted

        data = self.figure_data(name, **choices)
        with formatted(Format(width=WIDTH if width is None else width, is_dark=dark)):
            return figure(name, self.plan.sweep.mechanism.engine.name).draw(data)

    def only(self, *words: str) -> Results:
        """Return the points that words name, with their baselines: values of varied levers, or LEVER=VALUE.

        Their p-values stay corrected over all comparisons of the sweep.

        `results.only("best_fit", "segments=64").figure("pareto")`; errors as of `workbench results --only`.
        """
        from workbench.experiments.point_selection import only_points

        return only_points(self, words)

    def sensitivity(self, measure: str | None = None, of: Of = "mean") -> Sensitivity:
        """Estimate what every measure of the sweep, or one, depends on; its ranges are drawn by `saltelli` or
        `morris`."""
        from workbench.explain.sensitivity import Sensitivity, analyse

        self.check_whole()
        return Sensitivity(self, analyse(self, measure, of))

    def discover(
        self,
        measure: str | None = None,
        *,
        win: bool = False,
        clear: bool = False,
        above: float | None = None,
        below: float | None = None,
        boxes: int = 1,
        density: float | None = None,
    ) -> Discovery:
        """Search where in the space of its levers a policy loses, as a box of limits; arguments as of
        `workbench.discover`."""
        from workbench.explain.discovery import discover, interest_of

        self.check_whole()
        return discover(self, measure, interest_of(win, clear, above, below), boxes, density)

    def export(
        self,
        to: str | Path,
        style: str = "ieee",
        columns: Literal[1, 2] = 1,
        measures: Sequence[str] | None = None,
        figures: Sequence[str] | None = None,
    ) -> Path:
        """Write a bundle for a paper: tables, figures with captions and data, numbers as macros, methods, references.

        Parameters
        ----------
        style : {"ieee", "acm", "usenix"}
            The venue: column width, letters of figures, class of the example.
        columns : {1, 2}
            How many columns of the paper a figure is wide.
        measures, figures : sequences of names, optional
            Which of them, any of the engine's; those of the sweep if None.

        Raises
        ------
        InputError
            These are some points of a sweep alone (`only`), or a shard; or there is no such style, measure or figure.
        """
        from workbench.export.bundle import export

        self.check_whole()
        if self.whole is not None:
            raise InputError("a bundle holds a whole sweep, over which its p-values are corrected: export all points.")
        if self.code_notes:
            raise InputError(f"a bundle holds the code of its sweep: {self.code_notes[0]}")
        return export(self, Path(to), style, columns, measures, figures)

    def timeline(self, run_id: str, to: str | Path, cycles: tuple[int, int] | None = None) -> Path:
        """Write the timeline of a run of a dispatcher or a node: a file that ui.perfetto.dev and chrome://tracing open.

        Parameters
        ----------
        run_id : str
            Which run, as `table` names it.
        cycles : (int, int), optional
            From when to when; the whole run if None.
        """
        from workbench.export.timeline import write_timeline

        return write_timeline(self.record(run_id, events=True), Path(to), cycles)

    def snapshot(self, run_id: str, to: str | Path) -> Path:
        """Write a run of a memory pool as a memory snapshot of PyTorch, which pytorch.org/memory_viz opens.

        Parameters
        ----------
        run_id : str
            Which run, as `table` names it.
        """
        from workbench.export.memory_snapshot import write_snapshot

        return write_snapshot(self.record(run_id), Path(to))

    def values(self, point: PlannedPoint, measure: str) -> dict[int, float]:
        """Return one measure of a point by seed, failed runs left out; NaN where a run has no such part as it is
        about."""
        if measure not in self.plan.sweep.mechanism.measures:
            raise unknown_name("", "measure", measure, self.plan.sweep.mechanism.measures)
        self.plan.sweep.check_computed(measure)
        rows_by_seed = zip(self.seeds, map(self.rows.get, self._ids_of(point)), strict=True)
        return {
            seed: row.measures.get(measure, math.nan)
            for seed, row in rows_by_seed
            if row is not None and row.status == "done"
        }

    def refused(self, point: PlannedPoint, measure: str) -> set[int]:
        """Return the seeds of a point's runs that lack a measure because something was refused in them."""
        counts = self.plan.sweep.mechanism.measures[measure].refusals
        if not counts:
            return set()
        refusals = self.values(point, counts)
        return {seed for seed, value in self.values(point, measure).items() if math.isnan(value) and refusals[seed] > 0}

    def hung(self, point: PlannedPoint, measure: str) -> set[int]:
        """Return the seeds at which a point's runs hang, of a measure that has a better side; of others none."""
        measures = self.plan.sweep.mechanism.measures
        if NEVER_STARTED not in measures or measures[measure].better == "neither":
            return set()
        rows_by_seed = zip(self.seeds, map(self.rows.get, self._ids_of(point)), strict=True)
        return {seed for seed, row in rows_by_seed if row is not None and hangs(row, measure)}

    def hang(self, point: PlannedPoint) -> Hang | None:
        """Return at how many seeds a point's runs hang (spec 7), and how much never starts then; None if none does."""
        if NEVER_STARTED not in self.plan.sweep.mechanism.measures:
            return None
        never, groups = (self.values(point, name) for name in (NEVER_STARTED, GROUPS_THAT_LACK))
        hung = [seed for seed, value in never.items() if value > 0]
        if not hung:
            return None
        counts = [sorted({int(values[seed]) for seed in hung}) for values in (never, groups)]
        few, of = (f"{each[0]}" if len(each) == 1 else f"{each[0]} to {each[-1]}" for each in counts)
        return Hang(len(hung), len(never), f"{few} of {of}")

    def starved(self, point: PlannedPoint) -> set[int]:
        """Return the seeds of a point's runs in which something waits for ever (spec 3): they are failures, and there
        is no worse outcome."""
        rows_by_seed = zip(self.seeds, map(self.rows.get, self._ids_of(point)), strict=True)
        return {seed for seed, row in rows_by_seed if row is not None and row.status == STARVED}

    def has_ended(self, point: PlannedPoint, seeds: Iterable[int]) -> bool:
        """Return whether the runs of a point at some seeds are there, whatever their outcome."""
        ids = dict(zip(self.seeds, self._ids_of(point), strict=True))
        return all(ids[seed] in self.rows for seed in seeds)

    def is_exact(self, point: PlannedPoint) -> bool:
        """Return whether every seed gives the same run of a point, as neither its workload nor a policy or an option
        draws; False where its code was not run."""
        kind = self.plan.sweep.mechanism.engine.workload_kind
        return bool(point.setup) and draws_nothing(point.setup, kind, self._drawn)

    def _ids_of(self, point: PlannedPoint) -> list[str]:
        """Return the ids of a point's runs, in the order of the seeds: each a digest, which every measure asks for."""
        if point.id not in self._ids:
            self._ids[point.id] = [run_id(point.id, seed) for seed in self.seeds]
        return self._ids[point.id]

    def baseline_of(self, point: PlannedPoint) -> PlannedPoint | None:
        """Return the point that another is compared with."""
        return self._points_by_id.get(point.baseline)

    @functools.cached_property
    def _points_by_id(self) -> dict[str | None, PlannedPoint]:
        return {point.id: point for point in self.points}

    def label(self, point: PlannedPoint) -> str:
        """Return the name of a point in legends: its coordinates, without paths where one coordinate alone is
        varied."""
        coordinates = {path: value for path, value in point.coordinates.items() if _tells(path, self.varied)}
        if len(coordinates) <= 1:
            return str(next(iter(coordinates.values()), self.plan.sweep.name))
        return ", ".join(
            str(v) if path.startswith("policy.") else f"{_last(path)} {v}" for path, v in coordinates.items()
        )

    def record(self, run: str, events: bool = False) -> Any:
        """Return the record of a run, simulated again (the same bits as when its row was kept), if requested with all
        that its event log is made of."""
        point, seed = self._found(run)
        check_code(point.setup)
        return self.plan.sweep.mechanism.engine.simulate(point.setup, seed, events=events)

    def records(self, point: PlannedPoint, most: int | None = None) -> list[Any]:
        """Return the records of a point's finished runs, in the order of the seeds."""
        check_code(point.setup)
        engine = self.plan.sweep.mechanism.engine
        seeds = [seed for seed in self.seeds if self._done(point, seed)][:most]
        return [engine.simulate(point.setup, seed) for seed in seeds]

    def events(self, run: str) -> pd.DataFrame:
        """Return the event log of a run as a table."""
        import pandas as pd

        columns: dict[str, np.ndarray] = self.plan.sweep.mechanism.events(self.record(run, events=True))
        return pd.DataFrame({"run_id": run, **columns})

    def _done(self, point: PlannedPoint, seed: int) -> bool:
        row = self.rows.get(run_id(point.id, seed))
        return row is not None and row.status == "done"

    def _found(self, run: str) -> tuple[PlannedPoint, int]:
        for planned in self.plan.runs():
            if planned.id == run:
                return planned.point, planned.seed
        raise InputError(f"no run {run!r} in this sweep; results.table lists the run ids.")


def gather(plan: Plan, store: Store, folder: Path | None = None, seconds: float = 0.0) -> Results:
    """Return the rows of a plan from a store; measures that other code computed than there is now are missing."""
    rows, checked = standing(plan, store, list(_rows_of(plan, store)))
    runs = Results(plan, rows, folder, seconds)
    runs.checked = checked
    return runs


def _rows_of(plan: Plan, store: Store) -> Iterator[Row]:
    """Yield the rows of a plan, each without the cells that other code computed than there is now."""
    wanted, origins, reads, measured = {*plan.ids}, store.origins(), store.reads(), plan.sweep.measured_by()
    text = measured.text
    for kept in store.kept():
        if kept.id in wanted:
            row = kept.row(origins, reads)
            if row.measured != text:
                row = row._replace(measures=read_measured(row.measured).cells(row.measures, measured))
            yield store.failed_again.get(row.id, row)


def _lacked(rows: list[Row], own: Mapping[str, Any]) -> str:
    """Say which cells are missing in some rows, and why."""
    if any(not row.measures for row in rows):
        return f"the measures of {len(rows)} runs are missing, as their code was edited since"
    names = [name for name in own if any(name not in row.measures for row in rows)]
    return f"{', '.join(names)} is missing in {len(rows)} runs, as its code is new or was edited since"


def _columns(names: list[str], measures: list[dict[str, float]]) -> dict[str, Any]:
    """Return one column a measure, not a number where a run has none."""
    values = [[measure.get(name, math.nan) for name in names] for measure in measures]
    return dict(zip(names, zip(*values))) if values else {name: [] for name in names}


def _tells(path: str, varied: list[str]) -> bool:
    """Return whether a coordinate tells more than its policy's short name, which already holds its levers."""
    parent = ".".join(path.split(".")[:2])
    return not (path.startswith("policy.") and path != parent and parent in varied)


def _last(path: str) -> str:
    return path.rsplit(".", 1)[-1].split("[")[0].replace("_", " ")
