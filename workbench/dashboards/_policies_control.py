"""Both sides' policies as a table: a row a slot, the baseline's next to the other's, their levers below."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

import ipywidgets as widgets

from workbench.dashboards._controls import Control, row
from workbench.dashboards._dashboard_config import DashboardConfig
from workbench.dashboards._lever_search import miss
from workbench.dashboards._spec_controls import ChoiceControl
from workbench.engines.kit.engine import Engine
from workbench.levers import Lever
from workbench.policies.policy import Policy, policies

SAME = ""
"""What stands for the baseline's own policy on the other side."""
_DESCRIPTION = "whose answer the engine takes here"
_TOGETHER = "other"
"""The sweep's name for the choices that step together from the baseline to the other side."""


class PoliciesControl:
    """Controls by slot: `baseline` and `other` where the sides may differ, `common` where they may not."""

    def __init__(self, engine: Engine, config: DashboardConfig) -> None:
        self._engine, self._config = engine, config
        self.baseline = {slot: self._control(slot) for slot in config.compared}
        self.common = {slot: self._control(slot) for slot in engine.slots if slot not in config.compared}
        same = {} if len(config.compared) == 1 else {SAME: "as the baseline"}
        self.other = {slot: self._other(slot, same) for slot in config.compared}

    @property
    def slots(self) -> Mapping[str, str]:
        """Return every slot of the engine with its default."""
        return self._engine.slots

    @property
    def compared(self) -> Sequence[str]:
        """Return the slots in which the sides may differ."""
        return self._config.compared

    def __iter__(self) -> Iterator[Control]:
        yield from (*self.baseline.values(), *self.other.values(), *self.common.values())

    def config(self, sides: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
        """Return the keys `policy` and `baseline` of a sweep: of these controls, or of what `sides` returned."""
        values = sides or self.sides()
        ours, theirs = {**values["baseline"], **values["common"]}, values["other"]
        differing = [slot for slot, policy in theirs.items() if policy not in (SAME, ours[slot])]
        together = {"zip": _TOGETHER} if len(differing) > 1 else {}
        varied = {slot: {"vary": [ours[slot], theirs[slot]], **together} for slot in differing}
        config = {slot: varied.get(slot, ours[slot]) for slot in self._engine.slots}
        baseline = {slot: deepcopy(ours[slot]) for slot in differing}  # or YAML writes a link
        return {"policy": config} | ({"baseline": baseline} if differing else {})

    def sides(self) -> dict[str, dict[str, Any]]:
        """Return the plain value of each control, by side and slot."""
        controls = {"baseline": self.baseline, "other": self.other, "common": self.common}
        return {side: {slot: one.plain() for slot, one in slots.items()} for side, slots in controls.items()}

    def show(self, sides: Mapping[str, Mapping[str, Any]]) -> None:
        """Show what `sides` returned."""
        controls = {"baseline": self.baseline, "other": self.other, "common": self.common}
        for side, slots in sides.items():
            for slot, value in slots.items():
                controls[side][slot].show(value)

    def walk(self) -> Iterator[tuple[str, Control]]:
        """Yield every control with its path; those of the other side begin with `other`."""
        for slot, control in (*self.baseline.items(), *self.common.items()):
            yield from control.walk(f"policy.{slot}")
        for slot, control in self.other.items():
            yield from control.walk(f"other.{slot}")

    def _control(self, slot: str) -> ChoiceControl:
        default = self._config.baseline.get(slot, self._engine.slots[slot])
        takes_another = {s: f"as {s}".replace("_", " ") for s in self._engine.slots if s == self._engine.slots[slot]}
        return _choice(self._engine.question_of(slot), slot, default, takes_another)

    def _other(self, slot: str, same: Mapping[str, str]) -> ChoiceControl:
        default = self._config.other.get(slot, SAME)
        return _choice(self._engine.question_of(slot), slot, default, same)


def _choice(question: str, name: str, default: Any, stand_ins: Mapping[str, str]) -> ChoiceControl:
    control = ChoiceControl(
        Lever(name, "spec", spec=question_base(question), description=_DESCRIPTION), stand_ins=stand_ins
    )
    if default not in stand_ins:
        control.show(default)
    return control


def question_base(question: str) -> type[Policy]:
    """Return the class from which every policy of a question derives.

    >>> from workbench.policies.placement import Placement
    >>> question_base("placement") is Placement
    True
    """
    some = next(iter(policies(question).values()))
    return [cls for cls in some.__mro__ if issubclass(cls, Policy) and cls.question == question][-1]


OPEN_ROW, CLOSED_ROW = "▾", "▸"


class SlotRow:
    """One slot: two drop-downs, and a button that opens the levers of both."""

    def __init__(self, baseline: ChoiceControl, other: ChoiceControl, opened: bool) -> None:
        self.baseline, self.other = baseline, other
        self.opener = widgets.Button(tooltip="the levers of these two")
        self.opener.add_class("wb-out")
        self.opener.on_click(lambda _: self.open(not self.opened))
        other.names.add_class("wb-side-other")
        head = row(baseline.lever, baseline.names, other.names, self.opener)
        self.inside = widgets.HBox([baseline.inside, other.inside])
        self.inside.add_class("wb-two")
        self.widget = widgets.VBox([head, self.inside])
        self.widget.add_class("wb-slot")
        self.open(opened)

    @property
    def opened(self) -> bool:
        """Return whether the levers are seen."""
        return bool(self.inside.layout.display != "none")

    @property
    def differs(self) -> bool:
        """Return whether the two sides have policies of their own."""
        return bool(self.other.names.value != SAME)

    def open(self, opened: bool) -> None:
        """Show the levers, or hide them."""
        self.inside.layout.display = "" if opened else "none"
        self.opener.description = OPEN_ROW if opened else CLOSED_ROW


class PoliciesTable:
    """A row a slot that may differ; a tick leaves those in which the sides do."""

    def __init__(self, policies: PoliciesControl) -> None:
        alone = len(policies.baseline) == 1
        self.rows = {
            slot: SlotRow(control, policies.other[slot], opened=alone) for slot, control in policies.baseline.items()
        }
        self.only = widgets.Checkbox(False, description="only what differs", indent=False)
        self.only.add_class("wb-only")
        self.only.observe(lambda _: self.refresh(), "value")
        for control in policies.other.values():
            control.on_change(self.refresh)
        self.head = widgets.HBox([widgets.Label(word) for word in ("", "baseline", "other", "")])
        self.head.add_class("wb-row")
        self.head.add_class("wb-sides")
        above = [self.head] if alone else [self.only, self.head]
        self.widget = widgets.VBox([*above, *(one.widget for one in self.rows.values())])
        self.widget.add_class("wb-levers")

    def refresh(self) -> None:
        """Hide the slots in which the sides are alike, if the tick says so."""
        for one in self.rows.values():
            one.widget.layout.display = "none" if self.only.value and not one.differs else ""

    def search(self, visible: Collection[str] | None) -> None:
        """Show the slots among the paths that a search found, with their levers; all of them after it."""
        for slot, one in self.rows.items():
            hit = visible is None or not {f"policy.{slot}", f"other.{slot}"}.isdisjoint(visible)
            miss(one.widget, not hit)
            if visible is not None:
                one.open(hit)
            elif len(self.rows) > 1:
                one.open(False)
