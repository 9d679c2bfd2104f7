"""Controls of the machine and of the workload, and what notebook cells define for them meanwhile.

A machine is a preset by name with some of its levers apart from the preset's, or a rule with levers of its own; N of a
resource, the blocks that each SIMD has, is a lever beside the number of SIMDs. A workload is a regime that sets the
levers of a generator; a file or a trace of one's own can stand instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls import Control, NumberControl, mark, marked, row
from workbench.dashboards.dropped_file import DropZone
from workbench.dashboards.paired_runs import Opening
from workbench.dashboards.spec_controls import ChoiceControl, LeversControl, workloads
from workbench.errors import InputError, WorkbenchError, wrong_value
from workbench.experiments.mechanism import measures_of, mechanism, mechanisms
from workbench.levers import Family, Lever, Spec
from workbench.machine import preset, presets
from workbench.machine.machine import Resource
from workbench.policies.policy import policies, questions
from workbench.workloads.generators import regimes
from workbench.workloads.workload import Generator, Workload
from workbench.workloads.workload_key import read_workload

_PRESET = Lever("preset", "text", description="a machine with a source for each of its figures")


class MachineControl(Control):
    """A drop-down of presets and rules, and levers below it; its plain value is what a sweep says of its machine."""

    def __init__(self, opening: Opening) -> None:
        self._of = mechanism(opening.engine).engine.machine
        start = self._of.read(opening.machine)
        super().__init__(Lever("machine", "spec", start, spec=self._of))
        self._line = opening.machine_line
        names = [(f"{row['name']}: {row['title']}", row["name"]) for row in presets(self._of)]
        names += [(words, spec.name) for words, spec in opening.machine_rules.items()]
        self._words, self._refused = names, dict[str, str]()
        self.names = widgets.Dropdown(options=names, tooltip=_PRESET.description)
        self.names.add_class("wb-pick")
        specs = opening.machine_rules.values()
        self.rules = {spec.name: LeversControl(Lever("machine", "spec", spec=spec)) for spec in specs}
        self._turnable = tuple(opening.machine_levers)
        self.names.value, rule = self._source(opening.machine, start)
        self.levers = machine_levers(self.lever, self._turnable, self._preset)
        self.levers.show(start)
        for name, control in self.rules.items():
            if rule is not None and name == self.names.value:
                control.show(rule)
            control.on_change(self._turned)
        self.inside = widgets.VBox([self.rules.get(self.names.value, self.levers).widget])
        self.holds = widgets.Label()
        self.holds.add_class("wb-note")
        self.names.observe(self._chosen, "value")
        self.levers.on_change(self._turned)
        self.head = widgets.VBox([row(_PRESET, self.names), self.holds])
        """The drop-down and what the machine has: what stands on top of a page."""
        self.widget = widgets.VBox([self.inside])
        self._turned()

    @property
    def choices(self) -> list[str]:
        """Return the names of every preset and rule."""
        return [name for _, name in self._words]

    @contextmanager
    def trying(self, name: str) -> Iterator[None]:
        """Let `plain` return another preset or rule meanwhile, as it would be if it were chosen.

        Raises
        ------
        InputError
            A rule is not complete: what is to be typed first nobody can try.
        """
        if name in self.rules:
            self._of.read(self.rules[name].plain())
        with super().trying(name):
            yield

    def say_refused(self, refused: Mapping[str, str]) -> None:
        """Mark the names that the check of the whole setting refuses, each with the reason; nobody is called."""
        if dict(refused) != self._refused:
            self._refused, present = dict(refused), self.names.value
            self.names.unobserve(self._chosen, "value")
            with self.names.hold_sync():
                self.names.options = [(marked(words, self._refused.get(name)), name) for words, name in self._words]
                self.names.value = present
            self.names.observe(self._chosen, "value")

    def plain(self) -> dict[str, Any]:
        if self._tried is not None and self._tried != self.names.value:
            return self.rules[self._tried].plain() if self._tried in self.rules else {"preset": self._tried}
        if self.names.value in self.rules:
            return self.rules[self.names.value].plain()
        return {"preset": self.names.value, **self.levers.plain()}

    def show(self, value: Any) -> None:
        """Show what a sweep says of its machine, or a machine that a preset or a rule gives.

        Raises
        ------
        InputError
            It is not valid, or this page offers no preset or rule that gives it.
        """
        machine = self._of.read(value)
        name, rule = self._source(value, machine)
        with self._quietly():
            self.names.value = name
            if rule is None:
                self.levers.show(machine)
            else:
                self.rules[name].show(rule)
            self._turned()

    def walk(self, path: str) -> Iterator[tuple[str, Control]]:
        yield path, self
        yield from self.rules.get(self.names.value, self.levers).walk(path)

    def mark(self, wrong: bool) -> None:
        mark(self.names, wrong)

    def _source(self, value: Any, machine: Any) -> tuple[str, Spec | None]:
        """Return the preset or the rule that gives a machine, and the rule with its levers."""
        named = value if isinstance(value, str) else value.get("preset") if isinstance(value, Mapping) else None
        for name in [named] if named else [name for _, name in self.names.options]:
            rule = self._rule_of(name, value)
            if rule is not None or (name not in self.rules and self._gives(name, machine)):
                return str(name), rule
        example = next((f", such as {{preset: {name}}}" for _, name in self._words if name not in self.rules), "")
        turned = ", ".join(self._turnable) or "none"
        expected = (
            f"must be a preset or a rule that this page offers{example}, changed in no lever but its own ({turned})"
        )
        raise wrong_value("", "machine", expected, value)

    def _rule_of(self, name: str, value: Any) -> Spec | None:
        if name not in self.rules or not isinstance(value, Mapping):
            return None
        spec = self.rules[name].lever.spec
        assert spec is not None
        try:
            return spec.read(value)
        except InputError:
            return None

    def _gives(self, name: str, machine: Any) -> bool:
        """Return whether a preset gives a machine once the levers of this page are turned to it."""
        given = preset(name, self._of).machine()
        return bool(given.but(**{lever: getattr(machine, lever) for lever in self._turnable}) == machine)

    def _preset(self) -> Any:
        return preset(self.names.value, self._of).machine()

    def _chosen(self, _change: object) -> None:
        rule = self.rules.get(self.names.value)
        self.inside.children = [(rule or self.levers).widget]
        if rule is None:
            self.levers.show(self._preset())
        self._turned()

    def _turned(self) -> None:
        try:
            self.holds.value = self._line(self._of.read(self.plain()))
        except InputError:
            self.holds.value = ""  # the sweep will say what is wrong
        self._changed()


_CUTS = {"vgprs_a_unit": "vgpr", "sgprs_a_unit": "sgpr", "waves_a_unit": "wave"}
"""Levers of a machine that its SIMDs share out, and what a page calls a block of them."""


class BlocksControl(Control):
    """What a compute unit has, turned as blocks of one SIMD; more SIMDs have as many blocks each.

    A machine's own figure stays to the register as long as neither is turned.
    """

    def __init__(self, lever: Lever, block: Callable[[], int], simds: Control) -> None:
        """Take as `block` how much a block is on the machine that is chosen, as `simds` the control of their number."""
        super().__init__(lever)
        self._block, self._simds = block, simds
        self._as_found: tuple[int, int, int] | None = None
        least = min(1, int(lever.least or 0))  # a machine may have none of what it does not reserve
        most = min(int(Resource.levers["blocks"].most or 0), int(lever.most or 0))
        says = f"N: what each SIMD has of the {lever.label} in blocks; turning the number of SIMDs leaves it as it is"
        word = _CUTS[lever.name]
        inner = Lever(f"{word}_N", "integer", 64, least=least, most=most, unit="blocks a SIMD", description=says)
        self.blocks = NumberControl(inner)
        self.box, self.slider, self.widget = self.blocks.box, self.blocks.slider, self.blocks.widget
        self.blocks.on_change(self._changed)
        simds.on_change(self._bound)

    def plain(self) -> Any:
        blocks, simds = self.blocks.plain(), self._simds.plain()
        if self._as_found is not None and self._as_found[1:] == (blocks, simds):
            return self._as_found[0]
        return self.lever.check(blocks * simds * self._block())

    def _show(self, value: int) -> None:
        simds = self._simds.plain()
        self._bound()
        self.blocks.show(value // (simds * self._block()))
        self._as_found = value, self.blocks.plain(), simds

    def _bound(self) -> None:
        """Offer no more than the machine's lever takes for so many SIMDs."""
        most = int(self.lever.most or 0) // (self._simds.plain() * self._block())
        self.box.max = min(int(self.blocks.lever.most or 0), most)


def machine_levers(lever: Lever, only: Sequence[str], machine: Callable[[], Any]) -> LeversControl:
    """Return the levers of a machine; where its SIMDs can be turned, what they share out is turned as blocks of each.

    Take as `machine` what gives the preset that is chosen, whose granules cut the blocks.
    """
    if "simds_a_unit" not in only:
        return LeversControl(lever, only=only)
    blocks: dict[str, Callable[[], int]] = {
        "vgprs_a_unit": lambda: int(machine().wave_size * machine().vgpr_granule),
        "sgprs_a_unit": lambda: int(machine().sgpr_granule),
        "waves_a_unit": lambda: 1,
    }
    return LeversControl(lever, only=only, instead={name: partial(_blocks, each) for name, each in blocks.items()})


def _blocks(block: Callable[[], int], lever: Lever, before: dict[str, Control]) -> BlocksControl:
    return BlocksControl(lever, block, before["simds_a_unit"])


OWN = "(own)"
_ASKS = "Drop a memory snapshot, profile or RMM log of your own here, or choose one"
_REGIME = Lever("regime", "text", description="a workload with a source; it sets the levers below")


class WorkloadControl(Control):
    """A drop-down of regimes and every lever of the workload; the drop-down says `(own)` once a lever was turned."""

    def __init__(
        self, wants: str, start: str, length: int | Mapping[str, Any], dropped: type[Workload] | None = None
    ) -> None:
        """Take as `wants` what the engine serves, as `start` a regime, as `length` that of every regime and as
        `dropped` what a file becomes, see `Opening`."""
        self.wants = wants
        self._dropped: list[Callable[[], None]] = []
        self._regimes = {name: _bounded(regime.workload, length) for name, regime in regimes(wants).items()}
        super().__init__(Lever("workload", "spec", self._regimes[start], spec=Workload))
        self.names = widgets.Dropdown(options=[(name.replace("_", " "), name) for name in [*self._regimes, OWN]])
        self.names.tooltip = _REGIME.description
        self.names.add_class("wb-pick")
        self.levers = ChoiceControl(self.lever, members=lambda: workloads(wants))
        self.levers.show(self._regimes[start])
        self._name()
        self.names.observe(self._chosen, "value")
        self.levers.on_change(self._turned)
        self.drop = None if dropped is None else DropZone(_ASKS, self._take(dropped))
        self._zone = widgets.VBox([] if self.drop is None else [self.drop])
        self.head = widgets.VBox([self._zone, row(_REGIME, self.names)])
        """The place for a file of one's own and the drop-down: what stands on top of a page."""
        self.widget = self.levers.widget

    def close(self) -> None:
        """Delete what was dropped."""
        if self.drop is not None:
            self.drop.close()

    def workload(self) -> Workload:
        """Return what the levers say.

        Raises
        ------
        InputError
            They say no workload.
        """
        return read_workload(self.levers.plain(), wants=self.wants)

    def lend_zone(self, is_lent: bool) -> None:
        """Leave the place for a file to another part of the page, or take it back: it stands once."""
        self._zone.children = [] if is_lent or self.drop is None else [self.drop]

    def plain(self) -> Any:
        return self.levers.plain()

    def show(self, value: Any) -> None:
        with self._quietly():
            self._show(read_workload(value, wants=self.wants))

    def walk(self, path: str) -> Iterator[tuple[str, Control]]:
        yield from self.levers.walk(path)

    def refresh(self) -> None:
        self.levers.refresh()

    def lasting(self, config: dict[str, Any]) -> dict[str, Any]:
        """Return a sweep in which a dropped file is called by a copy that outlives the page; the copy is made."""
        return config if self.drop is None else self.drop.copies.in_sweep(config)

    def on_drop(self, listener: Callable[[], None]) -> None:
        """Call someone when a file was dropped, before anyone hears that the workload has changed."""
        self._dropped.append(listener)

    def _take(self, becomes: type[Workload]) -> Callable[[Path], None]:
        def taken(path: Path) -> None:
            self.show(becomes(trace=str(path)))
            for listener in self._dropped:
                listener()
            self._changed()

        return taken

    def _show(self, value: Workload) -> None:
        self.levers.show(value)
        self._name()

    def _chosen(self, _change: object) -> None:
        if not self._quiet and self.names.value != OWN:
            self.levers.show(self._regimes[self.names.value])
            self._changed()

    def _turned(self) -> None:
        self._name()
        self._changed()

    def _name(self) -> None:
        """Let the drop-down tell the truth: the regime whose levers these are, or none."""
        with self._quietly():
            self.names.value = self._regime()

    def _regime(self) -> str:
        try:
            workload = self.workload()
        except WorkbenchError:
            return OWN
        return next((name for name, regime in self._regimes.items() if regime == workload), OWN)


def _bounded(workload: Generator, length: int | Mapping[str, Any]) -> Generator:
    """Return a workload of that length, or with those of some levers that it has."""
    if isinstance(length, int):
        return workload.but(**{workload.counted_by: length})
    return workload.but(**{name: value for name, value in length.items() if name in workload.levers})


class CatalogueWatch:
    """Calls someone after each notebook cell that defined something new, or something anew; outside IPython, nobody."""

    def __init__(self, defined: Callable[[], None]) -> None:
        self._defined = defined
        self._known = users_own()
        self._events = _shell_events()
        if self._events is not None:
            self._events.register("post_run_cell", self._after_cell)

    def stop(self) -> None:
        """Listen no more."""
        if self._events is not None:
            self._events.unregister("post_run_cell", self._after_cell)
            self._events = None

    def _after_cell(self, _result: object = None) -> None:
        classes = users_own()
        if classes != self._known:
            self._known = classes
            self._defined()


def users_own() -> dict[str, Any]:
    """Return every part of a catalogue that is not of this package; run again, a cell gives its name another part."""
    rooms: dict[str, Any] = {question: policies(question) for question in questions()}
    rooms |= {base.noun: base.members for base in _families(Family)}
    rooms |= {f"measure of {engine}": measures_of(engine) for engine in mechanisms()}
    return {
        f"{room}/{name}": part for room, known in rooms.items() for name, part in known.items() if not part.built_in
    }


def _families(base: type[Family]) -> list[type[Family]]:
    families = [sub for sub in base.__subclasses__() if "members" in vars(sub)]
    return families + [inner for sub in families for inner in _families(sub)]


def _shell_events() -> Any:
    try:
        from IPython import get_ipython
    except ModuleNotFoundError:
        return None
    shell = get_ipython()
    return None if shell is None else shell.events
