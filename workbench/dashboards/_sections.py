"""Parts of the sidebar that stand below each other: the levers that matter first, and sections that fold."""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets as widgets

from workbench.dashboards._controls import Control, label_of
from workbench.dashboards._lever_search import Walked, first_of, miss

OPEN, FOLDED = "▾", "▸"


class FirstLevers:
    """Rows of controls that stand further below as well: the same levers, seen at once.

    Which there are depends on the policies that are chosen, so they are looked up after every change.
    """

    def __init__(self, patterns: Sequence[str], above: Sequence[widgets.Widget]) -> None:
        """Take as `patterns` what the paths of the levers match, in this order, as `above` what always stands first."""
        self._patterns, self._above = patterns, list(above)
        self._displayed: list[tuple[str, int]] | None = None
        self.widget = widgets.VBox(self._above)
        self.widget.add_class("wb-levers")

    def refresh(self, walked: Walked) -> None:
        """Show the levers that there are by now."""
        chosen = first_of(walked, self._patterns)
        displayed = [(path, id(control)) for path, control in chosen]
        if displayed != self._displayed:
            self._displayed = displayed
            self.widget.children = [*self._above, *_rows(chosen)]

    def shows(self, path: str) -> bool:
        """Return whether a lever is among those that are seen, or within one of them."""
        return any(f"{path}.".startswith(f"{seen}.") for seen, _ in self._displayed or ())


def _rows(chosen: Sequence[tuple[str, Control]]) -> list[widgets.Widget]:
    """Return a row a lever; the same lever of both sides' same policy is one row, above the first of which stands whose
    the columns are."""
    sides: dict[str, dict[str, Control]] = {}
    for path, control in chosen:
        side, _, rest = path.partition(".")
        key = rest if side in ("policy", "other") else path
        sides.setdefault(key, {})[side] = control
    rows = [_row(key, controls) for key, controls in sides.items()]
    paired = [place for place, one in enumerate(rows) if "wb-pinned" in one._dom_classes]
    return [*rows[: paired[0]], _whose(), *rows[paired[0] :]] if paired else rows


def _whose() -> widgets.Widget:
    """Return the heading of the two columns."""
    heads = [widgets.Label(side) for side in ("baseline", "other")]
    for head, side in zip(heads, ("wb-baseline", "wb-other"), strict=True):
        head.add_class(side)
    both = widgets.HBox(heads)
    both.add_class("wb-two")
    both.add_class("wb-sides")
    return both


def _row(key: str, controls: dict[str, Control]) -> widgets.Widget:
    if not controls.keys() & {"policy", "other"}:
        (control,) = controls.values()
        return control.widget
    slot = key.partition(".")[0]
    any_side = next(iter(controls.values()))
    words = f"{slot}: {label_of(any_side.lever)}".replace("_", " ")
    caption = widgets.Label(words, tooltip=any_side.lever.description)
    caption.add_class("wb-caption")
    both = widgets.HBox([controls[side].widget if side in controls else _empty_cell() for side in ("policy", "other")])
    both.add_class("wb-two")
    pinned = widgets.VBox([caption, both])
    pinned.add_class("wb-pinned")
    return pinned


def _empty_cell() -> widgets.Widget:
    """Return the placeholder where a side has no such lever."""
    return widgets.Label("–", tooltip="this side has no such lever, or is as the baseline")


class IdleLevers:
    """A button that shows and hides the levers of circuits, which change no run and so no picture."""

    def __init__(self, sidebar: widgets.Widget) -> None:
        """Take as `sidebar` the box in which they stand."""
        self._sidebar = sidebar
        self.widget = widgets.Button(tooltip="how a circuit finds the same answer; no picture and no measure changes")
        self.widget.add_class("wb-fold")
        self.widget.on_click(lambda _: self.show(not self.visible))
        self.show(False)

    @property
    def visible(self) -> bool:
        """Return whether they are seen."""
        return SHOWN in self._sidebar._dom_classes

    def show(self, visible: bool) -> None:
        """Show them, or hide them."""
        (self._sidebar.add_class if visible else self._sidebar.remove_class)(SHOWN)
        self.widget.description = f"{OPEN if visible else FOLDED} levers of circuits, which change no picture"

    def refresh(self, walked: Walked) -> None:
        """Find those that there are by now."""
        idle = [control for path, control in walked if _is_idle(path)]
        for control in idle:
            if IDLE not in control.widget._dom_classes:
                control.widget.add_class(IDLE)
        self.widget.layout.display = "" if idle else "none"


_CIRCUITS = {"nearest_boundary": {"probe", "mask_source", "scan_order", "leading_one", "lut_bits", "encoding"}}
"""Of a policy the levers that only its circuit has: whatever they are, it gives the same answers."""
IDLE, SHOWN = "wb-idle", "wb-shows-idle"


def _is_idle(path: str) -> bool:
    """Return whether no run depends on a lever.

    >>> _is_idle("other.placement.nearest_boundary.lut_bits"), _is_idle("other.placement.nearest_boundary.tie")
    (True, False)
    """
    *_, policy, lever = ["", *path.split(".")]
    return lever in _CIRCUITS.get(policy, ())


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
