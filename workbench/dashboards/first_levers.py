"""The levers that matter first, on top of the sidebar; both sides' in one row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import ipywidgets as widgets

from workbench.dashboards.controls import Control
from workbench.dashboards.controls.control import label_of

Walked = Iterable[tuple[str, Control]]


class FirstLevers:
    """Rows of controls that stand further below as well: the same levers, seen at once.

    Which there are depends on the policies that are chosen, so they are looked up after every change.
    """

    def __init__(self, patterns: Sequence[str], above: Sequence[widgets.Widget]) -> None:
        """Take as `patterns` what the paths of the levers match, in this order, as `above` what always stands first."""
        self._patterns, self._above = patterns, list(above)
        self._seen: list[tuple[str, int]] | None = None
        self.widget = widgets.VBox(self._above)
        self.widget.add_class("wb-levers")

    def refresh(self, walked: Walked) -> None:
        """Show the levers that there are by now."""
        chosen = first_of(walked, self._patterns)
        seen = [(path, id(control)) for path, control in chosen]
        if seen != self._seen:
            self._seen = seen
            self.widget.children = [*self._above, *_rows(chosen)]


def first_of(walked: Walked, patterns: Sequence[str]) -> list[tuple[str, Control]]:
    """Return the controls whose paths match, in the order of the patterns; `policy` stands for both sides."""
    paths = list(walked)
    chosen: dict[str, Control] = {}
    for pattern in patterns:
        for path, control in paths:
            if fnmatchcase(path.replace("other.", "policy.", 1) if path.startswith("other.") else path, pattern):
                chosen.setdefault(path, control)
    return list(chosen.items())


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
    both = widgets.HBox([controls[side].widget if side in controls else _nothing() for side in ("policy", "other")])
    both.add_class("wb-two")
    pinned = widgets.VBox([caption, both])
    pinned.add_class("wb-pinned")
    return pinned


def _nothing() -> widgets.Widget:
    """Return what stands where a side has no such lever."""
    return widgets.Label("–", tooltip="this side has no such lever, or is as the baseline")
