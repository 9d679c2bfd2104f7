"""Widgets of levers that hold specs: all levers of one, a choice among several, a list of them.

Members of a family and policies of a question come from their catalogues; below a drop-down stand the levers of the
chosen one. A spec told in a line makes its levers only when it is opened.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import ipywidgets as widgets

from workbench.dashboards._controls import (
    Control,
    ListControl,
    NameControl,
    NumberControl,
    SwitchControl,
    TextControl,
    mark,
    marked,
    row,
)
from workbench.errors import InputError
from workbench.levers import REQUIRED, Family, Lever, Spec
from workbench.machine import Machine
from workbench.machine.machine import Resource
from workbench.parts.registry import first_paragraph
from workbench.policies.policy import Policy, policies
from workbench.workloads.generators import generators
from workbench.workloads.workload import KINDS, Workload
from workbench.workloads.workload_key import all_outside


class SpecsControl(Control):
    """One control an item, each with a button that takes it out, and a button that puts another at the end.

    An item is a drop-down where several kinds of spec may stand there, else a line that opens.
    """

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever)
        self.items: list[Control] = []
        self.add = widgets.Button(description="add one", tooltip=f"another at the end: {lever.description}")
        self.add.add_class("wb-pick")
        self.add.on_click(self._added)
        self.inside = widgets.VBox([])
        self.inside.add_class("wb-inside")
        self.widget = widgets.VBox([row(lever, self.add), self.inside])

    def plain(self) -> list[Any]:
        return [item.plain() for item in self.items]

    def walk(self, path: str) -> Iterator[tuple[str, Control]]:
        yield path, self
        for place, item in enumerate(self.items):
            yield from item.walk(f"{path}[{place}]")

    def mark(self, wrong: bool) -> None:
        mark(self.add, wrong)

    def refresh(self) -> None:
        for item in self.items:
            item.refresh()

    def take_out(self, item: Control) -> None:
        """Take an item out, as its button does."""
        self.items.remove(item)
        self._put_inside()
        self._changed()

    def _show(self, values: tuple[Spec, ...]) -> None:
        self.items = [self._item() for _ in values]
        for item, value in zip(self.items, values, strict=True):
            item.show(value)
        self._put_inside()

    def _added(self, _button: object) -> None:
        item = self._item()
        if isinstance(item, FoldedControl):
            item.fold(True)
        self.items.append(item)
        self._put_inside()
        self._changed()

    def _item(self) -> Control:
        one = dataclasses.replace(self.lever, name="", kind="spec", default=REQUIRED)
        assert one.spec is not None
        item = ChoiceControl(one) if alternatives(one.spec) else FoldedControl(one)
        item.on_change(self._changed)
        return item

    def _put_inside(self) -> None:
        self.inside.children = [self._line(place, item) for place, item in enumerate(self.items)]

    def _line(self, place: int, item: Control) -> widgets.Widget:
        number = widgets.Label(f"{place + 1}")
        out = widgets.Button(description="×", tooltip="take it out")
        out.add_class("wb-out")
        out.on_click(lambda _: self.take_out(item))
        line = widgets.HBox([number, item.widget, out])
        line.add_class("wb-item")
        return line


_CONTROLS: dict[str, type[Control]] = {
    "integer": NumberControl,
    "number": NumberControl,
    "switch": SwitchControl,
    "choice": NameControl,
    "text": TextControl,
    "integers": ListControl,
    "numbers": ListControl,
    "specs": SpecsControl,
}


def control_for(lever: Lever) -> Control:
    """Make the control of a lever, showing its default.

    >>> from workbench.levers import Lever
    >>> depth = control_for(Lever("depth", "integer", 4, least=1, most=64, unit="entries", description="its depth"))
    >>> depth.plain(), type(depth).__name__
    (4, 'NumberControl')
    """
    control = _of_spec(lever) if lever.kind == "spec" else _CONTROLS[lever.kind](lever)
    if not lever.required:
        control.show(lever.default)
    return control


def _of_spec(lever: Lever) -> Control:
    assert lever.spec is not None
    return ChoiceControl(lever) if alternatives(lever.spec) else LeversControl(lever)


_MOST_OF_UNIT = {
    "segments": Machine.levers["segments"].most,
    "blocks": Resource.levers["blocks"].most,
    "waves": Machine.levers["waves_a_unit"].most,
}
"""A law's numbers may be anything; in a unit that has an end of its own they end there."""

ControlMaker = Callable[[Lever, dict[str, Control]], Control]


class LeversControl(Control):
    """A spec as its levers; its plain value is a mapping."""

    def __init__(
        self, lever: Lever, only: Iterable[str] | None = None, instead: Mapping[str, ControlMaker] | None = None
    ) -> None:
        """Take as `instead` what makes the controls of some levers, of the lever and the controls above it."""
        super().__init__(lever)

        assert lever.spec is not None
        kept = lever.spec.levers if only is None else {name: lever.spec.levers[name] for name in only}
        self.controls: dict[str, Control] = {}
        for name, inner in kept.items():
            maker = (instead or {}).get(name)
            self.controls[name] = maker(inner, self.controls) if maker else control_for(in_unit_of(inner, lever))
        for control in self.controls.values():
            control.on_change(self._changed)
        self.widget = widgets.VBox([control.widget for control in self.controls.values()])
        self.widget.add_class("wb-levers")

    def plain(self) -> dict[str, Any]:
        return {name: control.plain() for name, control in self.controls.items()}

    def walk(self, path: str) -> Iterator[tuple[str, Control]]:
        for name, control in self.controls.items():
            yield from control.walk(f"{path}.{name}")

    def refresh(self) -> None:
        for control in self.controls.values():
            control.refresh()

    def _show(self, value: Spec) -> None:
        for name, control in self.controls.items():
            control.show(getattr(value, name))


def in_unit_of(inner: Lever, outer: Lever) -> Lever:
    """Return the lever in the unit of what it stands in, where it names none, ending where that unit ends.

    >>> outer = Lever("size", "spec", unit="segments")
    >>> inner = in_unit_of(Lever("high", "integer", 32, least=1, most=10**10), outer)
    >>> inner.label, inner.most
    ('high (segments)', 4096)
    """
    if inner.unit or not outer.unit or inner.kind not in ("integer", "integers", "spec"):
        return inner
    ends = _MOST_OF_UNIT.get(outer.unit)
    most = inner.most if ends is None or inner.most is None else min(inner.most, ends)
    return dataclasses.replace(inner, unit=outer.unit, most=most)


Members = Callable[[], Mapping[str, type[Spec]]]


def workloads(kind: str) -> dict[str, type[Spec]]:
    """Return every workload that gives what an engine serves: a file, a trace, and the generators.

    >>> sorted(workloads("groups"))
    ['group_file', 'random_groups', 'trace_blocks', 'trace_groups', 'waiting_kernels']
    """
    return {**all_outside(kind), **generators(kind)}


def alternatives(spec: type[Spec]) -> Mapping[str, type[Spec]]:
    """Return the members that may stand where a lever holds a spec, by name; none where it is one kind of spec alone.

    >>> from workbench.policies.placement.queueing import QueuePolicy, FifoLookahead
    >>> sorted(alternatives(QueuePolicy)), alternatives(FifoLookahead)
    (['fifo_head_only', 'fifo_lookahead'], {})
    """
    if spec is Workload:
        return {name: cls for kind in KINDS for name, cls in workloads(kind).items()}
    if issubclass(spec, Policy):
        known: Mapping[str, type[Spec]] = policies(spec.question)
    elif issubclass(spec, Family):
        known = dict(sorted(spec.members.items()))
    else:
        known = {}
    return {} if known.get(spec.name) is spec else known


class ChoiceControl(Control):
    """A policy, a law, an arrival: its plain value is `{name: levers}`.

    Before the members the drop-down may have words that stand for no member; the plain value is then what they stand
    for.
    """

    def __init__(
        self, lever: Lever, members: Members | None = None, stand_ins: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(lever)
        base = lever.spec
        assert base is not None
        self._known = members or (lambda: alternatives(base))
        self._stand_ins = stand_ins or {}
        self._member_controls: dict[str, tuple[type[Spec], LeversControl]] = {}
        self._refused: Mapping[str, str] = {}
        self.names = widgets.Dropdown(options=self._options(), tooltip=lever.description)
        if not lever.required:  # a member that holds another of its kind must not begin with one like itself
            self.names.value = lever.check(lever.default).name
        self.names.add_class("wb-pick")
        self.inside = widgets.VBox([])
        self.inside.add_class("wb-inside")
        self.names.observe(self._chosen, "value")
        self.widget = widgets.VBox([row(lever, self.names), self.inside])
        self._put_inside()

    @property
    def chosen(self) -> LeversControl:
        """Return the levers of the chosen member."""
        return self._levers(self.names.value)

    def plain(self) -> Any:
        name = self.names.value if self._candidate is None else self._candidate
        levers = {} if name in self._stand_ins else self._plain_levers(name)
        return {name: levers} if levers else name

    @property
    def choices(self) -> list[str]:
        """Return every name that there is to choose."""
        return [name for _, name in self._options()]

    @contextmanager
    def trying(self, name: str) -> Iterator[None]:
        """Let `plain` return another member meanwhile, as it would be if it were chosen; nothing on the screen changes.

        Raises
        ------
        InputError
            Its own levers are not complete: a value that is still to be typed cannot be tried.
        """
        if name not in self._stand_ins:
            self._known()[name].read({name: self._plain_levers(name)})
        with super().trying(name):
            yield

    def say_refused(self, refused: Mapping[str, str]) -> None:
        """Mark the names that the check of the whole setting refuses, each with the reason; no listener is called.

        They can still be chosen: a lever of their own may be what it takes.
        """
        if dict(refused) != dict(self._refused):
            self._refused = dict(refused)
            present = self.names.value
            with self._quietly(), self.names.hold_sync():
                self.names.options = self._options()
                self.names.value = present
                self._put_inside()

    def show(self, value: Any) -> None:
        if isinstance(value, str) and value in self._stand_ins:
            with self._quietly():
                self.names.value = value
                self._put_inside()
        else:
            super().show(value)

    def walk(self, path: str) -> Iterator[tuple[str, Control]]:
        yield path, self
        if self.names.value not in self._stand_ins:
            yield from self.chosen.walk(f"{path}.{self.names.value}")

    def mark(self, wrong: bool) -> None:
        mark(self.names, wrong)

    def refresh(self) -> None:
        """Offer what has been defined since, and build again what has been defined again."""
        with self._quietly():
            chosen, offered = self.names.value, self._options()
            self.names.options = offered
            self.names.value = chosen if chosen in [name for _, name in offered] else offered[0][1]
            self._put_inside()
        for _, control in self._member_controls.values():
            control.refresh()

    def _options(self) -> list[tuple[str, str]]:
        stand_ins = [(words, name) for name, words in self._stand_ins.items()]
        members = ((name.replace("_", " "), name) for name in self._known())
        return [(marked(words, self._refused.get(name)), name) for words, name in (*stand_ins, *members)]

    def _show(self, value: Spec) -> None:
        self.refresh()
        self.names.value = value.name
        self._put_inside()
        self.chosen.show(value)

    def _chosen(self, _change: object) -> None:
        if not self._quiet:
            self._put_inside()
            self._changed()

    def _put_inside(self) -> None:
        stands = self.names.value in self._stand_ins
        self.inside.children = [] if stands or not self.chosen.controls else [self.chosen.widget]
        self.names.tooltip = (
            self.lever.description if stands else first_paragraph(self._known()[self.names.value].__doc__)
        )

    def _plain_levers(self, name: str) -> Any:
        """Return the levers of a member as they would be; of one never chosen none is made unless it needs some."""
        needs = any(lever.required for lever in self._known()[name].levers.values())
        return self._levers(name).plain() if needs or name in self._member_controls else {}

    def _levers(self, name: str) -> LeversControl:
        """Return the levers of a member, kept as the user left them while the member is the same class."""
        cls = self._known()[name]
        if name not in self._member_controls or self._member_controls[name][0] is not cls:
            control = LeversControl(dataclasses.replace(self.lever, spec=cls))
            control.on_change(self._changed)
            self._member_controls[name] = cls, control
        return self._member_controls[name][1]


OPEN, CLOSED = "▾", "▸"


class FoldedControl(Control):
    """A button with the spec in short, and its levers below while it is open.

    Among many alike, each with many levers, few are turned: what is never opened costs the page nothing.
    """

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever)
        self.button = widgets.Button(tooltip=lever.description)
        self.button.add_class("wb-fold")
        self.button.on_click(lambda _: self.fold(not self.opened))
        self.inside = widgets.VBox([])
        self.inside.add_class("wb-inside")
        self.widget = widgets.VBox([self.button, self.inside])
        self.widget.add_class("wb-levers")
        self._value: Spec | None = None
        self._levers: LeversControl | None = None
        self._title()

    @property
    def opened(self) -> bool:
        """Return whether the levers can be seen."""
        return bool(self.inside.children)

    @property
    def levers(self) -> LeversControl:
        """Return the levers, made when they are first asked for."""
        if self._levers is None:
            self._levers = LeversControl(self.lever)
            if self._value is not None:
                self._levers.show(self._value)
            self._levers.on_change(self._turned)
        return self._levers

    def fold(self, opened: bool) -> None:
        """Let the levers be seen, or hide them; what they are set to stays."""
        self.inside.children = [self.levers.widget] if opened else []
        self._title()

    def plain(self) -> Any:
        if self._levers is None and self._value is not None:
            return self._value.plain()
        return self.levers.plain()

    def walk(self, path: str) -> Iterator[tuple[str, Control]]:
        yield path, self
        if self._levers is not None:
            yield from self._levers.walk(path)

    def mark(self, wrong: bool) -> None:
        mark(self.button, wrong)

    def refresh(self) -> None:
        if self._levers is not None:
            self._levers.refresh()

    def _show(self, value: Spec) -> None:
        self._value = value
        if self._levers is not None:
            self._levers.show(value)
        self._title()

    def _turned(self) -> None:
        self._title()
        self._changed()

    def _title(self) -> None:
        self.button.description = f"{OPEN if self.opened else CLOSED} {self._short()}"

    def _short(self) -> str:
        assert self.lever.spec is not None
        try:
            value = self._value if self._levers is None else self.lever.spec.read(self.plain())
        except InputError:
            value = None
        return (value.short() if value else self.lever.spec.name).replace("_", " ")
