"""One of several specs: a drop-down of every member, and the levers of the chosen one below it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets

from workbench.dashboards.controls.control import Control, row
from workbench.dashboards.controls.levers import LeversControl
from workbench.levers import Family, Lever, Spec
from workbench.policies.policy import Policy, policies
from workbench.workloads.file import WorkgroupFile
from workbench.workloads.synthetic.generators import generators
from workbench.workloads.trace import TraceWorkgroups
from workbench.workloads.workload import Workload

WORKLOADS: dict[str, type[Spec]] = {cls.name: cls for cls in (WorkgroupFile, TraceWorkgroups)}
"""The workloads that are not drawn at random; generators join as members of their family."""


def alternatives(spec: type[Spec]) -> Mapping[str, type[Spec]]:
    """The members that may stand where a lever holds a spec, by name; none where it is one kind of spec alone.

    >>> from workbench.policies.queueing import QueuePolicy, FifoLookahead
    >>> sorted(alternatives(QueuePolicy)), alternatives(FifoLookahead)
    (['fifo_head_only', 'fifo_lookahead'], {})
    """
    if spec is Workload:
        return WORKLOADS | generators("workgroups")
    if issubclass(spec, Policy):
        known: Mapping[str, type[Spec]] = policies(spec.question)
    elif issubclass(spec, Family):
        known = dict(sorted(spec.members.items()))
    else:
        known = {}
    return {} if known.get(spec.name) is spec else known


class ChoiceControl(Control):
    """A policy, a law, an arrival: its plain value is `{name: levers}`."""

    def __init__(self, lever: Lever) -> None:
        super().__init__(lever)
        assert lever.spec is not None
        self._base = lever.spec
        self._made: dict[str, tuple[type[Spec], LeversControl]] = {}
        self.names = widgets.Dropdown(options=self._options(), tooltip=lever.says)
        self.names.add_class("wb-pick")
        self.inside = widgets.VBox([])
        self.inside.add_class("wb-inside")
        self.names.observe(self._chosen, "value")
        self.widget = widgets.VBox([row(lever, self.names), self.inside])
        self._put_inside()

    @property
    def chosen(self) -> LeversControl:
        """The levers of the chosen member."""
        return self._levers(self.names.value)

    def plain(self) -> Any:
        levers = self.chosen.plain()
        return {self.names.value: levers} if levers else self.names.value

    def refresh(self) -> None:
        """Offer what has been defined since, and build anew what has been defined again."""
        with self._quietly():
            chosen = self.names.value
            self.names.options = self._options()
            self.names.value = chosen if chosen in self._known() else next(iter(self._known()))
            self._put_inside()
        for _, control in self._made.values():
            control.refresh()

    def _known(self) -> Mapping[str, type[Spec]]:
        return alternatives(self._base)

    def _options(self) -> list[tuple[str, str]]:
        return [(name.replace("_", " "), name) for name in self._known()]

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
        self.inside.children = [self.chosen.widget] if self.chosen.controls else []
        self.names.tooltip = _says(self._known()[self.names.value])

    def _levers(self, name: str) -> LeversControl:
        """The levers of a member, kept as the user left them while the member is the same class."""
        cls = self._known()[name]
        if name not in self._made or self._made[name][0] is not cls:
            control = LeversControl(dataclasses.replace(self.lever, spec=cls))
            control.on_change(self._changed)
            self._made[name] = cls, control
        return self._made[name][1]


def _says(cls: type[Spec]) -> str:
    """The first sentence of what a member says of itself."""
    return " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
