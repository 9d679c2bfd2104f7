"""What a trace that was dropped says: its memory under other caches, and of a snapshot, PyTorch's own settings."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.dashboards import markup
from workbench.dashboards.panels.caches import caches_of
from workbench.dashboards.panels.dropped_trace import Dropped, is_snapshot_file, reading_of, trace_of
from workbench.errors import WorkbenchError


class AdvicePanel(widgets.HTML):
    """The caches of the trace that is looked at; empty for any other workload.

    Of a snapshot `answer` is another widget with the five lines alone, `rest` one with all that they rest on.

    It takes some seconds, so a thread computes it while the panels above go on; a snapshot that is no longer looked at
    when its advice comes is passed over.
    """

    def __init__(self) -> None:
        super().__init__()
        self.add_class("wb-advice")
        self.answer = widgets.HTML()
        self.answer.add_class("wb-answer")
        self.rest = widgets.HTML()
        self.rest.add_class("wb-advice")
        self._shown: tuple[str, str] | None = None
        self._working: threading.Thread | None = None

    def show(self, workload: Any) -> None:
        """Show what is known of a workload, if it is a trace; one that is shown already stays."""
        requests = trace_of(workload)
        if requests == self._shown:
            return
        self._shown = requests
        self.answer.value = self.rest.value = ""
        self.value = "" if requests is None else markup.fine("Trying other caches on this trace ...")
        if requests is not None:
            self._working = threading.Thread(target=self._advise, args=(requests,), daemon=True)
            self._working.start()

    def wait(self) -> None:
        """Return when what is being computed is shown."""
        if self._working is not None:
            self._working.join()

    def _advise(self, requests: tuple[str, str]) -> None:
        path = requests[0]
        if is_snapshot_file(path):
            self.answer.value = markup.fine("Trying settings of PyTorch's allocator on this snapshot ...")
            answer, rest = _advice(requests)
            if requests == self._shown:
                self.answer.value, self.rest.value = answer, rest
        table = caches_of(path) if requests == self._shown else ""
        if requests == self._shown:
            self.value = table


def _advice(snapshot: Dropped) -> tuple[str, str]:
    """Return the five lines, and all else; or in one sentence why there are none."""
    from workbench.studies.torch_memory import Still, advice_or_still
    from workbench.studies.torch_memory.page import answer_of, rest_of

    path = snapshot[0]
    try:
        result = advice_or_still(path, read=reading_of(snapshot))
    except WorkbenchError as mistake:
        return markup.fine(str(mistake).replace(path, Path(path).name)), ""
    if isinstance(result, Still):
        lines = [markup.text(line.replace(path, Path(path).name)) for line in result.sentences()]
        return "".join(f"<p>{line}</p>" for line in lines), ""
    return answer_of(result), f"<h4>PyTorch's own settings</h4>{rest_of(result).replace(path, Path(path).name)}"
