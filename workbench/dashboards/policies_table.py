"""Both sides' policies as a table: one row a slot, the baseline's policy beside the other's, their levers below."""

from __future__ import annotations

from collections.abc import Collection

import ipywidgets as widgets

from workbench.dashboards.controls import ChoiceControl
from workbench.dashboards.controls.control import row
from workbench.dashboards.policies_control import SAME, PoliciesControl
from workbench.dashboards.search import miss

OPEN, CLOSED = "▾", "▸"


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
        self.opener.description = OPEN if opened else CLOSED


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
