"""The dear tests of `make test`: each has its turn at one landing in three.

`tests/turns.txt` has a row for each test that costs more than half a second of processor time, and for each file whose
fixtures do: turn, seconds, name. The gate runs all other tests, and of these a third: whose turn it is follows from the
number of landings in the ledger (tests/rotation.py), so that it can be repeated. `make test TURN=all` runs them
all, and so does pytest by hand.

    make test TURN=all COSTS=FOLDER        measure: each process writes a file of costs into the folder
    python -m tests.turns FOLDER           write the table anew from them; what was in it keeps its turn
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.rotation import ROOT, ledger_of

TABLE = "tests/turns.txt"
TURNS = 3
DEAR = 0.5
"""From how many seconds of processor time on a test waits for its turn."""
DEAR_TO_BEGIN = 1.0
"""From how many seconds on that its fixtures cost a file waits as a whole: the first of its tests pays them."""

ALWAYS = ("tests/engines/test_golden_records.py",)
"""Files that wait for nothing, whatever they cost: that an engine records what it did is looked at each time."""


def add_options(parser: Any) -> None:
    """Options of the gate alone: without them every test is run."""
    parser.addoption("--turn", default="all", help="of the dear tests those of one turn: 0, 1, 2, due or all")
    parser.addoption("--costs", help="write the processor seconds of each test into a file of this folder")


class Dear(NamedTuple):
    """A row of the table: a test or a file that waits for its turn."""

    turn: int
    seconds: float


def dear(text: str) -> dict[str, Dear]:
    """The rows of the table by their names.

    >>> dear("2 1.5 tests/test_one.py::test_it[a b]\\n")
    {'tests/test_one.py::test_it[a b]': Dear(turn=2, seconds=1.5)}
    """
    rows = (line.split(" ", 2) for line in text.splitlines())
    return {name: Dear(int(turn), float(seconds)) for turn, seconds, name in rows}


def keep_turn(config: Any, items: list[Any]) -> None:
    """Deselect the dear tests whose turn it is not."""
    asked = config.getoption("--turn", default="all")
    if asked == "all":
        return
    turn = ledger_of().rotation % TURNS if asked == "due" else int(asked)
    rows = dear((ROOT / TABLE).read_text())
    runs, waits = [], []
    for item in items:
        row = rows.get(item.nodeid) or rows.get(item.nodeid.partition("::")[0])
        (runs if row is None or row.turn == turn else waits).append(item)
    config.waits_for_turn = len(waits)
    config.hook.pytest_deselected(items=waits)
    items[:] = runs


def waiting(config: Any) -> str:
    """Say how many tests wait for their turn; nothing where none does."""
    number = getattr(config, "waits_for_turn", 0)
    return (
        f"{number} dear tests have their turn at one of the next two landings (TURN=all runs them now)"
        if number
        else ""
    )


class Meter:
    """Measures the processor time of each test, its children's with it: of fixtures and of the rest."""

    def __init__(self) -> None:
        self.costs: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> Iterator[None]:
        return (yield from self._measure(item, 0))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        return (yield from self._measure(item, 1))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: Any) -> Iterator[None]:
        return (yield from self._measure(item, 0))

    def _measure(self, item: Any, which: int) -> Iterator[None]:
        before = sum(os.times()[:4])
        try:
            return (yield)
        finally:
            self.costs[item.nodeid][which] += sum(os.times()[:4]) - before


def write_costs(config: Any) -> None:
    """Write what the meter has measured, where there is one."""
    for plugin in config.pluginmanager.get_plugins():
        if isinstance(plugin, Meter):
            folder = Path(config.getoption("--costs"))
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{os.getpid()}.json").write_text(json.dumps(plugin.costs))


def table(measured: Iterable[Mapping[str, Iterable[float]]], former: Mapping[str, Dear]) -> str:
    """The table of what several processes have measured; a test that ran in two of them has the larger figure.

    Rows that are new join the turn that is the shortest by then, the dearest first.
    """
    fixtures: dict[str, float] = defaultdict(float)
    tests: dict[str, float] = defaultdict(float)
    for costs in measured:
        files: dict[str, float] = defaultdict(float)
        for test, (around, itself) in costs.items():
            files[test.partition("::")[0]] += around
            tests[test] = max(tests[test], itself)
        for file, seconds in files.items():
            fixtures[file] = max(fixtures[file], seconds)
    rows = {file: cost for file, cost in fixtures.items() if cost >= DEAR_TO_BEGIN and file not in ALWAYS}
    for test, seconds in tests.items():
        file = test.partition("::")[0]
        if file in rows:
            rows[file] += seconds
        elif seconds >= DEAR and file not in ALWAYS:
            rows[test] = seconds
    turns = {name: former[name].turn for name in rows if name in former}
    lengths = [sum(rows[name] for name, at in turns.items() if at == turn) for turn in range(TURNS)]
    for name in sorted(rows, key=lambda name: -rows[name]):
        if name not in turns:
            turns[name] = lengths.index(min(lengths))
            lengths[turns[name]] += rows[name]
    return "".join(f"{turns[name]} {seconds:.1f} {name}\n" for name, seconds in sorted(rows.items()))


if __name__ == "__main__":
    costs = [json.loads(file.read_text()) for file in sorted(Path(sys.argv[1]).glob("*.json"))]
    (ROOT / TABLE).write_text(table(costs, dear((ROOT / TABLE).read_text())))
