"""Workers never import the main module of the user: every way to start Python gives the same table, once."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from workbench.errors import WorkbenchError
from workbench.executors.cluster import connection

pytestmark = pytest.mark.slow

SCRIPT = """
import os
import workbench as wb
from workbench.policies import Placement
from workbench.structures.bitmaps import is_free

class LowestHole(Placement):
    @staticmethod
    def answer(see):
        for start in range(see.segments - see.length + 1):
            if is_free(see.free, start, see.length):
                return start
        return -1

@wb.measure(unit="segments", better="neither", description="the longest request")
def longest_request(record):
    return record.length.max()

wb.add_measure("shared_memory", longest_request)
sweep = {
    "engine": "shared_memory",
    "workload": "large_uniform",
    "policy": {"placement": {"vary": ["first_fit", LowestHole()]}},
    "seeds": 2,
    "measures": ["drain_cycles", "longest_request"],
}
before = dict(os.environ)
"""
RUN = """
table = wb.run(sweep, executor={executor!r}).table
print(sorted(zip(table["drain_cycles"], table["longest_request"])), dict(os.environ) == before)
"""
TABLE = "[(5538.0, 64.0), (5538.0, 64.0), (5563.0, 64.0), (5563.0, 64.0)] True\n"


def as_file(code: str, folder: Path) -> list[str]:
    (folder / "script.py").write_text(code)
    return ["script.py"]


def as_guarded_file(code: str, folder: Path) -> list[str]:
    guarded = "def main():\n" + textwrap.indent(code, "    ") + "\n\nif __name__ == '__main__':\n    main()\n"
    return as_file(guarded, folder)


def as_command(code: str, folder: Path) -> list[str]:
    return ["-c", code]


@pytest.mark.parametrize("executor", ["processes", "local:2"])
@pytest.mark.parametrize(
    "way", [as_file, as_guarded_file, as_command, None], ids=lambda way: getattr(way, "__name__", "stdin")
)
def test_a_script_with_or_without_a_main_guard_prints_its_table_once(way, executor, tmp_path):
    code = SCRIPT + RUN.format(executor=executor)
    arguments = ["-"] if way is None else way(code, tmp_path)
    reply = subprocess.run(
        [sys.executable, *arguments], input=code, capture_output=True, text=True, timeout=300, cwd=tmp_path
    )
    assert (reply.stdout, reply.stderr) == (TABLE, "")


@pytest.mark.parametrize("executor", ["processes", "local:2"])
def test_a_notebook_shows_its_table_once(executor, tmp_path):
    code = SCRIPT + RUN.format(executor=executor)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = [one.text for one in notebook.cells[0].outputs if one.get("name") == "stdout"]
    assert "".join(printed) == TABLE


def test_a_local_cluster_that_cannot_start_is_one_sentence(monkeypatch):
    import distributed  # noqa: F401 - has its settings before they are spoilt

    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL", "nonsense")
    with pytest.raises(
        WorkbenchError, match=r"^a local cluster cannot start: .*Invalid time unit: nonsense"
    ) as refused:
        connection("local:1")
    assert len(str(refused.value).splitlines()) == 1
