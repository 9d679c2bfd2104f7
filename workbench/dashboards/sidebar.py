"""What a user can turn: policies, machine, workload, options, seeds, measure; its value is a sweep.

Sliders and drop-downs offer no more than the check of the whole setting takes. The check is that of reading a plan,
asked of values that nobody has chosen yet: workload against machine, policies against levers. No workload is drawn,
which can take seconds at the end of a slider, and nothing is run; what is seen only then is refused when it is chosen.
A slider of few stops is asked for each of them; of a longer one its ends are, and where an end is refused, the last
stop that is not is looked for by halves; if one of a few stops between the two ends is refused, or one beyond them is
not (what must divide, or be divided), all are asked for. A drop-down is asked for every name: a lever's that is refused
is left out; a policy or a preset that is refused is marked, with the reason, for a lever of its own may be the cure.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls import Control, NameControl, NumberControl, nearest_stop, words
from workbench.dashboards.page import Later, has_loop
from workbench.dashboards.paired_runs import Opening
from workbench.dashboards.part_controls import BlocksControl, MachineControl, WorkloadControl
from workbench.dashboards.sidebar_parts import (
    FirstLevers,
    PoliciesControl,
    PoliciesTable,
    Section,
    matching,
    miss,
    search_box,
    wrong_levers,
)
from workbench.dashboards.spec_controls import ChoiceControl, LeversControl, control_for
from workbench.errors import InputError, WorkbenchError
from workbench.experiments.mechanism import Mechanism, WithOwn, measures_of
from workbench.experiments.plan import setups_read
from workbench.experiments.sweep import read_sweep
from workbench.levers import Lever, Spec
from workbench.workloads.generators import generators

MOST_SEEDS = 1000


class Sidebar:
    """All controls of a dashboard: on top what matters first, below it the policies, the rest folded away."""

    def __init__(self, mechanism: Mechanism, opening: Opening) -> None:
        engine = mechanism.engine
        self._engine, self._view = engine.name, opening.view
        self.policies = PoliciesControl(engine, opening)
        self.machine = MachineControl(opening)
        self.workload = WorkloadControl(engine.workload_kind, opening.regime, opening.length, opening.dropped)
        started = engine.options(**opening.options)
        self.options = control_for(Lever("options", "spec", started, spec=engine.options))
        self.seeds = control_for(_seeds(opening.seeds))
        self.workload.on_drop(lambda: self.seeds.show(1))  # what was recorded happened once
        self.drawn = control_for(_DRAWN)
        self.measure = MeasureControl(mechanism, opening.measure)
        self.view = LeversControl(Lever("view", "spec", opening.view(), spec=opening.view))
        self._marked: list[Control] = []
        above = [self.machine.head, self.workload.head, self.seeds.widget, self.measure.widget]
        self.first, self.table = FirstLevers(opening.first, above), PoliciesTable(self.policies)
        self.search = search_box()
        self.search.observe(lambda _: self._search(), "value")
        self.sections = self._sections(opening.options_titled or "Engine")
        rest = [section.widget for section in self.sections.values()]
        for each in rest:
            each.add_class("wb-rest")
        shape = {"flex": "1 1 340px", "min_width": "0", "max_width": "440px"}
        top = [self.first.widget, self.search]
        self.widget = widgets.VBox([*top, *rest], layout=shape)
        self.widget.add_class("wb-sidebar")
        self.first.refresh(self.walk())
        self.on_change(self._look_again)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call someone whenever the user changes anything."""
        for control in self._controls():
            control.on_change(listener)

    def said(self) -> dict[str, Any]:
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
            **self.policies.said(),
            "options": self.options.plain(),
            "seeds": self.seeds.plain(),
        }

    def said_of(self, setting: Mapping[str, Any]) -> dict[str, Any]:
        """Return the sweep that the page would say with another setting; nothing is shown."""
        alike = {name: setting[name] for name in ("machine", "workload", "options", "seeds")}
        return {"engine": self._engine, **alike, **self.policies.said(setting)}

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
        """Return what the panels are to show."""
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

    def mark(self, refusal: str) -> None:
        """Mark the levers that a refusal is about, and no others."""
        for control in self._marked:
            control.mark(False)
        self._marked = wrong_levers(self.walk(), refusal) if refusal else []
        for control in self._marked:
            control.mark(True)

    def _show(self, setting: Mapping[str, Any]) -> None:
        self.policies.show({side: setting[side] for side in self.policies.sides()})
        for name, control in self._roots().items():
            control.show(setting[name])

    def _roots(self) -> dict[str, Control]:
        """Return every control beside those of the policies, by the first word of its path."""
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
        self.first.refresh(self.walk())
        self.table.refresh()
        if self.search.value.strip():
            self._search()

    def _search(self) -> None:
        """Show what the search box names, and nothing else below it; everything, once it is empty."""
        sought = self.search.value.strip()
        walked = dict(self.walk())
        visible = matching(walked.items(), sought) if sought else None
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


_DRAWN = Lever(
    "drawn_seed",
    "integer",
    0,
    least=0,
    most=MOST_SEEDS - 1,
    description="the seed whose runs are drawn over time",
)


def _seeds(start: int) -> Lever:
    says = "both sides meet the same requests at each seed, 0, 1, 2 and so on"
    return Lever("seeds", "integer", start, least=1, most=MOST_SEEDS, scale="log", unit="paired runs", description=says)


class MeasureControl(NameControl):
    """A drop-down of every measure of which less or more is better; a new cell's joins when it is refreshed."""

    def __init__(self, mechanism: Mechanism, start: str) -> None:
        """Offer the measures of a mechanism; `start` is the name of the one that a dashboard opens with."""
        self._mechanism, self._start = mechanism, start
        super().__init__(self._offered())
        self.show(start)

    def refresh(self) -> None:
        """Offer the measures that there are by now; the chosen one stays, unless the user removed it."""
        chosen, self.lever = self.shown.value, self._offered()
        with self._quietly():
            self.shown.options = words(self.lever.choices)
            self.shown.value = chosen if chosen in self.lever.choices else self._start

    def _offered(self) -> Lever:
        known = WithOwn(self._mechanism.measures, measures_of(self._mechanism.engine.name))
        names = tuple(name for name in known if known[name].better != "neither")
        return Lever("measure", "choice", self._start, choices=names, description=_DESCRIPTION)


_DESCRIPTION = "what the histogram compares seed by seed"

FEW = 16
"""Up to so many stops each one is asked for."""

ASKED = 6
"""About so many stops are asked for besides, to see whether those that pass lie together."""

REST_SECONDS = 0.5
"""How long a page must rest before its sliders are looked at; any turn of a lever comes first."""

GAP_SECONDS = 0.01
"""Between two checks, so that what the browser says meanwhile is heard."""

ROOMS = ("policy", "other", "machine", "workload", "options")
"""Where the controls of what is run stand in a page."""

CATALOGUES = ("policy", "other", "machine")
"""Those of them in which policies and presets are chosen."""

Check = Callable[[], object]
Passes = Callable[[float], bool]


class Offers:
    """Narrows the sliders of a page one after the other while nothing else is to be done."""

    def __init__(self, sidebar: Sidebar) -> None:
        self._sidebar = sidebar
        self._left: Iterator[None] = iter(())
        self._later = Later(self._next)

    def start(self) -> None:
        """Look at every slider soon; where no page listens (a script, a test) nobody slides, and nothing is done."""
        if has_loop():
            self._left = self._narrowing()
            self._later.start(REST_SECONDS)

    def cancel(self) -> None:
        """Leave the rest as it is."""
        self._later.cancel()

    def _narrowing(self) -> Iterator[None]:
        looks: list[tuple[Any, Any]] = [(sliders, narrowing), (drop_downs, choosing), (catalogues, marking)]
        for controls, look in looks:
            for control in list(controls(self._sidebar)):
                yield from look(control, self.check)

    def _next(self) -> None:
        """Make one check: what a user does meanwhile waits no longer than that takes."""
        if next(self._left, self) is not self:
            self._later.start(GAP_SECONDS)

    def check(self) -> None:
        """Refuse what cannot be read into a plan; one seed is enough to know."""
        setups_read(read_sweep({**self._sidebar.said(), "seeds": 1}))


def sliders(sidebar: Sidebar) -> Iterator[NumberControl]:
    """Yield the sliders of what is run, but for a workload's length: no check ends it, and a long one takes seconds."""
    lengths = {cls.counted_by for cls in generators(sidebar.workload.wants).values()}
    for path, control in sidebar.walk():
        room, _, lever = path.partition(".")
        inner = control.blocks if isinstance(control, BlocksControl) else control
        long = room == "workload" and lever.split(".")[-1] in lengths
        if isinstance(inner, NumberControl) and room in ROOMS and not long:
            yield inner


def drop_downs(sidebar: Sidebar) -> Iterator[NameControl]:
    """Yield the levers of what is run that are one name of several."""
    for path, control in sidebar.walk():
        if isinstance(control, NameControl) and path.partition(".")[0] in ROOMS:
            yield control


def catalogues(sidebar: Sidebar) -> Iterator[ChoiceControl | MachineControl]:
    """Yield what is one of a catalogue: the policies of both sides, those that they hold, and the presets."""
    for path, control in sidebar.walk():
        if isinstance(control, (ChoiceControl, MachineControl)) and path.partition(".")[0] in CATALOGUES:
            yield control


def marking(control: ChoiceControl | MachineControl, check: Check) -> Iterator[None]:
    """Mark the names that a setting would be refused with, each with the reason; yield after a check.

    Where the present setting is refused itself, and of a name that needs something typed first, nothing is said.
    """
    fine, refused = _passes(check), dict[str, str]()
    yield
    for name in control.choices if fine else ():
        why = _refusal(control, name, check)
        refused |= {name: why} if why else {}
        yield
    control.say_refused(refused)


def _refusal(control: ChoiceControl | MachineControl, name: str, check: Check) -> str:
    """Return why a setting with another name is refused, empty = it is not."""
    try:
        with control.trying(name):
            return _why(check)
    except WorkbenchError:
        return ""  # its own levers are not complete


def _why(check: Check) -> str:
    try:
        check()
    except WorkbenchError as mistake:
        return str(mistake)
    return ""


def choosing(control: NameControl, check: Check) -> Iterator[None]:
    """Leave out the names that a setting would be refused with, as `narrow` does of a slider; yield after a check."""
    fine, kept = _passes(check), []
    yield
    for name in control.lever.choices if fine else ():
        with control.trying(name):
            kept += [name] * _passes(check)
        yield
    control.offer(kept if fine else control.lever.choices)


def narrow(control: NumberControl, check: Check) -> None:
    """End a slider where a setting would be refused; one whose present value is refused keeps all its stops.

    Parameters
    ----------
    control : NumberControl
    check : callable
        Raises a `WorkbenchError` if the setting that the controls say is refused.

    Examples
    --------
    >>> from workbench.errors import InputError
    >>> from workbench.levers import Lever
    >>> parts = NumberControl(Lever("parts", "integer", 1, least=1, most=12))
    >>> parts.show(4)
    >>> def divides():
    ...     if 12 % parts.plain():
    ...         raise InputError("parts must divide 12.")
    >>> narrow(parts, divides)
    >>> list(parts.stops), parts.plain()
    ([1, 2, 3, 4, 6, 12], 4)
    """

    for _ in narrowing(control, check):
        pass


def narrowing(control: NumberControl, check: Check) -> Iterator[None]:
    """Do as `narrow`, and yield after every check."""

    def passes(value: float) -> bool:
        with control.trying(value):
            return _passes(check)

    if len(control.declared) > 1:
        fine = _passes(check)
        yield
        control.offer((yield from _allowed(control.declared, control.box.value, passes)) if fine else control.declared)


def _allowed(stops: Sequence[float], value: float, passes: Passes) -> Generator[None, None, Sequence[float]]:
    """Return the stops that pass; the present value alone where it is no stop and the one beside it does not."""
    if len(stops) <= FEW:
        return (yield from _each(stops, passes)) or [value]
    middle = nearest_stop(list(stops), value)
    if not passes(stops[middle]):
        return [value]
    below = yield from _reach(stops[middle::-1], passes)
    above = yield from _reach(stops[middle:], passes)
    low, high = middle - below, middle + above
    for place in range(1, len(stops), len(stops) // ASKED + 1):
        if passes(stops[place]) != (low <= place <= high):
            return (yield from _each(stops, passes))
        yield
    return stops[low : high + 1]


def _each(stops: Sequence[float], passes: Passes) -> Generator[None, None, list[float]]:
    """Return the stops that pass, each asked for."""
    kept: list[float] = []
    for stop in stops:
        kept += [stop] * passes(stop)
        yield
    return kept


def _reach(stops: Sequence[float], passes: Passes) -> Generator[None, None, int]:
    """Return the place of the last stop that passes, where the first does and what is refused lies at the end."""
    passed, refused, between = 0, len(stops), len(stops) - 1
    while refused - passed > 1:
        passed, refused = (between, refused) if passes(stops[between]) else (passed, between)
        between = (passed + refused) // 2
        yield
    return passed


def _passes(check: Check) -> bool:
    return not _why(check)
