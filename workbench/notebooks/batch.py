"""A batch of notebooks: each output kept under a name that says its parameters, finished ones not run again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import InputError, wrong_value
from workbench.experiments.results_folder import held, own_files
from workbench.notebooks.execution import (
    Ended,
    Kernels,
    NotebookRun,
    execute,
    failed_output,
    kept,
    output,
    partial_output,
    reads_record,
    settled,
    unwatched,
)
from workbench.notebooks.notebook_file import read_notebook
from workbench.notebooks.report import INDEX, TABLE, HtmlReport, content_of, table
from workbench.notebooks.tasks import Task, plan_tasks, read_batch
from workbench.runs.interrupts import held_back, noticed
from workbench.runs.origin import environment

if TYPE_CHECKING:
    import pandas as pd

BATCH_FILES = (".yaml", ".yml")
MOST_NAMED = 3
"""Notebooks after which the folder of a batch is called."""


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
        """Return one row a notebook: its name, output and status, parameters, headline numbers, seconds, cell,
        error."""
        import pandas as pd

        runs = {run.task.name: run for run in self.runs}
        contents = {name: content_of(run) for name, run in runs.items()}
        return pd.DataFrame(table([run.task for run in self.runs], runs, contents))


def run_notebooks(
    notebooks: str | Path | Sequence[str | Path],
    parameters: Mapping[str, Any] | None = None,
    sweep: str | Path | Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    workers: int = 1,
    progress: Callable[[NotebookRun], Any] | None = None,
) -> NotebookBatch:
    """Run notebooks, once for each combination of parameters that `vary`, and keep an index of what came out.

    An output that is there already is kept if it is of the same cells, parameters and sources. The files that its
    notebook read must be as they were. An output that somebody has edited since is kept too.

    Parameters
    ----------
    notebooks : path or sequence of paths
        Notebooks whose defaults stand in a cell tagged "parameters", or one batch file (`read_batch`).
    parameters : mapping, optional
        Parameters for every notebook, such as `{"seeds": {"vary": [5, 10]}}`; overrides of the sweep by dotted path.
    sweep : path or mapping, optional
        A sweep, whose varied levers become parameters (see `plan_tasks`).
    out : path, optional
        The folder of the outputs: `results/notebooks/NAME` if left out.
    workers : int
        How many notebooks run at once.
    progress : callable, optional
        Is told of each notebook as it ends, first of those that an earlier batch had finished.

    Raises
    ------
    InputError
        A notebook or the sweep is not valid, or a parameter is none of a notebook's; nothing has been run.
    StoreError
        The folder cannot be written, another batch has it, or it has a file in the place of an output that no batch
        has left there as it is.

    Examples
    --------
    >>> run_notebooks("no_such.ipynb")
    Traceback (most recent call last):
    workbench.errors.InputError: no_such.ipynb: cannot be read (No such file or directory).
    """
    if workers < 1:
        raise wrong_value("", "workers", "must be a whole number of at least 1", workers, 1)
    name, requests, sweep = _requests(notebooks, parameters or {}, sweep)
    tasks = plan_tasks([(read_notebook(path), given) for path, given in requests], sweep)
    folder = Path(out) if out is not None else Path("results", "notebooks", name)
    earlier_runs = [run for run in (kept(folder, task) for task in tasks) if run is not None]
    runs = {run.task.name: run for run in earlier_runs if not run.changed}
    changed = {run.task.name: run.changed for run in earlier_runs if run.changed}
    missing = [task for task in tasks if task.name not in runs]
    written = [path.name for task in missing for path in (output(folder, task), failed_output(folder, task))]
    provenance = environment()
    with held(folder, files=(INDEX, TABLE, *written)):
        _remove_partial(folder, tasks)
        report = HtmlReport(folder, tasks, provenance)
        own = {path.name for task in tasks for path in (output(folder, task), failed_output(folder, task))}
        earlier = sum(1 for name in own_files(folder) if name.endswith(".ipynb") and name not in own)

        def take(run: NotebookRun) -> None:
            runs[run.task.name] = run
            report.add(run)
            if progress is not None:
                progress(run)

        for run in list(runs.values()):
            take(run)
        report.write(earlier)
        with noticed(), unwatched(), closing(_executed(missing, folder, workers)) as executed:
            for ended in executed:
                with held_back():
                    take(settled(ended, folder, provenance)._replace(changed=changed.get(ended.task.name, "")))
                    report.write(earlier)
    return NotebookBatch(folder, [runs[task.name] for task in tasks])


def _requests(
    notebooks: str | Path | Sequence[str | Path], parameters: Mapping[str, Any], sweep: Any
) -> tuple[str, list[tuple[Path, dict[str, Any]]], Any]:
    """Return the name of a batch, each notebook with its parameters, and the sweep."""
    paths = [Path(notebooks)] if isinstance(notebooks, (str, Path)) else [Path(path) for path in notebooks]
    if not paths:
        raise InputError("a batch needs at least one notebook.")
    files = [path for path in paths if path.suffix in BATCH_FILES]
    if not files:
        more = f"+{len(paths) - MOST_NAMED}_more" if len(paths) > MOST_NAMED else ""
        name = "+".join(path.stem for path in paths[:MOST_NAMED]) + more
        return name, [(path, dict(parameters)) for path in dict.fromkeys(paths)], sweep
    if len(paths) > 1:
        raise InputError(f"{files[0]} is a batch file, which names its notebooks itself; give it alone.")
    batch = read_batch(files[0])
    given = [(path, {**batch.parameters, **own, **parameters}) for path, own in batch.notebooks.items()]
    return files[0].stem, given, batch.sweep if sweep is None else sweep


def _executed(tasks: Sequence[Task], folder: Path, workers: int) -> Generator[Ended, None, None]:
    """Yield notebooks as they end; where this is left early every kernel is ended first.

    Threads are enough: a notebook runs in its kernel, a process of its own. They leave signals to the main thread.
    """
    kernels = Kernels()
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(execute, task, folder, kernels) for task in tasks]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()
            kernels.stop()
            wait(futures)
            _remove_partial(folder, tasks)


def _remove_partial(folder: Path, tasks: Sequence[Task]) -> None:
    """Remove what notebooks have left that did not end."""
    for task in tasks:
        partial_output(folder, task).unlink(missing_ok=True)
        reads_record(folder, task).unlink(missing_ok=True)
