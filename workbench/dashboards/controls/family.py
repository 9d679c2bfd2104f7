"""One of several specs: a drop-down of every member, and the levers of the chosen one below it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls.control import Control, mark, row
from workbench.dashboards.controls.levers import LeversControl
from workbench.dashboards.controls.marked import marked
from workbench.levers import Family, Lever, Spec
from workbench.policies.policy import Policy, policies
from workbench.workloads.outside import all_outside
from workbench.workloads.synthetic.generators import generators
from workbench.workloads.workload import KINDS, Workload

Members = Callable[[], Mapping[str, type[Spec]]]


def workloads(wants: str) -> dict[str, type[Spec]]:
    """Return every workload that gives what an engine wants: a file, a trace, and the generators.

    >>> sorted(workloads("groups"))
    ['group_file', 'random_groups', 'trace_groups']
    """
    return {**all_outside(wants), **generators(wants)}


def alternatives(spec: type[Spec]) -> Mapping[str, type[Spec]]:
    """Return the members that may stand where a lever holds a spec, by name; none where it is one kind of spec alone.

    >>> from workbench.policies.queueing import QueuePolicy, FifoLookahead
    >>> sorted(alternatives(QueuePolicy)), alternatives(FifoLookahead)
    (['fifo_head_only', 'fifo_lookahead'], {})
    """
    if spec is Workload:
        return {name: cls for wants in KINDS for name, cls in workloads(wants).items()}
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
        self._made: dict[str, tuple[type[Spec], LeversControl]] = {}
        self._refused: Mapping[str, str] = {}
        self._tried: str | None = None
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
        name = self.names.value if self._tried is None else self._tried
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
            Its own levers are not complete: what is to be typed first nobody can try.
        """
        if name not in self._stand_ins:
            self._known()[name].read({name: self._plain_levers(name)})
        self._tried = name
        try:
            yield
        finally:
            self._tried = None

    def say_refused(self, refused: Mapping[str, str]) -> None:
        """Mark the names that the check of the whole setting refuses, each with the reason; nobody is called.

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
        """Offer what has been defined since, and build anew what has been defined again."""
        with self._quietly():
            chosen, offered = self.names.value, self._options()
            self.names.options = offered
            self.names.value = chosen if chosen in [name for _, name in offered] else offered[0][1]
            self._put_inside()
        for _, control in self._made.values():
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
        self.names.tooltip = self.lever.description if stands else _says(self._known()[self.names.value])

    def _plain_levers(self, name: str) -> Any:
        """Return the levers of a member as they would be; of one never chosen none is made unless it needs some."""
        needs = any(lever.required for lever in self._known()[name].levers.values())
        return self._levers(name).plain() if needs or name in self._made else {}

    def _levers(self, name: str) -> LeversControl:
        """Return the levers of a member, kept as the user left them while the member is the same class."""
        cls = self._known()[name]
        if name not in self._made or self._made[name][0] is not cls:
            control = LeversControl(dataclasses.replace(self.lever, spec=cls))
            control.on_change(self._changed)
            self._made[name] = cls, control
        return self._made[name][1]


def _says(cls: type[Spec]) -> str:
    """Return the first sentence of what a member says of itself."""
    return " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
