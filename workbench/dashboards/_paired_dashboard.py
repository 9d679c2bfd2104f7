"""A dashboard: two sets of policies on the same queues, seen as they are turned.

It computes nothing itself. The sidebar is a sweep, the experiments run it, the panels show what metrics, figures and
studies make of the rows. What takes longer than a moment is shown coarse first, with as many seeds as fit, and
completed while the user looks; any further turn of a lever comes first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import ipywidgets as widgets
import yaml
from ipywidgets import Widget

from workbench.dashboards._background import Later, has_loop
from workbench.dashboards._catalogue_watch import CatalogueWatch
from workbench.dashboards._dashboard_config import DashboardConfig, with_extra_compared_slots
from workbench.dashboards._differences import ComparedMeasures, HistogramPanel, compared_measures, measures_table
from workbench.dashboards._elements import alert, button, escaped, small_print
from workbench.dashboards._first_compile import FirstCompile
from workbench.dashboards._lever_cards import LeverCards
from workbench.dashboards._offers import Offers
from workbench.dashboards._page import Heartbeat, UndoToolbar, UrlFragment
from workbench.dashboards._policy_sets import PolicySets
from workbench.dashboards._recorded import canvases, recorded
from workbench.dashboards._saved_sweep import SavedPoint, SavedSweep
from workbench.dashboards._settings import History, Setting, as_link, differences, from_link
from workbench.dashboards._several_policies import SeveralPolicies
from workbench.dashboards._sidebar import Sidebar
from workbench.dashboards._static_view import is_unwatched, static_view
from workbench.dashboards._study_view import StudyView
from workbench.dashboards._sweep_points import OpenedPoints, SaveBox, setting_of
from workbench.dashboards._why_panel import WhyPanel
from workbench.dashboards.paired_runs import Notes, PairedRuns
from workbench.engines.kit.engine import Setup
from workbench.errors import InputError, WorkbenchError
from workbench.experiments.results import Results
from workbench.mechanisms.compilation import is_compiled
from workbench.mechanisms.mechanism import mechanism
from workbench.palette import notebook_css, page_css
from workbench.workloads.workload import Workload

COARSE_SECONDS = 0.08
"""How long the runs of one move may take; what is left follows when the lever rests."""
REST_SECONDS = 0.2
"""How long a lever must rest before the rest of its runs is done."""
SLICE_SECONDS = 0.25
"""The rest is done in slices of this length, between which a new move is heard."""

LOOK_SECONDS = 0.5
"""How often a page looks how far the first compilation is."""

AT_LEVER = "wb-at-lever"
"""The class of a refusal above the pictures that stands at its lever already."""

_LEGEND = (
    '<b class="wb-baseline">&#9679; the baseline</b>, <b class="wb-other">&#9679; the other side</b>; '
    "both meet the same requests at each seed. Bars right of zero are seeds on which the other side is better; the "
    "dot is their mean, the line through it the interval that holds the true mean in 95 of 100 such comparisons. "
    "Sure: better, or worse, on average and on most of the seeds that differ. Undecided: more seeds may tell. "
    "The measure of the picture is tested alone. The other rows of the table are corrected over each other."
)

_STYLES = [Path(__file__).with_name(name) for name in ("dashboard.css", "layout.css")]


class Panels(Protocol):
    """The pictures of an engine's runs, below the histogram that every dashboard has."""

    @property
    def widgets(self) -> Sequence[Widget]:
        """Return the widgets from top to bottom."""

    @property
    def notes(self) -> Notes:
        """Return the needs of the pictures of every run in addition to its measures."""

    def show_seed(self, names: Sequence[str], records: Sequence[Any], view: Any) -> None:
        """Show one run of either side."""

    def show_runs(self, runs: PairedRuns, run_set: Results, view: Any) -> None:
        """Show all that has been run."""


class Answer(Protocol):
    """What a page opens with once a file was dropped into it, above all else."""

    @property
    def widgets(self) -> Sequence[Widget]:
        """Return the widgets from top to bottom."""

    def show(self, workload: Workload) -> bool:
        """Show what a workload says by itself, whatever the policies; return whether it says anything."""


class PairedDashboard(widgets.HBox):
    """The widget that `wb.dashboard(...)` returns."""

    def __init__(self, config: DashboardConfig, panels: Panels, answer: Answer | None = None) -> None:
        """Take as `answer` what a file that is dropped says by itself."""
        config = with_extra_compared_slots(config)
        self.sidebar = Sidebar(mechanism(config.engine), config)
        self._engine = config.engine
        self._sets = PolicySets(config.set_names, self.sidebar.policies.sides())
        self.histogram, self.panels, self.answer = HistogramPanel(), panels, answer
        self.first = widgets.VBox([], layout={"display": "none"})
        self.first.add_class("wb-first")
        self.heading = widgets.HTML(heading(config))
        self.heading.add_class("wb-top")
        self.status, self.table = widgets.HTML(), widgets.HTML()
        self.status.add_class("wb-status")
        self.stop = button("stop", "do not run the seeds that are left", self._stop)
        self.stop.add_class("wb-stop")
        self._offer_stop(False)
        self.save = SaveBox(f"{config.engine}.yaml")
        self.sweep = self.save.text
        self.folded = widgets.Accordion([self.save.widget], titles=["This dashboard as a sweep file"])
        self.why = WhyPanel(self._decision_runs)
        self.several = SeveralPolicies(self.sidebar, self._picked)
        several = widgets.Accordion([self.several.widget], titles=["More than two: up to eight policies side by side"])
        why = widgets.Accordion([self.why], titles=["Why this decision: step through both runs of the drawn seed"])
        self.board = widgets.VBox([self.histogram, *panels.widgets, self.table, several, why, self.folded])
        self.board.add_class("wb-board")
        sheets = [notebook_css(), page_css(":has(.wb-page)"), *(sheet.read_text() for sheet in _STYLES)]
        style = widgets.HTML(f"<style>{''.join(sheets)}</style>")
        self.opened = widgets.VBox([])
        self.cards = LeverCards(config.cards(), self.sidebar, self._try)
        self.heartbeat = Heartbeat()
        line = widgets.HBox([self.status, self.stop])
        line.add_class("wb-line")
        right = widgets.VBox(
            [self.heading, line, self.opened, self.heartbeat, self.board],
            layout={"flex": "4 1 480px", "min_width": "0"},
        )
        right.add_class("wb-right")
        self.opened_with = self._first_setting = self.sidebar.setting()
        self.history, self._note_rest = History(self.opened_with), Later(self._note)
        self.tools = UndoToolbar(
            undo=lambda: self.show(self.history.undo()),
            redo=lambda: self.show(self.history.redo()),
            reset=lambda: self.show(self.opened_with),
        )
        self.tools.allow(undo=False, redo=False, reset=False)
        self.url_fragment = UrlFragment(self._follow)
        cards = [self.cards.widget] if self.cards.cards else []
        self.sidebar.widget.children = [self.tools.widget, *cards, *self.sidebar.widget.children]
        super().__init__([style, self.first, self.sidebar.widget, right, self.url_fragment])
        self.add_class("wb-dashboard")
        if self.url_fragment.is_served:
            self.add_class("wb-page")
        self.study: StudyView | None = None
        self._runs: PairedRuns | None = None
        self._warm = False
        self._first_compile, self._look = FirstCompile(config.engine), Later(self._look_at_compile)
        self._rest, self._offers = Later(self._continue), Offers(self.sidebar)
        self._watch = CatalogueWatch(self._defined)
        self.sidebar.on_change(self.update)
        self.folded.observe(self._write_sweep, "selected_index")
        self._say("The first run on a machine compiles the engine, which takes some seconds.")
        if has_loop():
            self.show_recorded()
        self.heartbeat.begin(self.update)

    def _repr_mimebundle_(self, **choices: Any) -> Any:
        """Return the display of a notebook: the widget, and in an unattended run a picture in its place."""
        bundle = super()._repr_mimebundle_(**choices) or {}
        if self.url_fragment.is_served:
            return bundle
        if is_unwatched():
            return {**bundle, **static_view(self.sidebar.config(), self.sidebar.measure.plain())}
        return {**bundle, **self._first_picture()}

    def show_recorded(self) -> None:
        """Show the first state of this page as it was recorded, until there are runs of this machine."""
        state = recorded(self._engine)
        if state is not None:
            for canvas, scene in zip(canvases(self.board), state.scenes, strict=False):
                canvas.put(scene)
            self.table.value = state.table
            self.board.add_class("wb-recorded")
            self._say("This is a recorded run of the first setting; the runs of this machine follow.")

    def finish(self) -> None:
        """Do the runs that are left, and show them all."""
        if self._runs is not None:
            self._show_runs(self._runs, math.inf, 0)

    def _first_picture(self) -> dict[str, Any]:
        """Return the picture that stays in a saved notebook: the recorded one, or that of a setting of its own."""
        setting, state = self.sidebar.setting(), recorded(self._engine)
        if state is not None and setting == self._first_setting:
            return {"image/png": state.picture}
        if is_compiled(self._engine):
            return static_view(self.sidebar.config(), self.sidebar.measure.plain())
        return {}

    def update(self) -> None:
        """Run and show what the sidebar says; a mistake is one sentence above the panels, which stay as they were."""
        self._rest.cancel()
        self._offers.cancel()
        self._note_rest.start(REST_SECONDS)
        if self._first_compile.runs():
            self._look_at_compile()
            return
        self.cards.refresh()  # before a policy that is new is compiled: who moves on meanwhile moves what counts
        with self._report_errors():
            self._show_answer()
            self._runs = PairedRuns(self.sidebar.config(), self.panels.notes)
            self.sidebar.seeds.show(self._runs.n_seeds)  # fewer where a workload has no more different runs
            self._warm_up(self._runs)
            self._show_seed(self._runs)
            self._show_runs(self._runs, COARSE_SECONDS, REST_SECONDS)
            self.sidebar.mark("")
            self.status.remove_class(AT_LEVER)
            self.cards.accept()
            self._write_sweep()

    def show(self, setting: Setting) -> None:
        """Show a setting as if it had been turned to; one that is not valid is a sentence, and changes nothing."""
        with self._report_errors(stale=False):
            self.sidebar.show(setting)
            self.update()

    def open_with(self, saved: SavedSweep) -> None:
        """Show the first point of a sweep, of results or of a study's front, and let one choose among all.

        Raises
        ------
        InputError
            The page cannot show that point.
        """

        def chosen(point: SavedPoint) -> None:
            with self._report_errors(stale=False):
                self.show(setting_of(self.sidebar, saved, point))

        points = OpenedPoints(saved, chosen)
        self.opened.children = [points.widget, *self._study_of(saved, points)]
        self.sidebar.show(setting_of(self.sidebar, saved, saved.points[0]))
        self.opened_with = self.sidebar.setting()
        self.history = History(self.opened_with)
        self.heartbeat.begin(self.update)

    def _study_of(self, saved: SavedSweep, points: OpenedPoints) -> list[widgets.Widget]:
        """Return the view of the study whose front was opened; nothing where it is no study."""
        if saved.study is None:
            return []

        def clicked(point: str) -> None:
            place = next((k for k, one in enumerate(saved.points) if one.id == point), None)
            if place is None:
                self._say("That point is the baseline itself, or younger than this page: there is no pair to show.")
            else:
                points.pick(place)

        self.study = view = StudyView(saved.study, clicked)
        points.names.observe(lambda _change: view.choose_point(saved.points[points.names.value].id), "value")
        view.choose_point(saved.points[0].id)
        folded = widgets.Accordion([view.widget], titles=["The study: its front, how it grew, which levers matter"])
        folded.selected_index = 0
        return [folded]

    def close(self) -> None:
        """Stop listening to the notebook, then close as every widget does."""
        if hasattr(self, "_watch"):  # else the first setting was refused, and nothing listens yet
            if self.study is not None:
                self.study.stop()
            self._rest.cancel()
            self._look.cancel()
            self._offers.cancel()
            self._note_rest.cancel()
            self.several.stop()
            self.cards.stop()
            self._watch.stop()
            self.sidebar.workload.close()
        super().close()

    def _decision_runs(self) -> tuple[Sequence[str], Sequence[Setup], int]:
        """Return the decisions that `why` steps through."""
        if self._runs is None:
            raise InputError("there is no setting that can be run.")
        runs = PairedRuns(self.sidebar.config())
        return runs.names, [point.setup for point in runs.points], int(self.sidebar.drawn.plain())

    def _try(self, setting: Setting) -> None:
        """Refuse a setting that cannot be run; nothing is shown."""
        PairedRuns(self.sidebar.config_of(setting)).records(int(setting["drawn_seed"]))

    def _picked(self) -> None:
        """Show large what was clicked among several."""
        self.sidebar.refresh()
        self.update()

    def _follow(self, link: str) -> None:
        """Show the setting that the page's address names."""
        with self._report_errors(stale=False):
            self.show(from_link(self.opened_with, link))

    def _note(self) -> None:
        """Keep the setting for undo, and write it into the page's address."""
        try:
            setting = self.sidebar.setting()
        except InputError:
            return  # a value that is none has no place in a line of settings
        self.history.note(setting)
        link = as_link(differences(self.opened_with, {**setting, **self._lasting_workload(setting)}))
        self.url_fragment.setting = link
        self.tools.allow(self.history.can_undo, self.history.can_redo, bool(link))

    def _lasting_workload(self, setting: Setting) -> Setting:
        """Return the workload under a name that outlives the page, where the address is to give it back."""
        if not self.url_fragment.is_served:
            return {}
        return self.sidebar.workload.lasting({"workload": setting["workload"]})

    def _show_answer(self) -> None:
        """Open the page with the dropped file, before any run, which it may not even allow; the zone is next to it."""
        workload, zone = self.sidebar.workload, self.sidebar.workload.drop
        if self.answer is None or zone is None:
            return
        is_answered = self.answer.show(workload.workload())
        if is_answered != bool(self.first.children):
            workload.release_zone(is_answered)
            self.first.children = [zone, *self.answer.widgets] if is_answered else []
            self.first.layout.display = None if is_answered else "none"

    def _look_at_compile(self) -> None:
        """Say how far the compilation is; once it has ended, run what the sidebar says then."""
        if self._first_compile.runs():
            self.status.value = self._first_compile.progress()
            self._look.start(LOOK_SECONDS)
        else:
            self.update()

    def _warm_up(self, runs: PairedRuns) -> None:
        """Warm up once: whether the sources have changed takes as long to find out as some runs."""
        if not self._warm:
            runs.warm_up(self._say)
            self._warm = True

    def _defined(self) -> None:
        self.sidebar.refresh()
        self.update()

    def _continue(self) -> None:
        if self._runs is not None:
            with self._report_errors():
                self._show_runs(self._runs, SLICE_SECONDS, 0)

    def _write_sweep(self, _change: object = None) -> None:
        """Write the state as YAML, where somebody looks at it: writing it takes as long as a dozen runs."""
        if self.folded.selected_index is not None:
            with self._report_errors():
                config = self.sidebar.workload.lasting(self.sidebar.config())
                self.sweep.value = yaml.safe_dump(config, sort_keys=False, default_flow_style=None, width=88)

    def _names(self, runs: PairedRuns) -> tuple[str, str]:
        """Return the names of the baseline and the other side."""
        return self._sets.names(self.sidebar.policies.sides(), runs.names)

    def _show_seed(self, runs: PairedRuns) -> None:
        """Show one run of either side."""
        records = runs.records(self.sidebar.drawn.plain())
        self.panels.show_seed(self._names(runs), records, self.sidebar.looked_at())

    def _show_runs(self, runs: PairedRuns, seconds: float, rest: float) -> None:
        """Run the next seeds; the panels show all that have been run, and what is left follows."""
        advanced = runs.advance(seconds)
        _refuse_failures(advanced)
        compared = compared_measures(advanced, runs.points, self.sidebar.measure.plain())
        self._show_differences(runs, advanced, compared)
        self.panels.show_runs(runs, advanced, self.sidebar.looked_at())
        self.table.value = measures_table(advanced, self._names(runs), compared)
        self.board.remove_class("wb-stale")
        self.board.remove_class("wb-recorded")
        left = runs.n_seeds - runs.n_done
        self._say(f"{runs.n_done} of {runs.n_seeds} paired runs." if left else f"{runs.n_done} paired runs.")
        self._offer_stop(bool(left))
        if left:
            self._rest.start(rest)
        else:
            self._offers.start()

    def _stop(self) -> None:
        """Leave the seeds that have not been run; the next turn of a lever runs its own."""
        self._rest.cancel()
        self._offer_stop(False)
        if self._runs is not None:
            self._say(f"{self._runs.n_done} of {self._runs.n_seeds} paired runs: stopped.")

    def _offer_stop(self, is_offered: bool) -> None:
        self.stop.layout.visibility = "visible" if is_offered else "hidden"

    def _show_differences(self, runs: PairedRuns, advanced: Results, compared: ComparedMeasures) -> None:
        if runs.same:
            self.histogram.say("Both sides are the same: there is nothing to compare.")
            return
        try:
            measure = self.sidebar.measure.plain()
            self.histogram.show(advanced, measure, self._names(runs), compared.verdicts.get(measure))
        except InputError as undefined:
            self.histogram.say(str(undefined))

    @contextmanager
    def _report_errors(self, stale: bool = True) -> Iterator[None]:
        """Say a mistake above the panels; with `stale` these do not show what the levers say, one of which is wrong."""
        try:
            yield
        except WorkbenchError as mistake:
            message = str(mistake).removeprefix("sweep: ")  # there is no file that the sentence could be about
            self.status.value = alert(message)
            if stale and self.sidebar.mark(message, is_said=self.cards.refuse(message)):
                self.status.add_class(AT_LEVER)
            if stale:
                self.board.add_class("wb-stale")

    def _say(self, sentence: str) -> None:
        self.status.value = small_print(sentence)


def heading(config: DashboardConfig) -> str:
    """Return the first words of a page: a title, what one sees, and the meaning of the colors, as HTML."""
    title, summary = escaped(config.title), escaped(config.summary)
    folded = f'<details><summary>How to read this</summary><p>{summary}</p><p class="wb-legend">{_LEGEND}</p></details>'
    return f'<div class="wb-heading"><h2>{title}</h2>{folded}</div>'


def _refuse_failures(runs: Results) -> None:
    """Say in one sentence that runs failed, and why the first of them did."""
    failed = runs.failures
    if failed:
        raise WorkbenchError(f"{len(failed)} of {len(runs.rows)} runs failed; seed {failed[0].seed}: {failed[0].error}")
