"""The address of a page of its own: it holds the setting, and gives it back when the page is opened again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.dashboards.page import ALONE


class Address(anywidget.AnyWidget):
    """Nothing to be seen: writes what is behind the `#` of the page's address, and tells what stands there."""

    _esm = Path(__file__).with_name("address.js")
    setting = traitlets.Unicode("").tag(sync=True)
    alone = traitlets.Bool(False).tag(sync=True)
    """Whether the page is the dashboard's own; the address of a notebook is left alone."""

    def __init__(self, opened: Callable[[str], None]) -> None:
        """Call `opened` with what the page's address says when it is loaded, or changed by hand."""
        super().__init__(alone=os.environ.get(ALONE) == "1")
        self._opened = opened
        self.on_msg(self._heard)

    def _heard(self, _widget: object, message: dict[str, Any], _pieces: object) -> None:
        if message.get("what") == "setting":
            self._opened(str(message["setting"]))
