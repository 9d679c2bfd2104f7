"""A plan is run batch after batch of its seeds, until its stop rule is met.

run_plan(plan, store, stop=...)   run what is missing and needed   -> seconds
StopRule                          the batches of a plan, and whether the runs so far are enough
EverySeed                         one batch: all that the plan has

The runner receives a rule and knows none by itself. The rule of adaptive seeds is in
`workbench.statistics.adaptive_seeds`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Protocol

from workbench.experiments.plan import Plan
from workbench.experiments.progress import Progress, Silent, complete, usual_watcher
from workbench.experiments.results import Results, gather
from workbench.experiments.runner import LIMIT_SECONDS, run_missing
from workbench.experiments.store import Store
from workbench.runs.row import Row


class StopRule(Protocol):
    """When the seeds of a sweep are enough; one object serves one run of a plan."""

    def batches(self, plan: Plan) -> Sequence[Plan]:
        """Return plans that follow each other and together are the whole plan, fixed before anything runs."""

    def is_met(self, runs: Results, seeds: int) -> bool:
        """Return True if no further batch is needed; asked after each batch but the last.

        Parameters
        ----------
        runs : Results
            All runs of the whole plan that are kept.
        seeds : int
            How many seeds the batches so far have.
        """


class EverySeed:
    """The rule of fixed seeds: every run of the plan is done.

    >>> from workbench.experiments.plan import make_plan
    >>> from workbench.experiments.sweep import read_sweep
    >>> EverySeed().batches(make_plan(read_sweep({"engine": "shared_memory", "workload": "large_uniform"})))
    [Plan(1 point x 1 seed = 1 run)]
    """

    def batches(self, plan: Plan) -> Sequence[Plan]:
        """Return the plan alone."""
        return [plan]

    def is_met(self, runs: Results, seeds: int) -> bool:
        """Return False: each seed is run."""
        return False


def run_plan(
    plan: Plan,
    store: Store,
    workers: int | None = None,
    executor: Executor | str | None = None,
    progress: Progress | None = None,
    limit_seconds: float = LIMIT_SECONDS,
    repeat: bool | None = None,
    *,
    stop: StopRule,
) -> float:
    """Run the batches of a plan until its stop rule is met; return the seconds that it took.

    Parameters
    ----------
    workers, executor, progress, limit_seconds, repeat
        As of `run_missing`; runs are repeated in the first batch alone.
    stop : StopRule
        When seeds are enough.
    """
    batches, seconds, seeds = stop.batches(plan), 0.0, 0
    with _as_one(progress, batches, plan, store) as watch:
        for batch in batches:
            again = False if seeds else repeat  # what is kept at later looks was done just now
            seconds += run_missing(batch, store, workers, executor, watch, limit_seconds, again)
            seeds += len(batch.sweep.seeds)
            if batch is not batches[-1] and stop.is_met(gather(plan, store), seeds):
                break
    return seconds


@contextmanager
def _as_one(progress: Progress | None, batches: Sequence[Plan], plan: Plan, store: Store) -> Iterator[Progress | None]:
    """Yield the watcher of the batches as one sweep; of a single batch, the watcher itself."""
    if len(batches) == 1:
        yield progress
        return
    once = _Once(progress or usual_watcher(), plan, store)
    try:
        yield once
        once.complete()
    finally:
        once.over()


class _Once(Silent):
    """Watches many batches as one sweep, of as many runs as there may be."""

    def __init__(self, watch: Progress, plan: Plan, store: Store) -> None:
        self._watch, self._plan, self._store, self._begun = watch, plan, store, False

    def say(self, line: str) -> None:
        self._watch.say(line)

    def begin(self, total: int, kept: int) -> None:
        done = self._store.done(self._plan.sweep.measured_by())
        all_kept = sum(run.id in done for run in self._plan.runs())
        self._store.driven(len(self._plan), all_kept)
        if not self._begun:
            self._watch.begin(len(self._plan), all_kept)
            self._begun = True

    def advance(self, row: Row) -> None:
        self._watch.advance(row)

    def complete(self) -> None:
        complete(self._watch)

    def over(self) -> None:
        """Note that the last batch ended."""
        self._watch.end()
