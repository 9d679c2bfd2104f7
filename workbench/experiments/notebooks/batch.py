"""A batch of notebooks: one a point of a sweep, each output kept under its run's name, finished ones not run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.experiments.folder import held, write_json
from workbench.experiments.notebooks.execute import NotebookRun, execute, kept
from workbench.experiments.notebooks.report.report import REPORT, HtmlReport
from workbench.experiments.notebooks.source import Notebook, read_notebook
from workbench.experiments.notebooks.tasks import plan_tasks
from workbench.experiments.provenance import environment

if TYPE_CHECKING:
    import pandas as pd

INDEX = "notebooks.json"


class NotebookBatch(NamedTuple):
    """What became of each notebook."""

    folder: Path
    runs: list[NotebookRun]

    @property
    def failures(self) -> list[NotebookRun]:
        """Return those that failed, each with the cell that did."""
        return [run for run in self.runs if run.status == "failed"]

    @property
    def table(self) -> pd.DataFrame:
        """Return one row a notebook: run_id, status, one column a parameter, cell, error, seconds, output."""
        import pandas as pd

        rows = [{"run_id": r.id, "status": r.status, **r.parameters, **_outcome(r)} for r in self.runs]
        return pd.DataFrame(rows)


def run_notebook(
    notebook: str | Path,
    sweep: str | Path | Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    progress: Callable[[NotebookRun], Any] | None = None,
    html: bool = False,
) -> NotebookBatch:
    """Run a notebook once, or once for each point of a sweep, with parameters that are checked first.

    Parameters
    ----------
    notebook : path
        A notebook whose defaults stand in a cell tagged "parameters".
    sweep : path or mapping, optional
        A sweep, whose varied levers become parameters (see `plan_tasks`), or the notebook's own parameters with `vary`.
    set : mapping, optional
        Parameters for every notebook, and overrides of the sweep by dotted path.
    out : path, optional
        The folder of the outputs: `results/notebooks/NAME` if left out.
    progress : callable, optional
        Is told of each notebook as it ends, first of those that an earlier batch had finished.
    html : bool
        Make a report for a browser, `report/index.html` in the folder; one that is there is kept up to date anyway.

    Raises
    ------
    InputError
        The notebook or the sweep is not valid, or a parameter is none of the notebook's; nothing has been run.
    StoreError
        The folder cannot be written, or another batch has it.

    Examples
    --------
    >>> run_notebook("no_such.ipynb")
    Traceback (most recent call last):
    workbench.errors.InputError: no_such.ipynb: cannot be read (No such file or directory).
    """
    source = read_notebook(Path(notebook))
    tasks = plan_tasks(source, sweep, set or {})
    folder = Path(out) if out is not None else Path("results", "notebooks", source.path.stem)
    provenance = {"notebook": source.path.name, "notebook_digest": source.digest, **environment()}
    runs: dict[str, NotebookRun] = {}
    with held(folder, files=()):
        report = HtmlReport(folder, source, tasks, provenance) if html or (folder / REPORT).is_dir() else None

        def ended(run: NotebookRun) -> None:
            runs[run.id] = run
            if report is not None:
                report.page(run)
            if progress is not None:
                progress(run)

        for run in filter(None, (kept(folder, task) for task in tasks)):
            ended(run)
        _summarise(folder, source, runs, report)
        for task in tasks:
            if task.id not in runs:
                ended(execute(source, task, folder, provenance))
                _summarise(folder, source, runs, report)
    return NotebookBatch(folder, [runs[task.id] for task in tasks])


def _summarise(folder: Path, notebook: Notebook, runs: Mapping[str, NotebookRun], report: HtmlReport | None) -> None:
    _write_index(folder, notebook, list(runs.values()))
    if report is not None:
        report.index(runs)


def _write_index(folder: Path, notebook: Notebook, runs: list[NotebookRun]) -> None:
    """Say which output has which parameters, anew after each notebook."""
    rows = [{"run_id": r.id, "status": r.status, "parameters": r.parameters, **_outcome(r)} for r in runs]
    write_json(folder / INDEX, {"notebook": notebook.path.name, "notebook_digest": notebook.digest, "runs": rows})


def _outcome(run: NotebookRun) -> dict[str, Any]:
    return {"cell": run.cell, "error": run.error, "seconds": round(run.seconds, 3), "output": run.output.name}
