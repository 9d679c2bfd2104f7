"""All that a user can turn: policies, machine, workload, options, seeds, measure; its value is a sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import ipywidgets as widgets

from workbench.dashboards._controls import Control, NameControl, words
from workbench.dashboards._dashboard_config import DashboardConfig
from workbench.dashboards._lever_search import matching, miss, search_box, wrong_levers
from workbench.dashboards._machine_control import MachineControl
from workbench.dashboards._policies_control import PoliciesControl, PoliciesTable
from workbench.dashboards._sections import FirstLevers, IdleLevers, Section
from workbench.dashboards._spec_controls import LeversControl, control_for
from workbench.dashboards._workload_control import WorkloadControl
from workbench.errors import InputError
from workbench.levers import Lever, Spec
from workbench.mechanisms.measures import WithUserMeasures, measures_of
from workbench.mechanisms.mechanism import Mechanism

MOST_SEEDS = 1000
_DRAWN = Lever(
    "drawn_seed",
    "integer",
    0,
    least=0,
    most=MOST_SEEDS - 1,
    description="the seed whose runs are drawn over time",
)
_DESCRIPTION = "what the histogram compares seed by seed"


class Sidebar:
    """All controls of a dashboard: on top what matters first, below it the policies, the rest folded away."""

    def __init__(self, mechanism: Mechanism, config: DashboardConfig) -> None:
        engine = mechanism.engine
        self._engine, self._view = engine.name, config.view
        self.policies = PoliciesControl(engine, config)
        self.machine = MachineControl(config)
        self.workload = WorkloadControl(
            engine.workload_kind, config.regime, config.length, config.dropped_file_workload
        )
        started = engine.options(**config.options)
        self.options = control_for(Lever("options", "spec", started, spec=engine.options))
        self.seeds = control_for(_seeds(config.seeds))
        self.workload.on_drop(lambda: self.seeds.show(1))  # what was recorded happened once
        self.drawn = control_for(_DRAWN)
        self.measure = MeasureControl(mechanism, config.measure)
        self.view = LeversControl(Lever("view", "spec", config.view(), spec=config.view))
        self._marked: list[Control] = []
        above = [self.machine.head, self.workload.head, self.seeds.widget, self.measure.widget]
        self.first, self.table = FirstLevers(config.first, above), PoliciesTable(self.policies)
        self.search = search_box()
        self.search.observe(lambda _: self._search(), "value")
        self.sections = self._sections(config.options_titled or "Engine")
        rest = [section.widget for section in self.sections.values()]
        for each in rest:
            each.add_class("wb-rest")
        shape = {"flex": "1 1 364px", "min_width": "0", "max_width": "440px"}
        top = [self.first.widget, self.search]
        self.widget = widgets.VBox([*top, *rest], layout=shape)
        self.widget.add_class("wb-sidebar")
        self.idle = IdleLevers(self.widget)
        self.sections["policy"].inside.children = [*self.sections["policy"].inside.children, self.idle.widget]
        self.idle.refresh(self.walk())
        self.first.refresh(self.walk())
        self.on_change(self._look_again)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call someone whenever the user changes anything."""
        for control in self._controls():
            control.on_change(listener)

    def config(self) -> dict[str, Any]:
        """Return the state as a sweep, as a YAML file would say it.

        Raises
        ------
        InputError
            What was typed is not a value of its lever.
        """
        return {
            "engine": self._engine,
            "machine": self.machine.plain(),
            "workload": self.workload.plain(),
            **self.policies.config(),
            "options": self.options.plain(),
            "seeds": self.seeds.plain(),
        }

    def config_of(self, setting: Mapping[str, Any]) -> dict[str, Any]:
        """Return the sweep that the page would say with another setting; nothing is shown."""
        alike = {name: setting[name] for name in ("machine", "workload", "options", "seeds")}
        return {"engine": self._engine, **alike, **self.policies.config(setting)}

    def setting(self) -> dict[str, Any]:
        """Return everything that is turned here in plain types; `show` takes it back.

        Raises
        ------
        InputError
            What was typed is not a value of its lever.
        """
        others = {name: control.plain() for name, control in self._roots().items()}
        return {**others, **self.policies.sides()}

    def show(self, setting: Mapping[str, Any]) -> None:
        """Show a setting, without telling anyone.

        Raises
        ------
        InputError
            Something in it is not valid; nothing has changed then.
        """
        before = self.setting()
        try:
            self._show(setting)
        except InputError:
            self._show(before)
            raise
        finally:
            self._look_again()

    def turn(self, change: Mapping[str, Any]) -> None:
        """Turn controls, by their paths, to plain values as if the user had.

        Raises
        ------
        InputError
            A value is none of its lever's; those before it are turned.
        """
        controls = dict(self.walk())
        for path, value in change.items():
            controls[path].turn(value)

    def looked_at(self) -> Spec:
        """Return the content of the panels."""
        return self._view.read(self.view.plain())

    def refresh(self) -> None:
        """Offer the policies and laws that have been defined since."""
        for control in self._controls():
            control.refresh()
        self._look_again()

    def walk(self) -> Iterator[tuple[str, Control]]:
        """Yield every lever that there is now, with its path as a sweep writes it."""
        yield from self.policies.walk()
        for name, control in self._roots().items():
            yield from control.walk(name)

    def mark(self, refusal: str, is_said: bool = False) -> bool:
        """Mark the levers that a refusal is about, and no others; say it below the first, unless it is said elsewhere.

        Return whether it stands where it is seen: at a lever that is not folded away.
        """
        for control in self._marked:
            control.mark(False)
            control.say("")
        self._marked = wrong_levers(self.walk(), refusal) if refusal else []
        for control in self._marked:
            control.mark(True)
        if not self._marked or is_said:
            return is_said
        marked = self._marked[0]
        marked.say(refusal)
        return any(path for path, control in self.walk() if control is marked and self.first.shows(path))

    def _show(self, setting: Mapping[str, Any]) -> None:
        self.policies.show({side: setting[side] for side in self.policies.sides()})
        for name, control in self._roots().items():
            control.show(setting[name])

    def _roots(self) -> dict[str, Control]:
        """Return every control except those of the policies, by the first word of its path."""
        return {
            "machine": self.machine,
            "workload": self.workload,
            "options": self.options,
            "seeds": self.seeds,
            "drawn_seed": self.drawn,
            "measure": self.measure,
            "view": self.view,
        }

    def _controls(self) -> Iterator[Control]:
        yield from self.policies
        yield from self._roots().values()

    def _sections(self, options_titled: str) -> dict[str, Section]:
        """Return the sections by the words that their paths begin with; only the first one is open."""
        common = [control.widget for control in self.policies.common.values()]
        parts: dict[str, tuple[str, list[widgets.Widget]]] = {
            "policy": ("Policies", [self.table.widget]),
            "machine": ("Machine", [self.machine.widget]),
            "workload": ("Workload", [self.workload.widget]),
            "options": (options_titled, [*common, self.options.widget]),
            "drawn_seed view": ("View", [self.drawn.widget, self.view.widget]),
        }
        return {key: Section(title, *inside, folded=key != "policy") for key, (title, inside) in parts.items()}

    def _look_again(self) -> None:
        walked = list(self.walk())
        self.first.refresh(walked)
        self.idle.refresh(walked)
        self.table.refresh()
        if self.search.value.strip():
            self._search()

    def _search(self) -> None:
        """Show what the search box names, and nothing else below it; everything, once it is empty."""
        sought = self.search.value.strip()
        walked = dict(self.walk())
        visible = matching(walked.items(), sought) if sought else None
        self.idle.show(visible is not None)
        for path, control in walked.items():
            miss(control.widget, visible is not None and path not in visible)
        self.table.search(visible)
        common = {f"policy.{slot}" for slot in self.policies.common}
        for key, section in self.sections.items():
            section.search(None if visible is None else _has(key, visible, common))


def _has(key: str, visible: set[str], common: set[str]) -> bool:
    """Return whether a section holds a path that is seen."""
    heads = {path.split(".")[0] for path in visible - common}
    if key == "options" and visible & common:
        return True
    return bool(heads & {*key.split(), *(["other"] if key == "policy" else [])})


def _seeds(start: int) -> Lever:
    description = "both sides meet the same requests at each seed, 0, 1, 2 and so on"
    return Lever(
        "seeds", "integer", start, least=1, most=MOST_SEEDS, scale="log", unit="paired runs", description=description
    )


class MeasureControl(NameControl):
    """A drop-down of every measure of which less or more is better; a new cell's joins when it is refreshed."""

    def __init__(self, mechanism: Mechanism, start: str) -> None:
        """Offer the measures of a mechanism; `start` is the name of the one that a dashboard opens with."""
        self._mechanism, self._start = mechanism, start
        super().__init__(self._offered())
        self.show(start)

    def refresh(self) -> None:
        """Offer the measures that there are by now; the chosen one stays, unless the user removed it."""
        chosen, self.lever = self.field.value, self._offered()
        with self._quietly():
            self.field.options = words(self.lever.choices)
            self.field.value = chosen if chosen in self.lever.choices else self._start

    def _offered(self) -> Lever:
        known = WithUserMeasures(self._mechanism.measures, measures_of(self._mechanism.engine.name).all())
        names = tuple(name for name in known if known[name].better != "neither")
        return Lever("measure", "choice", self._start, choices=names, description=_DESCRIPTION)
