"""Controls of the machine: a preset with some of its levers, or a rule with levers of its own.

N of a resource, the blocks that each SIMD has, is a lever next to the number of SIMDs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.dashboards._controls import Control, NumberControl, mark, marked, row
from workbench.dashboards._dashboard_config import DashboardConfig
from workbench.dashboards._spec_controls import LeversControl
from workbench.errors import InputError, wrong_value
from workbench.experiments.setups import read_machine
from workbench.levers import Lever, Spec
from workbench.machine.guest_presets import guest_presets, known_preset
from workbench.machine.machine import Resource
from workbench.machine.presets import presets
from workbench.mechanisms.mechanism import mechanism

_PRESET = Lever("preset", "text", description="a machine with a source for each of its figures")


class MachineControl(Control):
    """A drop-down of presets and rules, and levers below it; its plain value is what a sweep says of its machine."""

    def __init__(self, config: DashboardConfig) -> None:
        self._of = mechanism(config.engine).engine.machine
        start = self._read(config.machine)
        super().__init__(Lever("machine", "spec", start, spec=self._of))
        self._line = config.machine_summary
        names = [(f"{row['name']}: {row['title']}", row["name"]) for row in presets(self._of)]
        names += [(f"{one.name}: {one.title}", one.name) for _, one in guest_presets(self._of)]
        names += [(words, spec.name) for words, spec in config.machine_rules.items()]
        self._words, self._refused = names, dict[str, str]()
        self.names = widgets.Dropdown(options=names, tooltip=_PRESET.description)
        self.names.add_class("wb-pick")
        specs = config.machine_rules.values()
        self.rules = {spec.name: LeversControl(Lever("machine", "spec", spec=spec)) for spec in specs}
        self._turnable = tuple(config.machine_levers)
        self.names.value, rule = self._source(config.machine, start)
        self.levers = machine_levers(self.lever, self._turnable, self._preset)
        self.levers.show(start)
        for name, control in self.rules.items():
            if rule is not None and name == self.names.value:
                control.show(rule)
            control.on_change(self._turned)
        self.inside = widgets.VBox([self.rules.get(self.names.value, self.levers).widget])
        self.contents = widgets.Label()
        self.contents.add_class("wb-note")
        self.names.observe(self._chosen, "value")
        self.levers.on_change(self._turned)
        self.head = widgets.VBox([row(_PRESET, self.names), self.contents])
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
            A rule is not complete: a rule that is still to be typed cannot be tried.
        """
        if name in self.rules:
            self._of.read(self.rules[name].plain())
        with super().trying(name):
            yield

    def say_refused(self, refused: Mapping[str, str]) -> None:
        """Mark the names that the check of the whole setting refuses, each with the reason; no listener is called."""
        if dict(refused) != self._refused:
            self._refused, present = dict(refused), self.names.value
            self.names.unobserve(self._chosen, "value")
            with self.names.hold_sync():
                self.names.options = [(marked(words, self._refused.get(name)), name) for words, name in self._words]
                self.names.value = present
            self.names.observe(self._chosen, "value")

    def plain(self) -> dict[str, Any]:
        if self._candidate is not None and self._candidate != self.names.value:
            return self.rules[self._candidate].plain() if self._candidate in self.rules else {"preset": self._candidate}
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
        machine = self._read(value)
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

    def _read(self, value: Any) -> Any:
        return read_machine(self._of, value, Path())

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
        machine_of_preset = known_preset(name, self._of).machine()
        return bool(machine_of_preset.but(**{lever: getattr(machine, lever) for lever in self._turnable}) == machine)

    def _preset(self) -> Any:
        return known_preset(self.names.value, self._of).machine()

    def _chosen(self, _change: object) -> None:
        rule = self.rules.get(self.names.value)
        self.inside.children = [(rule or self.levers).widget]
        if rule is None:
            self.levers.show(self._preset())
        self._turned()

    def _turned(self) -> None:
        try:
            self.contents.value = self._line(self._read(self.plain()))
        except InputError:
            self.contents.value = ""  # the sweep will say what is wrong
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
        self._exact: tuple[int, int, int] | None = None
        least = min(1, int(lever.least or 0))  # a machine may have none of what it does not reserve
        most = min(int(Resource.levers["blocks"].most or 0), int(lever.most or 0))
        description = (
            f"N: what each SIMD has of the {lever.label} in blocks; turning the number of SIMDs leaves it as it is"
        )
        word = _CUTS[lever.name]
        inner = Lever(f"{word}_N", "integer", 64, least=least, most=most, unit="blocks a SIMD", description=description)
        self.blocks = NumberControl(inner)
        self.box, self.slider, self.widget = self.blocks.box, self.blocks.slider, self.blocks.widget
        self.blocks.on_change(self._changed)
        simds.on_change(self._bound)

    def plain(self) -> Any:
        blocks, simds = self.blocks.plain(), self._simds.plain()
        if self._exact is not None and self._exact[1:] == (blocks, simds):
            return self._exact[0]
        return self.lever.check(blocks * simds * self._block())

    def _show(self, value: int) -> None:
        simds = self._simds.plain()
        self._bound()
        self.blocks.show(value // (simds * self._block()))
        self._exact = value, self.blocks.plain(), simds

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
