"""Run a plan look by look: a batch of seeds, a look at the intervals, and on until they are narrow twice in a row.

Looks are at fixed numbers of seeds and decide by the rows alone, so a driver that dies and begins anew comes to the
same end, with the same runs, whatever the number and kind of its workers.
"""

from __future__ import annotations

import itertools
from concurrent.futures import Executor

from workbench.experiments.plan import Plan
from workbench.experiments.progress import Progress, Silent, complete
from workbench.experiments.row import Row
from workbench.experiments.run_set import gather
from workbench.experiments.runner import LIMIT_SECONDS, run_missing
from workbench.experiments.store import Store
from workbench.studies.adaptive.stop import cut, widths


def run_plan(
    plan: Plan,
    store: Store,
    workers: int | None = None,
    executor: Executor | str | None = None,
    progress: Progress | None = None,
    limit_seconds: float = LIMIT_SECONDS,
    repeat: bool | None = None,
) -> float:
    """Run what is missing, as `run_missing` of the runner; with adaptive seeds, what is missing and needed.

    Returns the seconds that it took.
    """
    until = plan.sweep.until
    if until is None:
        return run_missing(plan, store, workers, executor, progress, limit_seconds, repeat)
    watch, seconds, before_narrow = _Once(progress or Silent(), plan, store), 0.0, False
    try:
        for before, count in itertools.pairwise((0, *until.looks)):
            batch = cut(plan, slice(before, count))
            again = False if before else repeat  # what is kept at later looks was done just now
            seconds += run_missing(batch, store, workers, executor, watch, limit_seconds, again)
            narrow = all(width.narrow for width in widths(gather(plan, store), count))
            if narrow and before_narrow:
                break
            before_narrow = narrow
        watch.complete()
    finally:
        watch.over()
    return seconds


class _Once:
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

    def end(self) -> None: ...

    def over(self) -> None:
        """Note that the last batch ended."""
        self._watch.end()
