"""What a run, a sweep and a plan cost in processor time, of two source trees side by side.

    git worktree add ../before v0.4.0
    python -m benchmarks.side_by_side ../before . --rounds 30
    python -m benchmarks.side_by_side ../before . --only "plan of 1,000 points" "a run of dispatch" "a thread of malloc"

Each tree has a process of its own, both with this interpreter and these packages; the two take turns, case by case and
round by round, so that a load that comes and goes meets both. The least processor time of all rounds counts, of each
act by itself: it was disturbed least. Printed are microseconds an item, and new over old.

A run has as little to do as its engine allows (one workgroup, one group, one warp, one access a core, one job), so that
what is measured is what a run costs whatever it does: the workload's arrays, the state's arrays, the compiled call, the
record, its measures, the looks whether code changed, the row, the way to a store and back. It is the difference between
a long sweep and a short one, over the runs that the long one has more; `kept` with a store on disk, in the usual way
(a thread beside the one that waits). What the short sweep costs beside its runs is the line `a sweep`.

The cost of an item (a workgroup, an access) is the difference between a run with many items and one with few. It is
divided by the difference in items. Drawing the workload and the measures are part of it.

Sweeps are written in words that every tree since 0.4.0 knows. Seconds differ between machines, quotients little.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

SHORT, LONG = 2, 42
"""Seeds of the two sweeps whose difference is what runs cost."""

WORKGROUP: dict[str, Any] = {
    "synthetic": "random_workgroups",
    "count": 1,
    "size": {"uniform": [1, 20]},
    "duration": {"uniform": [50, 100]},
}
PLACEMENTS = ["first_fit", "nearest_boundary", "best_fit", "worst_fit", "last_fit"]
SWEEPS: dict[str, dict[str, Any]] = {
    "shared_memory": {
        "engine": "shared_memory",
        "workload": WORKGROUP,
        "policy": {"placement": {"vary": PLACEMENTS}},
    },
    "dispatch": {
        "engine": "dispatch",
        "machine": "patent_dispatch",
        "workload": {"synthetic": "random_groups", "count": 1},
        "policy": {"choice": {"vary": ["most_residual", "round_robin"]}},
    },
    "translation": {
        "engine": "translation",
        "machine": "patent_pilot",
        "workload": {"synthetic": "zipf_mixture", "count": 8},
        "policy": {"locate": {"vary": ["directory", "no_directory"]}},
    },
    "malloc": {
        "engine": "malloc",
        "machine": "h100",
        "workload": {"synthetic": "random_mallocs", "threads": 32},
        "policy": {"serve": {"vary": ["per_thread", "warp_aggregated"]}},
    },
    "pool": {
        "engine": "pool",
        "machine": "dgx_1v",
        "workload": {"synthetic": "mixed_jobs", "jobs": 1},
        "policy": {"target": {"vary": ["max_bandwidth", "round_robin"]}},
    },
}
"""Sweeps whose runs have nearly nothing to do, by engine."""

ITEMS: dict[str, tuple[str, str, int, int]] = {
    "a workgroup of shared_memory": ("shared_memory", "count", 20_000, 200_000),
    "a group of dispatch": ("dispatch", "count", 2_000, 20_000),
    "an access of translation": ("translation", "count", 20_000, 200_000),
    "a thread of malloc": ("malloc", "threads", 32_000, 320_000),
    "a job of pool": ("pool", "jobs", 200, 2_000),
}
"""The engine, the lever of its workload that says how many items there are, few and many."""


class Case(NamedTuple):
    """Something that is measured: one or several acts, and what follows from the seconds that each takes."""

    acts: tuple[Callable[[], object], ...]
    microseconds: Callable[..., float]
    """Of an item, given the least seconds of each act."""


def cases() -> dict[str, Case]:
    """Return what is measured by name."""
    placement = SWEEPS["shared_memory"]
    return {
        "plan of 1,000 points": _plan(1_000),
        "plan of 10,000 points": _plan(10_000),
        "a sweep": Case((lambda: _runs(placement, 1),), lambda seconds: seconds * 1e6),
        **{f"a run of {name}": _a_run(sweep) for name, sweep in SWEEPS.items()},
        "a run of shared_memory, kept": _a_run(placement, kept=True),
        **{name: _an_item(*item) for name, item in ITEMS.items()},
    }


def _a_run(sweep: dict[str, Any], kept: bool = False) -> Case:
    """The runs that a long sweep has more than a short one."""
    (varied,) = sweep["policy"].values()
    more = (LONG - SHORT) * len(varied["vary"])
    acts = tuple(functools.partial(_runs, sweep, seeds, kept) for seeds in (SHORT, LONG))
    return Case(acts, lambda short, long: (long - short) / more * 1e6)


def _an_item(engine: str, lever: str, few: int, many: int) -> Case:
    """The items that a run with many has more than a run with few, under both policies of a pair."""
    sweep = SWEEPS[engine]
    (slot, varied), *_ = sweep["policy"].items()
    policies = varied["vary"][:2]
    acts = tuple(
        functools.partial(
            _runs,
            {**sweep, "workload": {**sweep["workload"], lever: count}, "policy": {slot: {"vary": policies}}},
            seeds=1,
        )
        for count in (few, many)
    )
    more = (many - few) * len(policies)
    return Case(acts, lambda short, long: (long - short) / more * 1e6)


def _runs(sweep: dict[str, Any], seeds: int, kept: bool = False) -> None:
    import workbench as wb

    with tempfile.TemporaryDirectory() as folder:
        results = wb.run({**sweep, "seeds": seeds}, folder if kept else None, workers=int(kept))
    assert results.rows
    assert not results.failures


def _plan(points: int) -> Case:
    """Plan so many points: 20 sizes, 5 policies, and as many durations as it takes."""
    size = {"uniform": [1, {"vary": list(range(2, 22))}]}
    workload = {
        **WORKGROUP,
        "size": size,
        "duration": {"uniform": [50, {"vary": list(range(100, 100 + points // 100))}]},
    }
    sweep = {**SWEEPS["shared_memory"], "workload": workload, "seeds": 1}
    return Case((lambda: _planned(sweep),), lambda seconds: seconds / points * 1e6)


def _planned(sweep: dict[str, Any]) -> None:
    from workbench import api

    (api.plan if hasattr(api, "plan") else api.planned)(sweep)  # a tree before 0.6 has the other word


def _seconds(act: Callable[[], object]) -> float:
    gc.collect()
    began = process_time()
    act()
    return process_time() - began


def measure() -> None:
    """Read names of cases from standard input; print the seconds of each one's acts. This is the tree's process."""
    known = cases()
    for name in map(str.strip, sys.stdin):
        print(json.dumps([_seconds(act) for act in known[name].acts]), flush=True)


class Tree:
    """A source tree with the process that measures it."""

    def __init__(self, path: str) -> None:
        self._root = root = Path(path).resolve()
        if not (root / "workbench" / "__init__.py").is_file():
            raise SystemExit(
                f"side_by_side: {path} is no source tree of the workbench: it has no workbench/__init__.py."
            )
        code = f"import runpy; runpy.run_path({str(Path(__file__).resolve())!r})['measure']()"
        command = [sys.executable, "-P", "-c", code]
        here = {**os.environ, "PYTHONPATH": str(root)}
        self._process = subprocess.Popen(
            command, cwd=root, env=here, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, name: str) -> list[float]:
        """Return the processor time of each act of a case, in this turn."""
        told, reply = self._process.stdin, self._process.stdout
        assert told is not None and reply is not None
        print(name, file=told, flush=True)
        line = reply.readline()
        if not line:
            raise SystemExit(f"side_by_side: the tree {self._root} ended in the midst of {name!r}.")
        result: list[float] = json.loads(line)
        return result

    def close(self) -> None:
        """End its process."""
        self._process.communicate()


@contextmanager
def _trees(paths: list[str]) -> Iterator[list[Tree]]:
    trees = [Tree(path) for path in paths]
    try:
        yield trees
    finally:
        for tree in trees:
            tree.close()


def compare(old: str, new: str, names: list[str], rounds: int) -> Iterator[tuple[str, float, float]]:
    """Yield of each case the microseconds an item in both trees."""
    known = cases()
    with _trees([old, new]) as trees:
        for name in names:
            for tree in trees:
                tree.seconds(name)  # compiles, and fills what is remembered for a process
            turns = [[tree.seconds(name) for tree in trees] for _ in range(rounds)]
            before, after = ([min(act) for act in zip(*acts, strict=True)] for acts in zip(*turns, strict=True))
            yield name, known[name].microseconds(*before), known[name].microseconds(*after)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.side_by_side", description=__doc__.splitlines()[0])
    parser.add_argument("old", help="a source tree, as of 0.4.0")
    parser.add_argument("new", help="another one, as this")
    parser.add_argument("--rounds", type=int, default=20, help="turns of each tree (default 20)")
    parser.add_argument("--only", nargs="+", choices=cases(), metavar="CASE", default=list(cases()))
    given = parser.parse_args()
    print(f"{'case':30}{'old, us':>10}{'new, us':>10}{'new / old':>11}")
    for name, before, after in compare(given.old, given.new, given.only, given.rounds):
        print(f"{name:30}{before:10.3g}{after:10.3g}{after / before:11.3f}", flush=True)


if __name__ == "__main__":
    main()
