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
        requests = _snapshot(workload)
        if requests == self._shown:
            return
        self._shown = requests
        self.value = "" if requests is None else _fine("Trying settings of PyTorch's allocator on this snapshot ...")
        if requests is not None:
            self._working = threading.Thread(target=self._advise, args=(requests,), daemon=True)
            self._working.start()

    def wait(self) -> None:
        """Return when what is being computed is shown."""
        if self._working is not None:
            self._working.join()

    def _advise(self, requests: tuple[str, str]) -> None:
        message = _advice(requests[0])
        if requests == self._shown:
            self.value = message


def _snapshot(workload: Any) -> tuple[str, str] | None:
    """Return the file of a memory snapshot and its digest; None of any other workload."""
    if not isinstance(workload, TracePool):
        return None
    try:
        result = workload.found()
        return (str(result.path), result.sha256) if Source(result.path).head.startswith(_PICKLE) else None
    except WorkbenchError:
        return None  # which the panels say


def _advice(path: str) -> str:
    """Return what stands in the panel: curves and settings, or in one sentence why there are none."""
    from workbench.studies.torch_memory import Still, advice_or_still

    try:
        result = advice_or_still(path)
    except WorkbenchError as mistake:
        return _fine(str(mistake).replace(path, Path(path).name))
    if isinstance(result, Still):
        return "".join(f"<p>{html.escape(line.replace(path, Path(path).name))}</p>" for line in result.sentences())
    return f"<h4>PyTorch's own settings</h4>{result._repr_html_()}"


def _fine(sentence: str) -> str:
    return f'<span class="wb-fine">{html.escape(sentence)}</span>'
