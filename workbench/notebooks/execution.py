"""Run one notebook with parameters, papermill behind one function of ours."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from workbench.errors import StoreError
from workbench.experiments.results_folder import is_unedited, write_own
from workbench.notebooks.kernel_reads import changed_input, inputs_of
from workbench.notebooks.tasks import Task

Status = Literal["done", "failed", "kept", "edited"]
_NOT_THE_AUTHORS = {"injected-parameters", "papermill-error-cell-tag"}
STILL = "WORKBENCH_STILL"
"""The variable that tells kernels of a batch that they run unattended: a dashboard leaves a picture in its place."""
MARK = "workbench"
"""The key of the output's metadata that says where it comes from."""


def output(folder: Path, task: Task) -> Path:
    """Return the path of the output of a task."""
    return folder / f"{task.name}.ipynb"


class NotebookRun(NamedTuple):
    """One notebook of a batch, run or kept."""

    task: Task
    status: Status
    """`kept`: an earlier batch had finished it; `edited`: so it had, and somebody has edited the output since."""
    output: Path
    seconds: float
    """What it took to run, in this batch or, if kept, in the earlier one."""
    cell: int = 0
    """Which cell failed, counted from 1 as the notebook has them; 0 when none did."""
    error: str = ""
    """The cell's first line and its exception, in one line."""
    changed: str = ""
    """The file that is not what it was when an earlier batch read it, for which this one ran again."""


def failed_output(folder: Path, task: Task) -> Path:
    """Return the path of the output of a task that fails."""
    return folder / f"{task.name}.failed.ipynb"


def partial_output(folder: Path, task: Task) -> Path:
    """Return the path of a notebook while it runs."""
    return folder / f".{task.name}.partial.ipynb"


def reads_record(folder: Path, task: Task) -> Path:
    """Return the path of the file in which a kernel notes the files that its notebook reads."""
    return folder / f".{task.name}.reads"


def kept(folder: Path, task: Task) -> NotebookRun | None:
    """Return the run of a task whose whole output a folder holds, with the seconds it took then; None if there is none.

    If a file that it read has changed since (`changed`), the output is to be made again.
    """
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
    status: Status = "kept" if is_unedited(path) else "edited"
    changed = changed_input(mark.get("reads", {}), task.notebook.path.parent)
    return NotebookRun(task, status, path, float(mark.get("seconds", 0.0)), changed=changed)


class Ended(NamedTuple):
    """What became of a notebook, before its output has its name."""

    task: Task
    partial: Path
    seconds: float
    cell: int
    error: str


class Kernels:
    """The kernels of a batch, which can be ended all at once, those too that are about to start."""

    def __init__(self) -> None:
        self._started: list[Any] = []
        self.stopped = False

    def stop(self) -> None:
        """End every kernel with what it has started: each is the first of a process group."""
        self.stopped = True
        for manager in self._started:
            _kill(manager)

    def manager(self) -> type:
        """Return the class of kernel managers that enter here what they start."""
        from jupyter_client.manager import AsyncKernelManager

        kernels = self

        class Entered(AsyncKernelManager):
            """A manager whose kernel ends with the batch."""

            async def start_kernel(self, **given: Any) -> None:  # type: ignore[override]  # as its own base has it
                kernels._started.append(self)
                await self._async_start_kernel(**given)
                if kernels.stopped:
                    _kill(self)

        return Entered


def _kill(manager: Any) -> None:
    process = getattr(manager.provisioner, "pid", None)
    if process is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process, signal.SIGKILL)


def execute(task: Task, folder: Path, kernels: Kernels) -> Ended:
    """Run a notebook into `.NAME.partial.ipynb`; safe in several threads at once.

    Widgets' state is not stored: one figure of plotly would add 5 MB to every output.

    Raises
    ------
    StoreError
        The folder cannot be written.
    """
    import papermill
    from nbclient.exceptions import DeadKernelError

    notebook, partial = task.notebook, partial_output(folder, task)
    began, cell, error = time.perf_counter(), 0, ""
    try:
        papermill.execute_notebook(
            _literally(notebook.path),
            _literally(partial),
            parameters=task.parameters,
            resources={"metadata": {"path": str(notebook.path.parent.resolve())}},  # `cwd` would move this process
            kernel_manager_class=kernels.manager(),
            progress_bar=False,
            log_output=False,
            store_widget_state=False,
            extra_arguments=_arguments(notebook.kernel, reads_record(folder, task).resolve()),
        )
    except papermill.PapermillExecutionError as problem:
        cell, error = _failing_cell(partial), _sentence(problem)
    except DeadKernelError:
        cell, error = _failing_cell(partial), "the kernel died"
    except RuntimeError as problem:  # what jupyter_client raises of a kernel that never answers
        error = f"the kernel did not start: {' '.join(str(problem).split())}"
    except TimeoutError:  # which is an OSError, but not one of the folder's
        cell, error = _failing_cell(partial), "the kernel did not answer in time"
    except OSError as problem:
        partial.unlink(missing_ok=True)
        raise StoreError(f"{folder} cannot be written: {problem.strerror}.") from None
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    return Ended(task, partial, time.perf_counter() - began, cell, error)


def settled(ended: Ended, folder: Path, provenance: dict[str, Any]) -> NotebookRun:
    """Return a run whose output has appeared whole, marked with where it comes from, or as `NAME.failed.ipynb`."""
    import nbformat

    task, partial, seconds, cell, error = ended
    target = failed_output(folder, task) if error else output(folder, task)
    notebook = {"notebook": task.notebook.path.name, "notebook_digest": task.notebook.digest}
    own = {"run_id": task.id, "parameters": task.parameters, "error": error, "cell": cell, "seconds": round(seconds, 3)}
    record = reads_record(folder, task)
    own["reads"] = inputs_of(record, task.notebook.path.parent)
    node = nbformat.read(partial, as_version=4)
    node.metadata[MARK] = {**notebook, **provenance, **own}
    if "papermill" in node.metadata:
        node.metadata.papermill |= {"input_path": task.notebook.path.name, "output_path": target.name}
    write_own(target, nbformat.writes(node))
    partial.unlink()
    record.unlink(missing_ok=True)
    if not error:
        failed_output(folder, task).unlink(missing_ok=True)
    return NotebookRun(task, "failed" if error else "done", target, seconds, cell, error)


@contextmanager
def unwatched() -> Iterator[None]:
    """Tell the kernels that are started meanwhile that they run unattended."""
    before = os.environ.get(STILL)
    os.environ[STILL] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(STILL, None)
        else:
            os.environ[STILL] = before


def _literally(path: Path) -> str:
    """Return a path of which papermill, which puts parameters into braces, makes the path itself."""
    return str(path).replace("{", "{{").replace("}", "}}")


_RECORD = """
from contextlib import suppress
with suppress(ImportError):
    from workbench.notebooks.kernel_reads import record
    record({!r})
"""


def _arguments(kernel: str, record: Path) -> list[str]:
    """Return the settings that keep Python's kernel from talking on the terminal and have it record what it reads; none
    for another kernel. A kernel of an environment without the workbench records nothing."""
    from jupyter_client.kernelspec import get_kernel_spec

    if "ipykernel_launcher" not in get_kernel_spec(kernel).argv:
        return []
    return [
        "--Application.log_level=CRITICAL",
        f"--IPKernelApp.code_to_run=exec({_RECORD.format(str(record))!r}, {{}})",
    ]


def _failing_cell(partial: Path) -> int:
    import nbformat

    cells = nbformat.read(partial, as_version=4).cells
    own = [cell for cell in cells if not _NOT_THE_AUTHORS & {*cell.metadata.get("tags", [])}]
    places = (k for k, cell in enumerate(own, 1) if cell.metadata.get("papermill", {}).get("exception"))
    return next(places, 0)


def _sentence(problem: Any) -> str:
    line = next((line.strip() for line in problem.source.splitlines() if line.strip()), "")
    return f"{line[:80]}: {problem.ename}: {' '.join(str(problem.evalue).split())}"
