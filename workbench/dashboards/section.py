"""A part of the sidebar under a heading that folds it away."""

from __future__ import annotations

import ipywidgets as widgets

from workbench.dashboards.controls import Control

OPEN, FOLDED = "▾", "▸"


class Section:
    """Controls one below the other; a press on the heading hides or shows them, and changes nothing else."""

    def __init__(self, title: str, *controls: Control, folded: bool = False) -> None:
        self.title = title
        self.head = widgets.Button()
        self.head.add_class("wb-section")
        self.head.on_click(lambda _: self.fold(not self.folded))
        self.inside = widgets.VBox([control.widget for control in controls])
        self.inside.add_class("wb-levers")
        self.widget = widgets.VBox([self.head, self.inside])
        self.widget.add_class("wb-levers")
        self.fold(folded)

    @property
    def folded(self) -> bool:
        """Return whether the controls are hidden."""
        return bool(self.inside.layout.display == "none")

    def fold(self, folded: bool) -> None:
        """Hide the controls, or show them."""
        self.inside.layout.display = "none" if folded else ""
        self.head.description = f"{FOLDED if folded else OPEN} {self.title}"
