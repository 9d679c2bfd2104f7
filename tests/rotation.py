"""What each landing proves beside `make test`: a twelfth of the long tests and one of the jobs that start processes.

`tests/proven.json` is the ledger: a row a landing, with the parts that its CI run went through. The next run takes what
was proven longest ago according to the ledger of its parent commit, so that it can be repeated; its seeds are those of
the rotation, the number of landings before it. A test of a shard that fails, and fails at the last landing too, is
printed to be entered as `known` and blocks nothing; one that fails by the change blocks.

    python -m tests.rotation                    what was proven when (`make proven`)
    python -m tests.rotation ci                 run what is due, as .ci/run does
    python -m tests.rotation run PART           run one part: "shard 3 of 12", "site", ... or "all" (`make test-long`)
    python -m tests.rotation record COMMIT [SECONDS]    enter what the CI run of a landed commit has proven
    python -m tests.rotation record COMMIT SECONDS all  enter a `make test-long` of a commit
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
LEDGER = "tests/proven.json"
SHARDS = [f"shard {number} of 12" for number in range(1, 13)]
JOBS = {
    "site": ("docs/",),
    "notebooks": ("notebooks/", "notebooks/"),
    "kills": (
        "cli/test_stopping.py",
        "runs/test_faults.py",
        "executors/test_pools.py",
        "experiments/test_running.py",
        "runs/test_user_faults.py",
        "identity/test_workers.py",
        "pool_service/",
        "statistics/adaptive_seeds/test_run.py",
        "tuning/test_database.py",
        "tuning/test_resume.py",
    ),
    "browser": ("browser/",),
    "tex": ("export/test_tex.py", "papers/"),
    "wheel": ("house/test_wheel.py", "house/test_recipes.py", "cli/test_new_policy.py"),
    "bounds": (),
}
"""Files of tests whose long ones start programs, servers and browsers, by what they prove."""
_SEEDED = {
    "tests/engines/test_dispatch_from_spec.py::test_saturated_configurations_equal_the_oracle": 3,
    "tests/engines/test_translation_load.py::test_the_engine_and_its_event_driven_twin_agree": 2,
    "tests/engines/node/test_node.py::test_nodes_in_which_everything_acts_on_everything_beside_the_twin": 9,
}
BOUNDS = (
    "tests/engines/test_shared_memory.py::test_equals_the_slow_twin",
    "tests/engines/test_malloc.py::test_equals_the_slow_twin",
    "tests/engines/torch_allocator/test_twin.py",
    "tests/engines/test_pool.py::test_equals_the_slow_twin",
    *(f"{test}[{seed}]" for test, count in _SEEDED.items() for seed in range(count)),
)
"""A twin an engine, run with the gate's seeds where each index of an array is checked: the job `bounds`."""
PARTS = [*SHARDS, *JOBS]

ALONE = ("--no-loadscope-reorder", "-o", "addopts=--import-mode=importlib -q -p no:cacheprovider")
TWO_WORKERS = ("-n", "2", "--dist", "worksteal")
LONG = "long or deeper or hypothesis"
ROOMS = ("tests/compiled", "tests/structures", "tests/engines", "tests/metrics", "tests/policies")
"""All that is compiled: run interpreted as well."""
SAME_IN_BOTH = (
    "fresh_interpreted_process or refuses_wrong_levers or yaml_and_back or pickles or compiled_and_plain or is_uniform "
    "or as_likely_as_another or draws_are_independent"
)
"""Tests of policies as values, and those that count thousands of draws, each of which has a twin."""
MOST_AGAIN = 20
"""Failures that are run again at the last landing; with more the change is at fault."""


class Pass(NamedTuple):
    """One run of pytest."""

    arguments: tuple[str, ...]
    selection: tuple[str, ...]
    """Which tests: marks, words and files."""
    environment: Mapping[str, str] = {}
    """What Numba is told beside: to compile nothing, or to check each index."""


def passes(part: str) -> list[Pass]:
    """The runs of pytest that prove a part, or `all` of them."""
    compiled = Pass((*TWO_WORKERS, *ALONE), ("--ignore=tests/browser", "-m", LONG, "tests"))
    interpreted = Pass((*TWO_WORKERS, *ALONE), ("-k", f"not ({SAME_IN_BOTH})", *ROOMS), {"NUMBA_DISABLE_JIT": "1"})
    browser = Pass(ALONE, ("-m", "long", "tests/browser"))
    bounds = Pass((*ALONE, "--part=all", "--timeout=3000"), BOUNDS, {"NUMBA_BOUNDSCHECK": "1", "WORKBENCH_LONG": "0"})
    if part == "all":
        return [compiled, browser, interpreted, bounds]
    if part == "bounds":
        return [bounds]
    if part in SHARDS:
        return [compiled, interpreted]
    if part == "browser":
        return [browser]
    folders = {f"tests/{name.partition('/')[0]}" for name in JOBS[part]}
    return [compiled._replace(selection=("-m", LONG, *sorted(folders)))]


def part_of(test: str) -> str:
    """The part that proves a long test, by its place: the job of its file, or the shard that its name falls into.

    >>> part_of("tests/papers/test_paper.py::test_the_pdf_is_set_with_its_bibliography")
    'tex'
    >>> part_of("tests/test_units.py::test_one") in SHARDS
    True
    """
    file = test.partition("::")[0].removeprefix("tests/")
    for job, places in JOBS.items():
        if any(file == place or (place.endswith("/") and file.startswith(place)) for place in places):
            return job
    return SHARDS[zlib.crc32(test.encode()) % len(SHARDS)]


def add_options(parser: Any) -> None:
    """Options of pytest rather than variables: the processes that tests start have none of them."""
    parser.addoption("--part", default="all", help="run the tests of one part alone (tests/rotation.py)")
    parser.addoption("--failures", help="write the names of failed tests into this file, a line each")


def keep_part(config: Any, items: list[Any]) -> None:
    """Deselect all tests but those of the part that the run is told."""
    part = config.getoption("--part", default="all")
    if part != "all":
        kept = [item for item in items if part_of(item.nodeid) == part]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


def write_failures(config: Any, stats: Mapping[str, Sequence[Any]]) -> None:
    """Write the names of failed tests into the file that the run is told."""
    if file := config.getoption("--failures", default=None):
        names = dict.fromkeys(report.nodeid for kind in ("failed", "error") for report in stats.get(kind, ()))
        Path(file).write_text("".join(f"{name}\n" for name in names))


class Ledger(NamedTuple):
    """What was proven, and what is known to fail."""

    landings: list[dict[str, Any]]
    known: list[dict[str, Any]]

    @property
    def rotation(self) -> int:
        """The number of the next run's seeds."""
        return len(self.landings)

    def last_proven(self, part: str) -> int:
        """The number of the last landing that went through a part, -1 where none did."""
        return max((k for k, landing in enumerate(self.landings) if part in landing["parts"]), default=-1)

    def due(self) -> list[str]:
        """The shard and the job that were proven longest ago; of several the first in the order of `PARTS`."""
        shards, jobs = (sorted(parts, key=self.last_proven) for parts in (SHARDS, JOBS))
        return [shards[0], jobs[0]]

    def row(self, commit: str, parts: Iterable[str], seconds: float | None = None) -> dict[str, Any]:
        """The row of a landing."""
        return {"commit": commit, "date": date.today().isoformat(), "seconds": seconds, "parts": list(parts)}


def ledger_of(commit: str | None = None) -> Ledger:
    """The ledger as a commit has it, or as it lies here; empty where there is none."""
    if commit is None:
        text = (ROOT / LEDGER).read_text()
    else:
        shown = subprocess.run(["git", "show", f"{commit}:{LEDGER}"], cwd=ROOT, capture_output=True, text=True)
        text = shown.stdout if shown.returncode == 0 else '{"landings": [], "known": []}'
    return Ledger(**json.loads(text))


def parent_ledger(commit: str = "HEAD") -> Ledger:
    """The ledger of a commit's parent; where that has none, the one that the commit brings."""
    parent = ledger_of(f"{commit}^")
    return parent if parent.landings else ledger_of(commit)


def report(ledger: Ledger) -> list[str]:
    """Lines that say when each part was proven, what is old, and what comes next."""
    lines, old = [], []
    for part in sorted(PARTS, key=ledger.last_proven):
        last = ledger.last_proven(part)
        since = ledger.rotation - 1 - last
        at = f"{ledger.landings[last]['commit'][:8]} {ledger.landings[last]['date']}" if last >= 0 else "never"
        lines.append(f"{part:<12}{at:<22}{since} landings ago")
        old += [part] if last < 0 or since >= len(SHARDS) else []
    lines += [f"known: {row['test']} (rotation {row['rotation']})" for row in ledger.known]
    lines.append(f"Old: {', '.join(old)}." if old else f"Nothing is older than {len(SHARDS)} landings.")
    newest = ledger.rotation - 1
    stale = [part for part in PARTS if ledger.last_proven(part) < newest]
    lines.append("A release needs `make test-long`, entered with `record`." if stale else "All is fresh for a release.")
    return [*lines, f"Next: {', '.join(ledger.due())}."]


def run(part: str, rotation: int, failures: Path, tree: Path = ROOT, only: Sequence[str] = ()) -> list[int]:
    """Run a part, or some tests of it alone, and return pytest's exit statuses; failed tests are in the file."""
    statuses, failed = [], []
    for each in passes(part):
        environment = {**os.environ, "WORKBENCH_LONG": "1", "WORKBENCH_ROTATION": str(rotation), **each.environment}
        arguments = (*ALONE, *only) if only else (f"--part={part}", *each.arguments, *each.selection)
        told = (f"--hypothesis-seed={rotation}", f"--failures={failures}")
        command = [sys.executable, "-m", "pytest", *told, *arguments]
        failures.unlink(missing_ok=True)
        statuses.append(subprocess.run(command, cwd=tree, env=environment, check=False).returncode)
        failed += failures.read_text().splitlines() if failures.exists() else []
    failures.write_text("".join(f"{name}\n" for name in dict.fromkeys(failed)))
    return statuses


def breaks(
    failed: Sequence[str], known: Iterable[str], fails_before: Callable[[str], bool]
) -> tuple[list[str], list[str]]:
    """Split failed tests into those that the change broke and those to be entered as known.

    Parameters
    ----------
    failed, known : sequence of str
        Names of tests: that failed now, and that the ledger knows to fail with these seeds.
    fails_before : function
        Whether a test fails at the last landing too; one that is not there does not.
    """
    new = [name for name in failed if name not in set(known)]
    if len(new) > MOST_AGAIN:
        return new, []
    before = [name for name in new if part_of(name) in SHARDS and fails_before(name)]
    return [name for name in new if name not in before], before


def last_landing(ledger: Ledger) -> str:
    """The commit of the last landing, or the parent where the history here does not have it."""
    commit = ledger.landings[-1]["commit"] if ledger.landings else "HEAD^"
    there = subprocess.run(["git", "merge-base", "--is-ancestor", commit, "HEAD"], cwd=ROOT, capture_output=True)
    return commit if there.returncode == 0 else "HEAD^"


def ci() -> int:
    """Run what is due; 1 where the change broke something."""
    ledger = parent_ledger()
    parts, rotation = ledger.due(), ledger.rotation
    sys.stdout.write(f"rotation {rotation}: {', '.join(parts)}\n")
    broken, known = False, []
    with tempfile.TemporaryDirectory() as folder:
        failures, tree = Path(folder) / "failures", Path(folder) / "tree"

        def fails_before(part: str, name: str) -> bool:
            if not tree.exists():
                base = last_landing(ledger)
                subprocess.run(["git", "worktree", "add", "-q", "--detach", str(tree), base], cwd=ROOT, check=True)
            return 1 in run(part, rotation, Path(folder) / "before", tree, only=[name])

        try:
            for part in parts:
                statuses = run(part, rotation, failures)
                failed = failures.read_text().splitlines()
                familiar = [row["test"] for row in ledger.known if row["rotation"] == rotation]
                new, old = breaks(failed, familiar, lambda name, part=part: fails_before(part, name))
                known += [{"test": name, "rotation": rotation} for name in old]
                broken |= bool(new) or any(status not in (0, 1) for status in statuses)
                broken |= 1 in statuses and not failed
                sys.stdout.writelines(f"broken by this change: {name}\n" for name in new)
        finally:
            if tree.exists():
                subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=ROOT, check=False)
    sys.stdout.writelines(
        f"fails since before, to be entered in {LEDGER} as known: {json.dumps(row)}\n" for row in known
    )
    if not broken:
        sys.stdout.write(f"proven: {json.dumps(ledger.row(_commit('HEAD'), parts))}\n")
    return int(broken)


def _commit(name: str) -> str:
    shown = subprocess.run(["git", "rev-parse", name], cwd=ROOT, capture_output=True, text=True, check=True)
    return shown.stdout.strip()


def record(commit: str, seconds: float | None = None, parts: Sequence[str] = ()) -> Ledger:
    """Enter a commit whose CI run passed; which parts that went through follows from its parent, if none are named."""
    here, commit = ledger_of(), _commit(commit)
    if all(landing["commit"] != commit for landing in here.landings):
        here.landings.append(here.row(commit, parts or parent_ledger(commit).due(), seconds))
        rows = {name: [json.dumps(row) for row in rows] for name, rows in here._asdict().items()}
        parts = (f'"{name}": [' + ",".join(f"\n  {row}" for row in rows[name]) + "\n ]" for name in rows)
        (ROOT / LEDGER).write_text("{" + ",\n ".join(parts) + "}\n")
    return here


def main(arguments: Sequence[str]) -> int:
    """Do what the words of the command say."""
    match list(arguments):
        case []:
            lines = report(ledger_of())
        case ["ci"]:
            return ci()
        case ["run", part] if part in (*PARTS, "all"):
            with tempfile.TemporaryDirectory() as folder:
                return max(run(part, ledger_of().rotation, Path(folder) / "failures"))
        case ["record", commit]:
            lines = report(record(commit))
        case ["record", commit, seconds]:
            lines = report(record(commit, float(seconds)))
        case ["record", commit, seconds, "all"]:
            lines = report(record(commit, float(seconds), PARTS))
        case _:
            lines = [str(__doc__)]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
