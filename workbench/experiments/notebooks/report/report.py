"""The report's files: which pages are made anew, and what the index says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.errors import StoreError
from workbench.experiments.folder import write_whole
from workbench.experiments.notebooks.execute import NotebookRun
from workbench.experiments.notebooks.report.page import Pages
from workbench.experiments.notebooks.source import Notebook
from workbench.experiments.notebooks.tasks import Task

REPORT, INDEX = "report", "index.html"
FOLDED = 60
"""A parameter whose text is longer than this many characters is folded, so that one mapping does not fill the table."""
NOT_RUN = "not run"


class HtmlReport:
    """The report of one batch, `FOLDER/report/`; every file in it can be opened without a server or a network.

    Parameters
    ----------
    folder : path
        The folder of the outputs.
    notebook : Notebook
        What the batch runs.
    tasks : sequence of Task
        All that it runs; one that has no run yet has its row too.
    provenance : mapping
        Versions and sources that the index names, as `environment()` gives them.

    Raises
    ------
    InputError
        nbconvert is not installed.
    StoreError
        The report's folder cannot be made or written.
    """

    def __init__(self, folder: Path, notebook: Notebook, tasks: Sequence[Task], provenance: Mapping[str, Any]) -> None:
        self.folder, self.notebook, self.tasks, self.provenance = folder / REPORT, notebook, tasks, provenance
        self._pages = Pages(notebook.path.parent)
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as problem:
            raise StoreError(f"{self.folder} cannot be made: {problem.strerror}.") from None

    def page(self, run: NotebookRun) -> None:
        """Make the page of a run, unless there is one that is no older than the run's output."""
        target = self.folder / f"{run.id}.html"
        if target.exists() and target.stat().st_mtime_ns >= run.output.stat().st_mtime_ns:
            return
        write_whole(target, self._pages.page(run, title=named(self.notebook.path.stem, run)))

    def index(self, runs: Mapping[str, NotebookRun]) -> None:
        """Make the index anew, from the runs there are so far, by their ids."""
        names = dict.fromkeys(name for task in self.tasks for name in task.parameters)
        text = self._pages.index(
            notebook=self.notebook.path.name,
            digest=self.notebook.digest,
            names=list(names),
            rows=[_row(task, names, runs.get(task.id)) for task in self.tasks],
            counts=_counts(self.tasks, runs),
            provenance=self.provenance,
        )
        write_whole(self.folder / INDEX, text)


def named(notebook: str, run: NotebookRun) -> str:
    """Return a run as a person calls it: the notebook, and the parameters that were set, the long ones shortened.

    >>> named("study", NotebookRun("5e", "done", Path(), {"policy": "first_fit", "seeds": 3}, 0.1, 0, ""))
    'study: policy first_fit, seeds 3'
    """
    texts = {name: said(value) for name, value in run.parameters.items()}
    short = {name: text if len(text) <= FOLDED else f"{text[: FOLDED // 2]}…" for name, text in texts.items()}
    return f"{notebook}: {', '.join(f'{name} {text}' for name, text in short.items())}" if short else notebook


def _row(task: Task, names: Mapping[str, Any], run: NotebookRun | None) -> dict[str, Any]:
    cells = [said(task.parameters[name]) if name in task.parameters else "" for name in names]
    return {"id": task.id, "cells": cells, "run": run, "state": _state(run), "folded": FOLDED}


def _state(run: NotebookRun | None) -> str:
    """Return what a row says: a notebook that an earlier batch had finished is done like any other."""
    if run is None:
        return NOT_RUN
    return "done" if run.status == "kept" else run.status


def _counts(tasks: Sequence[Task], runs: Mapping[str, NotebookRun]) -> dict[str, int]:
    states = [_state(runs.get(task.id)) for task in tasks]
    return {state: states.count(state) for state in ("done", "failed", NOT_RUN)}


def said(value: Any) -> str:
    """Return a parameter as the table shows it: text as it is, anything else as JSON in one line.

    >>> said("first_fit"), said({"nearest_boundary": {"tie": "high"}}), said(True)
    ('first_fit', '{"nearest_boundary": {"tie": "high"}}', 'true')
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
