"""A part of the sidebar under a heading that folds it away."""

from __future__ import annotations

import ipywidgets as widgets

from workbench.dashboards.search import miss

OPEN, FOLDED = "▾", "▸"


class Section:
    """Controls one below the other; a press on the heading hides or shows them, and changes nothing else."""

    def __init__(self, title: str, *inside: widgets.Widget, folded: bool = False) -> None:
        self.title = title
        self._before: bool | None = None
        self.head = widgets.Button()
        self.head.add_class("wb-section")
        self.head.on_click(lambda _: self.fold(not self.folded))
        self.inside = widgets.VBox(inside)
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

    def search(self, visible: bool | None) -> None:
        """Show what a search found in it, or nothing of it; after the search, what was shown before (None)."""
        miss(self.widget, visible is False)
        if self._before is None and visible is not None:
            self._before = self.folded
        if visible:
            self.fold(False)
        elif visible is None and self._before is not None:
            self.fold(self._before)
            self._before = None
