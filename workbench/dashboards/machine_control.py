"""The machine: a preset by name with some of its levers apart from the preset's, or a rule with levers of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import ipywidgets as widgets

from workbench.dashboards.blocks_control import machine_levers
from workbench.dashboards.controls import Control, LeversControl
from workbench.dashboards.controls.control import mark, row
from workbench.dashboards.controls.marked import marked
from workbench.dashboards.opening import Opening
from workbench.errors import InputError
from workbench.experiments.mechanism import mechanism
from workbench.levers import Lever, Spec
from workbench.machine import preset, presets

_PRESET = Lever("preset", "text", description="a machine with a source for each of its figures")


class MachineControl(Control):
    """A drop-down of presets and rules, and levers below it; its plain value is what a sweep says of its machine."""

    def __init__(self, opening: Opening) -> None:
        self._of = mechanism(opening.engine).engine.machine
        start = self._of.read(opening.machine)
        super().__init__(Lever("machine", "spec", start, spec=self._of))
        self._note = opening.machine_note
        names = [(f"{row['name']}: {row['title']}", row["name"]) for row in presets(self._of)]
        names += [(words, spec.name) for words, spec in opening.machine_rules.items()]
        self._words, self._refused = names, dict[str, str]()
        self._tried: str | None = None
        self.names = widgets.Dropdown(options=names, value=opening.machine_named, tooltip=_PRESET.description)
        self.names.add_class("wb-pick")
        self.levers = machine_levers(self.lever, opening.machine_levers, self._preset)
        self.levers.show(start)
        self.rules = {spec.name: self._rule(spec, opening) for spec in opening.machine_rules.values()}
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
        self._tried = name
        try:
            yield
        finally:
            self._tried = None

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
        raise InputError("machine: this page offers no preset that differs from it in nothing but the levers here.")

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
        return bool(given.but(**{lever: getattr(machine, lever) for lever in self.levers.controls}) == machine)

    def _rule(self, spec: type[Spec], opening: Opening) -> LeversControl:
        """Return the levers of a rule: of that which the page opens with as it says, of others at their defaults."""
        made = LeversControl(Lever("machine", "spec", spec=spec))
        if self.names.value == spec.name:
            made.show(spec.read(opening.machine))
        made.on_change(self._turned)
        return made

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
            self.holds.value = self._note(self._of.read(self.plain()))
        except InputError:
            self.holds.value = ""  # the sweep will say what is wrong
        self._changed()
