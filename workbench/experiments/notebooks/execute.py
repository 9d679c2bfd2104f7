"""Run one notebook with parameters: papermill behind one function of ours."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from workbench.errors import StoreError
from workbench.experiments.notebooks.source import Notebook
from workbench.experiments.notebooks.tasks import Task

Status = Literal["done", "failed", "kept"]
_NOT_THE_AUTHORS = {"injected-parameters", "papermill-error-cell-tag"}
STILL = "WORKBENCH_STILL"
"""The variable that tells kernels of a batch that nobody watches: a dashboard leaves a picture in its place."""
MARK = "workbench"
"""The key of the output's metadata that says where it comes from."""


class NotebookRun(NamedTuple):
    """One notebook of a batch, run or kept."""

    id: str
    status: Status
    """`kept`: an earlier batch had finished it."""
    output: Path
    parameters: dict[str, Any]
    seconds: float
    """What it took to run, in this batch or, if kept, in the earlier one."""
    cell: int
    """Which cell failed, counted from 1 as the notebook has them; 0 when none did."""
    error: str
    """The cell's first line and its exception, in one line."""


def kept(folder: Path, task: Task) -> NotebookRun | None:
    """Return the run of a task whose whole output a folder holds, with the seconds it took then; None if there is
    none."""
    import nbformat

    path = output(folder, task)
    if not path.is_file():
        return None
    try:
        mark = nbformat.read(path, as_version=4).metadata.get(MARK, {})
    except Exception:  # whatever is there, it is not an output of ours
        return None
    if mark.get("run_id") != task.id:
        return None
    return NotebookRun(task.id, "kept", path, task.parameters, float(mark.get("seconds", 0.0)), 0, "")


def output(folder: Path, task: Task) -> Path:
    """Return where the output of a task goes."""
    return folder / f"{task.id}.ipynb"


def execute(notebook: Notebook, task: Task, folder: Path, provenance: dict[str, Any]) -> NotebookRun:
    """Run a notebook; its output appears whole, marked with where it comes from, or as `ID.failed.ipynb`.

    Widgets' state is not stored: one figure of plotly would add 5 MB to every output.
    """
    import papermill
    from nbclient.exceptions import DeadKernelError

    partial, failed = folder / f".{task.id}.partial.ipynb", folder / f"{task.id}.failed.ipynb"
    began, cell, error = time.perf_counter(), 0, ""
    try:
        with _unwatched():
            papermill.execute_notebook(
                notebook.path,
                partial,
                parameters=task.parameters,
                cwd=notebook.path.parent,
                progress_bar=False,
                log_output=False,
                store_widget_state=False,
                extra_arguments=_quiet(notebook.kernel),
            )
    except papermill.PapermillExecutionError as problem:
        cell, error = _failing_cell(partial), _sentence(problem)
    except DeadKernelError:
        cell, error = _failing_cell(partial), "the kernel died"
    except RuntimeError as problem:  # what jupyter_client raises of a kernel that never answers
        error = f"the kernel did not start: {' '.join(str(problem).split())}"
    except OSError as problem:
        partial.unlink(missing_ok=True)
        raise StoreError(f"{folder} cannot be written: {problem.strerror}.") from None
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    seconds = time.perf_counter() - began
    target = failed if error else output(folder, task)
    own = {"run_id": task.id, "parameters": task.parameters, "error": error, "seconds": round(seconds, 3)}
    _marked(partial, target, {**provenance, **own})
    if not error:
        failed.unlink(missing_ok=True)
    return NotebookRun(task.id, "failed" if error else "done", target, task.parameters, seconds, cell, error)


@contextmanager
def _unwatched() -> Iterator[None]:
    """Tell the kernels that are started meanwhile that nobody watches them."""
    before = os.environ.get(STILL)
    os.environ[STILL] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(STILL, None)
        else:
            os.environ[STILL] = before


def _quiet(kernel: str) -> list[str]:
    """Return what keeps Python's kernel from talking on the terminal; another kernel is told nothing."""
    from jupyter_client.kernelspec import get_kernel_spec

    return ["--Application.log_level=CRITICAL"] if "ipykernel_launcher" in get_kernel_spec(kernel).argv else []


def _marked(partial: Path, target: Path, mark: dict[str, Any]) -> None:
    """Write where an output comes from into it, and give it its name."""
    import nbformat

    node = nbformat.read(partial, as_version=4)
    node.metadata[MARK] = mark
    nbformat.write(node, partial)
    os.replace(partial, target)


def _failing_cell(partial: Path) -> int:
    import nbformat

    cells = nbformat.read(partial, as_version=4).cells
    own = [cell for cell in cells if not _NOT_THE_AUTHORS & {*cell.metadata.get("tags", [])}]
    places = (k for k, cell in enumerate(own, 1) if cell.metadata.get("papermill", {}).get("exception"))
    return next(places, 0)


def _sentence(problem: Any) -> str:
    line = next((line.strip() for line in problem.source.splitlines() if line.strip()), "")
    return f"{line[:80]}: {problem.ename}: {' '.join(str(problem.evalue).split())}"
