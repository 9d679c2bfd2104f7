"""Code of the user's that goes through a set of texts gives the same numbers in every process that computes rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.process import FIXED

WORDS = tuple(f"lane {number}" for number in range(40))
FILE = f"""
import workbench as wb

@wb.measure(unit="1", better="lower", description="where a word stands in a set of words")
def place(record):
    return list({{*{WORDS!r}}}).index("lane 7")
"""
SWEEP = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 10},
    "policy": {"placement": "first_fit"},
    "seeds": 4,
}
DRIVER = """
import json, sys
import workbench as wb
from workbench.experiments.progress import Silent

class Notes(Silent):
    lines = []
    def say(self, line):
        self.lines.append(line)

results = wb.run(json.loads(sys.argv[1]), progress=Notes(), **json.loads(sys.argv[2]))
facts = [origin.facts.get("hash_seed") for origin in results.origins]
print(json.dumps([list(results.table[sys.argv[3]]), facts, Notes.lines]))
"""


def driven(folder: Path, seed: str, **more: object) -> tuple[set[float], list[str], list[str]]:
    """Return the values of rows that a driver with a hash seed came to, the seeds of their origins, and its notes."""
    (folder / "mine.py").write_text(FILE)
    sweep = {**SWEEP, "measures": ["drain_cycles", f"{folder / 'mine.py'}:place"]}
    words = [sys.executable, "-c", DRIVER, json.dumps(sweep), json.dumps(more), column(sweep)]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    reply = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    values, seeds, notes = json.loads(reply.stdout.splitlines()[-1])
    return set(values), seeds, [note for note in notes if "compil" not in note]


def column(sweep: dict[str, object]) -> str:
    """Return the name of the column of the user's measure."""
    (name,) = wb.plan(sweep).sweep.user_measures
    return name


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> float:
    """Return the value that rows of the fixed seed come to; the process of these tests has it (`make test`)."""
    folder = tmp_path_factory.mktemp("fixed")
    (folder / "mine.py").write_text(FILE)
    sweep = {**SWEEP, "measures": ["drain_cycles", f"{folder / 'mine.py'}:place"]}
    results = wb.run(sweep, workers=1)
    assert [origin.facts.get("hash_seed") for origin in results.origins] == [FIXED]
    (value,) = set(results.table[column(sweep)])
    return value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "how"),
    [
        ("2", {"workers": 1}),
        pytest.param("1", {}, marks=pytest.mark.slow),
        pytest.param("random", {"workers": 2}, marks=pytest.mark.slow),
    ],
)
def test_a_driver_of_another_seed_hands_the_work_to_workers(tmp_path: Path, fixed: float, seed: str, how: dict) -> None:
    assert driven(tmp_path, seed, **how) == ({fixed}, [FIXED], [])


@pytest.mark.slow
def test_a_driver_that_keeps_the_work_says_why_and_its_rows_name_the_seed(tmp_path: Path, fixed: float) -> None:
    values, seeds, notes = driven(tmp_path, "5", workers=0)
    assert values != {fixed}
    assert seeds == ["5"]
    (note,) = notes
    assert note.startswith("these runs are done in this process, as workers=0 was asked for: code of your own")
    assert note.endswith("start Python with PYTHONHASHSEED=6640.")


@pytest.mark.slow
def test_threads_stay_and_say_so(tmp_path: Path) -> None:
    _, seeds, notes = driven(tmp_path, "random", executor="threads")
    assert seeds == ["drawn"]
    assert "as the executor 'threads' was named" in notes[0]


def test_rows_of_the_package_alone_name_no_seed() -> None:
    results = wb.run({**SWEEP, "measures": ["drain_cycles"]}, workers=1)
    assert all("hash_seed" not in origin.facts for origin in results.origins)


@pytest.mark.slow
def test_workers_that_somebody_else_began_with_another_seed_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(FILE)
    sweep = {**SWEEP, "measures": ["drain_cycles", f"{tmp_path / 'mine.py'}:place"]}
    monkeypatch.setenv("PYTHONHASHSEED", "3")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        with pytest.raises(
            WorkbenchError, match=r"a worker has the hash seed '3'.*start the workers with PYTHONHASHSEED=6640"
        ):
            wb.run(sweep, executor=executor)
        assert len(wb.run({**SWEEP, "measures": ["drain_cycles"]}, executor=executor).table) == 4


def test_a_program_begins_anew_with_the_fixed_seed() -> None:
    """Once, also where Python reads no environment and the seed cannot be fixed."""
    begin = "sys.argv[1:] = ['--version']; from workbench.cli.main import program; program()"
    assert [seed_of("random", *flags, first=begin) for flags in ((), ("-E",))] == [FIXED, "drawn"]


@pytest.mark.parametrize(
    ("given", "flags", "seed"),
    [(FIXED, (), FIXED), ("7", (), "7"), ("0", (), "0"), ("random", (), "drawn"), (FIXED, ("-E",), "drawn")],
)
def test_the_seed_that_a_process_began_with(given: str, flags: tuple[str, ...], seed: str) -> None:
    """Also where it changed its own environment, which moves no hash."""
    assert seed_of(given, *flags) == seed
    assert seed_of(given, *flags, first=f"import os; os.environ['PYTHONHASHSEED'] = '{FIXED}'") in (seed, "drawn")


def seed_of(given: str, *flags: str, first: str = "") -> str:
    """Return the seed that a process says it has, after a statement."""
    words = [
        sys.executable,
        *flags,
        "-c",
        f"import sys; {first}\nimport workbench.process as h; print(h.hash_seed())",
    ]
    environment = {**os.environ, "PYTHONHASHSEED": given}
    reply = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=True)
    return reply.stdout.split()[-1]
