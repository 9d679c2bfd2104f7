"""A sentence on the page once the kernel has not answered for a while: it computes, or it has ended."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.dashboards.page import ALONE

PATIENCE_SECONDS = 10
"""A run that takes longer has said so before, above the panels."""


class Pulse(anywidget.AnyWidget):
    """Nothing to be seen as long as the kernel answers: the page asks it every other second."""

    _esm = Path(__file__).with_name("pulse.js")
    alone = traitlets.Bool(False).tag(sync=True)
    """Whether the page is the dashboard's own: a notebook's cell is run again, a page is loaded again."""
    patience = traitlets.Int(PATIENCE_SECONDS).tag(sync=True)

    def __init__(self) -> None:
        super().__init__(alone=os.environ.get(ALONE) == "1")
        self.on_msg(self._heard)

    def _heard(self, _widget: object, _message: dict[str, Any], _pieces: object) -> None:
        self.send({"what": "here"})
