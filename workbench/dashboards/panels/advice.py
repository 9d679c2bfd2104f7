"""What a memory snapshot that was dropped says about the settings of PyTorch's allocator."""

from __future__ import annotations

import html
import threading
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import WorkbenchError
from workbench.workloads.importers.source import Source
from workbench.workloads.trace_pool import TracePool

_PICKLE = b"\x80"


class AdvicePanel(widgets.HTML):
    """The advice of the snapshot that is looked at, empty for any other workload.

    It takes some seconds, so a thread computes it while the panels above go on; a snapshot that is no longer looked at
    when its advice comes is passed over.
    """

    def __init__(self) -> None:
        super().__init__()
        self.add_class("wb-advice")
        self._shown: tuple[str, str] | None = None
        self._working: threading.Thread | None = None

    def show(self, workload: Any) -> None:
        """Show the advice of a workload, if it is a memory snapshot; one that is shown already stays."""
        asked = _snapshot(workload)
        if asked == self._shown:
            return
        self._shown = asked
        self.value = "" if asked is None else _fine("Trying settings of PyTorch's allocator on this snapshot ...")
        if asked is not None:
            self._working = threading.Thread(target=self._advise, args=(asked,), daemon=True)
            self._working.start()

    def wait(self) -> None:
        """Return when what is being computed is shown."""
        if self._working is not None:
            self._working.join()

    def _advise(self, asked: tuple[str, str]) -> None:
        said = _advice(asked[0])
        if asked == self._shown:
            self.value = said


def _snapshot(workload: Any) -> tuple[str, str] | None:
    """The file of a memory snapshot and its digest; None of any other workload."""
    if not isinstance(workload, TracePool):
        return None
    try:
        found = workload.found()
        return (str(found.path), found.sha256) if Source(found.path).head.startswith(_PICKLE) else None
    except WorkbenchError:
        return None  # which the panels say


def _advice(path: str) -> str:
    """What stands in the panel: curves and settings, or in one sentence why there are none."""
    from workbench.studies.torch_memory import Still, advice_or_still

    try:
        found = advice_or_still(path)
    except WorkbenchError as mistake:
        return _fine(str(mistake).replace(path, Path(path).name))
    if isinstance(found, Still):
        return "".join(f"<p>{html.escape(line.replace(path, Path(path).name))}</p>" for line in found.sentences())
    return f"<h4>PyTorch's own settings</h4>{found._repr_html_()}"


def _fine(sentence: str) -> str:
    return f'<span class="wb-fine">{html.escape(sentence)}</span>'
