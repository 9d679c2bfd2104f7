"""The sweep of a page as files: the points of what it was opened with, and the box that saves its setting."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.dashboards._canvas import PointsPanel
from workbench.dashboards._elements import alert, button, escaped
from workbench.dashboards._policies_control import SAME
from workbench.dashboards._saved_sweep import SavedPoint, SavedSweep
from workbench.dashboards._sidebar import MOST_SEEDS, Sidebar
from workbench.errors import InputError, StoreError, WorkbenchError
from workbench.experiments.results_folder import write_whole
from workbench.number_text import number


class OpenedPoints:
    """A drop-down of the points, and a picture of what is known of them in which one is clicked."""

    def __init__(self, saved: SavedSweep, on_choose: Callable[[SavedPoint], None]) -> None:
        self.saved, self._on_choose = saved, on_choose
        options = [(_point_words(saved, point), k) for k, point in enumerate(saved.points)]
        self.names = widgets.Dropdown(options=options, description=f"{len(options)} points")
        self.names.layout.width = "auto"
        self.names.observe(self._picked, "value")
        title = widgets.HTML()
        title.value = f"<b>Opened: {escaped(saved.title)}.</b> A point that is chosen sets every lever."
        inside: list[widgets.Widget] = [title, self.names]
        places = [point.values for point in saved.points]
        self.picture = PointsPanel(self.pick)
        known = sum(all(map(math.isfinite, place)) for place in places)
        if saved.study is None and len(saved.measures) == 2 and known > 1:
            self.picture.show(saved.measures, places, [point.label for point in saved.points], 0)
            inside.append(self.picture)
        self.widget = widgets.VBox(inside)
        self.widget.add_class("wb-opened")

    def pick(self, place: int) -> None:
        """Choose a point, as a click into the picture does."""
        self.names.value = place

    def _picked(self, _change: object) -> None:
        place = self.names.value
        self.picture.choose(place)
        self._on_choose(self.saved.points[place])


def _point_words(saved: SavedSweep, point: SavedPoint) -> str:
    known = [
        f"{label} {number(value)}"
        for label, value in zip(saved.measures, point.values, strict=True)
        if math.isfinite(value)
    ]
    return f"{point.label}: {', '.join(known)}" if known else point.label


def setting_of(sidebar: Sidebar, saved: SavedSweep, point: SavedPoint) -> dict[str, Any]:
    """Return the setting of a page that compares a point with its baseline.

    Raises
    ------
    InputError
        The two sides differ in something that the page has once for both.
    """
    one, two = point.baseline, point.other
    for part in ("machine", "workload", "options"):
        if getattr(one, part) != getattr(two, part):
            raise InputError(f"{saved.title}: {point.label} has another {part} than its baseline; a page has one.")
    policies = sidebar.policies
    for slot in policies.common:
        if one.policies[slot] != two.policies[slot]:
            raise InputError(f"{saved.title}: {point.label} has another {slot} than its baseline; this page has one.")
    alone = len(policies.compared) == 1
    aliases = {slot: default for slot, default in policies.slots.items() if default in policies.slots}
    own = {slot: _named(one.policies, slot, aliases) for slot in policies.slots}
    other = {
        slot: two.policies[slot] if alone or two.policies[slot] != one.policies[slot] else SAME
        for slot in policies.compared
    }
    return {
        **sidebar.setting(),
        "machine": one.machine if saved.machine is None else saved.machine,
        "workload": one.workload,
        "options": one.options,
        "seeds": min(saved.seeds, MOST_SEEDS),
        "baseline": {slot: own[slot] for slot in policies.compared},
        "other": other,
        "common": {slot: own[slot] for slot in policies.common},
    }


def _named(policies: Any, slot: str, aliases: dict[str, str]) -> Any:
    """Return the policy of a slot, or the name of the slot whose policy it takes."""
    alias = aliases.get(slot)
    return alias if alias is not None and policies[alias] == policies[slot] else policies[slot]


class SaveBox:
    """The text of the sweep, a name, and a button that saves it."""

    def __init__(self, name: str) -> None:
        self.text = widgets.Textarea(disabled=True, rows=16, layout={"width": "auto"})
        self.name = widgets.Text(name, description="file", layout={"width": "auto", "flex": "1 1 auto"})
        self.save = button("save", "write the sweep to this file", self._save)
        self.words = widgets.HTML()
        line = widgets.HBox([self.name, self.save])
        self.widget = widgets.VBox([self.text, line, self.words])

    def _save(self) -> None:
        try:
            path = saved_as(self.name.value, self.text.value)
            file = escaped(path)
            self.words.value = f"Saved as {file}. To see it again: workbench open dashboard {file}"
        except WorkbenchError as mistake:
            self.words.value = alert(mistake)


def saved_as(name: str, text: str) -> Path:
    """Write a sweep to a file that is not there yet, or holds the same; return its path.

    Raises
    ------
    InputError
        The name is not that of a YAML file, or another sweep has it.
    StoreError
        It cannot be written.
    """
    path = Path(name.strip())
    if path.suffix not in (".yaml", ".yml"):
        raise InputError(f"file must end with .yaml. Got {name!r}.")
    if path.exists() and path.read_text() != text:
        raise InputError(f"{path} is there already and holds something else; choose another name.")
    if not path.parent.is_dir():
        raise StoreError(f"{path} cannot be written: there is no folder {path.parent}.")
    write_whole(path, text)
    return path
