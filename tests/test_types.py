"""A user's type checker knows the package: mypy passes a correct file and names what is wrong in another."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import workbench as wb

pytestmark = pytest.mark.slow

ROOT = Path(wb.__file__).parent.parent
CORRECT = '''
"""A file that uses the workbench as its pages do."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import workbench as wb
from workbench.policies.placement import FirstFit, NearestBoundary


class MiddleOut(wb.policies.Placement):
    """Take the first start above a shift."""

    shift: int = wb.lever(0, least=0, most=64, unit="segments", description="how far above the start to look")

    def answer(see: Any) -> int:
        return -1 if see.length > see.segments else int(see.levers.shift)


@wb.measure(unit="cycles", better="lower", description="the longest wait")
def longest_wait(record: Any) -> float:
    return float(record.start.max())


@wb.kernel
def doubled(values: np.ndarray, factor: int) -> int:
    return int(values[0]) * factor


wb.add_measure("shared_memory", longest_wait)
sweep = {"engine": "shared_memory", "workload": "large_uniform", "measures": ["drain_cycles"], "seeds": 3}
placements = {"policy.placement": {"vary": [FirstFit(), NearestBoundary(tie="high"), MiddleOut(shift=8), MiddleOut()]}}
plan = wb.plan(sweep, set=placements)
results = wb.run(sweep, out=Path("kept"), set=placements, seeds=3, workers=0)
table: pd.DataFrame = results.table
means: pd.DataFrame = results.summary()
sentences: list[str] = results.sentences("drain_cycles")
results.events(str(table["run_id"].iloc[0]))
results.figure("drain_difference", width=3.4).savefig("drain.pdf")
results.export("paper", style="ieee")
again = wb.open_results("kept").only("first_fit")
best = wb.tune("study.yaml", trials=10).best
report = wb.claims(["H1.1"], quick=True)
parts: pd.DataFrame = wb.blame("node.yaml", parts=["walkers"]).table
found: list[str] = wb.discover("kept", above=900).sentences()
advice = wb.advise("snapshot.pickle", card_bytes=None)
first: str = wb.advise_message("CUDA out of memory.").lines()[0]
print(first, advice.best, advice.table, len(plan), wb.presets(), wb.dashboard("shared_memory"), wb.__version__)
start: int | None = MiddleOut(shift=2).place("0111100111111100", 4)
'''
IMPORTS = ("import workbench as wb", "from workbench.policies.placement import NearestBoundary")
WRONG = {
    'wb.run({"engine": "shared_memory"}, sedes=3)': 'Unexpected keyword argument "sedes" for "run"',
    'wb.run({"engine": "shared_memory"}, seeds="3")': 'Argument "seeds" to "run" has incompatible type "str"',
    "wb.runn": 'Module has no attribute "runn"',
    "wb.policies.Placemant": 'Module has no attribute "Placemant"',
    'NearestBoundary(tie="lower")': 'Argument "tie" to "NearestBoundary" has incompatible type',
    'NearestBoundary(tye="low")': 'Unexpected keyword argument "tye" for "NearestBoundary"',
    'wb.open_results("kept").tabel': '"Results" has no attribute "tabel"',
    "reveal_type(wb.run)": 'Revealed type is "def (sweep: str | pathlib.Path | typing.Mapping[str, Any]',
}
"""Lines of a user's file, each with what mypy must answer."""
STATEMENT = re.compile(r"^(?:from workbench[\w.]* import (?:\([^)]*\)|[\w, ]+)|import workbench[\w. ]*)", re.MULTILINE)


def documented_imports() -> str:
    """Return a module with every import of README, the pages and the notebooks, each in its own scope."""
    texts = [(ROOT / "README.md").read_text("utf-8")]
    texts += [path.read_text("utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))]
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        texts += ["".join(cell["source"]) for cell in json.loads(path.read_text("utf-8"))["cells"]]
    statements = sorted({" ".join(one.split()) for text in texts for one in STATEMENT.findall(text)})
    assert len(statements) > 60
    return "".join(f"def _{at}() -> None:\n    {one}\n" for at, one in enumerate(statements))


def python_with_the_package(folder: Path) -> Path:
    """Return the Python of an environment that has this tree's package and what it depends on."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (place,) = (folder / "venv").glob("lib/python*/site-packages")
    here = next(path for path in map(Path, sys.path) if (path / "numba").is_dir())
    (place / "others.pth").write_text(f"{here}\n", encoding="utf-8")
    (place / "workbench").symlink_to(ROOT / "workbench")
    return folder / "venv" / "bin" / "python"


@pytest.fixture(scope="module")
def complaints(tmp_path_factory) -> Mapping[str, list[str]]:
    """Return what `mypy --strict` says to a user who installed the package, by the name of the user's file.

    What it says of any other file stands under an empty name.
    """
    folder = tmp_path_factory.mktemp("typed")
    program = python_with_the_package(folder)
    texts = {"correct": CORRECT, "wrong": "\n".join([*IMPORTS, *WRONG, ""]), "documented": documented_imports()}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--hide-error-context", "--cache-dir=cache"]
    command += ["--config-file=", f"--python-executable={program}", *(f"{name}.py" for name in texts)]
    reply = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert reply.returncode in (0, 1), reply.stdout + reply.stderr
    result: dict[str, list[str]] = {name: [] for name in (*texts, "")}
    for line in reply.stdout.splitlines()[:-1]:  # the last one counts the errors
        name = line.partition(".py:")[0]
        result[name if name in texts else ""].append(line)
    return result


def test_mypy_has_nothing_to_say_of_a_correct_file(complaints):
    assert complaints["correct"] == []


def test_mypy_has_nothing_to_say_of_the_package(complaints):
    assert complaints[""] == []


def test_mypy_knows_every_import_of_the_pages(complaints):
    assert [one for one in complaints["documented"] if "my_fit" not in one] == []


@pytest.mark.parametrize("line", WRONG)
def test_mypy_names_what_is_wrong(complaints, line):
    at = 1 + len(IMPORTS) + list(WRONG).index(line)
    (said,) = [one for one in complaints["wrong"] if one.startswith(f"wrong.py:{at}:") and "defined in" not in one]
    assert WRONG[line] in said
