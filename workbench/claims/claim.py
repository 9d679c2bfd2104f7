"""A claim of a source document, and the runs that it is tested on: each sweep is run once, however many claims look at
it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from workbench.errors import InputError
from workbench.executors import cores
from workbench.experiments.plan import Plan, make_plan
from workbench.experiments.results import Results
from workbench.experiments.results_folder import write_whole
from workbench.experiments.runner import WORTH_SECONDS, Progress
from workbench.experiments.saved_results import run_kept, write_sweep
from workbench.experiments.stop_rule import run_plan
from workbench.experiments.store import Store
from workbench.experiments.sweep import read_sweep
from workbench.runs.origin import environment
from workbench.statistics import Finding, OverCases, every, over_cases, some
from workbench.statistics.adaptive_seeds import stop_rule

FIRST_SEED, FIRST_QUICK_SEED = 1_000_000, 2_000_000
"""Claims are judged on seeds from here on: the specifications' pilots and all shipped sweeps used small ones. A quick
report has seeds of its own, so that who looks at it has not looked at the verdict's."""


class Evidence:
    """Sweeps by name, run when a claim first asks; with a folder each is kept as an ordinary results folder in it."""

    def __init__(
        self,
        seeds: int,
        out: Path | None,
        workers: int | None,
        progress: Progress | None,
        first: int = FIRST_SEED,
        levers: Mapping[str, Any] | None = None,
    ) -> None:
        self.seeds, self.first, self._levers = seeds, first, levers or {}
        self._out, self._workers, self._progress = out, workers, progress
        self._seconds = 0.0
        self._runs: dict[str, Results] = {}
        self._asked: dict[str, Mapping[str, Any]] = {}
        self._measured: dict[str, Mapping[str, Any]] = {}

    def runs(self, name: str, sweep: Mapping[str, Any], seeds: int | None = None) -> Results:
        """Return the runs of a sweep; with a folder they are kept there, and what is kept is not run again.

        Parameters
        ----------
        seeds : int, optional
            As many as the report has; 1 where a workload has one run, which is counted and no sample.

        Raises
        ------
        InputError
            Another claim has another sweep of that name.
        """
        if name not in self._runs:
            self._asked[name] = sweep
            count = self.seeds if seeds is None else seeds
            self._runs[name] = self._run(name, {**sweep, "seeds": {"first": self.first, "count": count}})
        if sweep != self._asked[name]:
            raise InputError(f"two claims call different sweeps {name!r}; give each sweep a name of its own.")
        return self._runs[name]

    def measured(self, name: str, make: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Return the measurements on this machine, outside of all simulations; kept like runs, and not done again.

        Parameters
        ----------
        name : str
            Of the file in the folder `measured` next to the sweeps.
        make : function
            Measures it; what it returns is plain data.
        """
        if name not in self._measured:
            file = self._out / "measured" / f"{name}.json" if self._out is not None else None
            if file is not None and file.exists():
                self._measured[name] = json.loads(file.read_text())["measured"]
            else:
                self._measured[name] = make()
                if file is not None:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    settings = {"environment": environment(), "measured": self._measured[name]}
                    write_whole(file, json.dumps(settings, indent=1, default=str) + "\n")
        return self._measured[name]

    def _run(self, name: str, sweep: Mapping[str, Any]) -> Results:
        folder = self._out / name if self._out is not None else None

        def run(plan: Plan, store: Store) -> float:
            if folder is not None:
                write_sweep(Results(plan, ()), folder)
            seconds = run_plan(plan, store, self._crew(), progress=self._progress, stop=stop_rule(plan.sweep))
            self._seconds += seconds
            return seconds

        return run_kept(make_plan(read_sweep(sweep, self._levers)._replace(name=name)), folder, run)

    def _crew(self) -> int | None:
        """Return the number of workers for the next sweep: one a core once all sweeps together have taken long.

        A sweep by itself starts workers when they pay off for it. Most sweeps of claims take a few seconds, so that
        one process would do each; but workers stay for the next sweep, and all of them together take minutes.
        """
        return cores() if self._workers is None and self._seconds > WORTH_SECONDS else self._workers


Parts = Callable[[Evidence], Iterable[Finding]]
Kind = Literal["tested", "counted", "by_construction", "measured"]
KINDS: dict[Kind, str] = {
    "tested": "by runs at paired seeds: the verdict has an error rate",
    "counted": "counted out, such as gates or chances: nothing is drawn, and nothing can differ by luck",
    "measured": "by the clock, in blocks, on the machine that ran it: no simulation, and another machine may differ",
    "by_construction": "true by the definitions of the model: it says that the model does what it was built to do",
}


def nothing(evidence: Evidence) -> Iterable[Finding]:
    """Return no costs: none are measured."""
    return []


class Claim(NamedTuple):
    """What a document asserts, and how it is put to the test."""

    id: str
    statement: str
    source: str
    """Where it is asserted."""
    parts: Parts
    """What the data say, case by case."""
    costs: Parts = nothing
    """What else became better or worse, measured in the same runs; no part of the verdict."""
    joined: Callable[[str, str, Sequence[Finding]], Finding] = every
    """How the cases make the claim: it holds when every case does, or when some case does."""
    kind: Kind = "tested"
    design: str = ""
    """Over which cases of its family it is judged."""
    on_real_service: bool = False
    """Whether it starts the storage service and its clients, which a quick report leaves out."""
    mark: str = ""
    """What is behind its number in a verdict, where the question has changed since another was given: `-range`."""

    @property
    def built_in(self) -> bool:
        """Return whether it is part of this package."""
        return getattr(self.parts, "__module__", "workbench.").startswith("workbench.")

    @property
    def verdict_id(self) -> str:
        """Return the number under which its verdict is kept: another question, or another test, is another verdict.

        0.5 judged means. Since then a pair of tests judges the size and the direction (`H1.1-pair`).
        """
        is_tested = self.built_in and self.kind in ("tested", "measured")
        return f"{self.id}{self.mark or ('-pair' if is_tested else '')}"

    @property
    def family(self) -> str:
        """Return the claims that it is corrected with: those of its specification (`H3`), or the user's own."""
        match = re.match(r"H\d+(?=\.)", self.id)
        return match[0] if match else "own"

    def judged(self, cases: Sequence[Finding], size: int) -> OverCases:
        """Return its outcome, corrected over its cases and the size of its family."""
        return over_cases(cases, family=size, joined="some" if self.joined is some else "every")


def in_order(id: str) -> tuple[int, str]:
    """Return the number of a claim in its specification, then the letter of one that is stated with it.

    >>> sorted(["H3.10", "H3.9b", "H3.9"], key=in_order)
    ['H3.9', 'H3.9b', 'H3.10']
    """
    last = id.rsplit(".", 1)[1]
    return int(last.rstrip("bcd")), last
