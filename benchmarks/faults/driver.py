"""One driver of the campaign: runs a plan into a folder and notes in a log each run that it kept.

python -m benchmarks.faults.driver FOLDER LOG '{"plan": {"seeds": 20}, "run": {"workers": 2}}'
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.faults.runs import faulty_plan
from workbench.errors import WorkbenchError
from workbench.experiments.progress import Silent
from workbench.experiments.results import Results, gather
from workbench.experiments.results_folder import held
from workbench.experiments.runner import run_missing
from workbench.experiments.saved_results import write_table
from workbench.experiments.store import Store
from workbench.runs.row import Row


class Log(Silent):
    """Notes the id of every run that was kept, in one write each."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115 - open as long as the driver lives

    def advance(self, row: Row) -> None:
        self._file.write(f"{row.id}\n".encode())


def drive(folder: Path, log: Path, request: dict[str, Any]) -> Results:
    """Run what is missing and write the table."""
    plan = faulty_plan(**request["plan"])
    folder.parent.mkdir(parents=True, exist_ok=True)
    if limit := request.get("file_bytes"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    with held(folder):
        store = Store(folder, "faults")
        try:
            with _executor(request["run"]) as how:
                run_missing(plan, store, progress=Log(log), **how)
            result = gather(plan, store, folder)
        finally:
            store.close()
    write_table(result, folder)
    return result


@contextmanager
def _executor(how: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An executor of one's own where that is asked for; its processes are ended, those that hang too."""
    if how.get("executor") != "handed in":
        yield how
        return
    executor = ProcessPoolExecutor(3)
    try:
        yield {**how, "executor": executor}
    finally:
        for process in list((executor._processes or {}).values()):
            process.kill()
        executor.shutdown()


if __name__ == "__main__":
    try:
        drive(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3]))
    except WorkbenchError as problem:
        sys.exit(str(problem))
