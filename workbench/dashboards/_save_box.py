"""The box of a page that saves its setting as a sweep file."""

from __future__ import annotations

from pathlib import Path

import ipywidgets as widgets

from workbench.dashboards._elements import alert, button, escaped
from workbench.errors import InputError, StoreError, WorkbenchError
from workbench.experiments.results_folder import write_whole


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
