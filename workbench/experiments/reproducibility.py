"""Runs repeated in a fresh process: what they depend on besides code, levers and seed shows as a difference.

No list of what code may not read can be complete. So some runs of every new code of the user's are repeated during the
sweep: its first and its last seed, and one seed of every new point, the last first. The process that repeats them has
another hash seed, time zone, clock, working directory and number of threads. Until they agree, the rows of this code
are *provisional*, then *checked*; if they differ, the rows are withdrawn. A run into a folder that holds rows repeats
one in a hundred of them.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import re
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.digests import digest
from workbench.errors import WorkbenchError
from workbench.executors.bundles import Bundle, Requests
from workbench.executors.worker_process import DIFFERENCES, Worker, WorkerDied, request_of
from workbench.experiments.plan import Plan
from workbench.identity.observed import Reads, declared_reads
from workbench.runs.row import Row
from workbench.runs.run import PlannedPoint, PlannedRun, Task, run_id
from workbench.runs.watchdog import SILENT
from workbench.runs.worker import BundleResult

if TYPE_CHECKING:
    from workbench.experiments.store import Store
from workbench.experiments.checked_rows import _ids, _name, _points_by_code
from workbench.experiments.verdicts import Verdict

VARIABLE = "WORKBENCH_REPEAT"
"""In the environment, 0 turns repeating off where nobody says anything else."""

ONE_IN = 100
"""How many kept rows one is repeated of, at each run into their folder."""

MOST_POINTS, ONE_IN_NEW = 30, 10
"""Of how many points of new runs one is repeated, each code, and of how many of these runs there is one at most."""

LIMIT_SECONDS = 600.0
"""Of each run that is repeated."""

_NOT_DONE = re.compile(
    "cannot be opened in a worker|not what it was when this run was planned|not what the driver has|did not end within|"
    "raised PicklingError"
)
"""In what a run says that could not be repeated at all: that is no difference."""


def repeats(repeat: bool | None) -> bool:
    """Return whether runs are repeated: as somebody says, else unless the environment has `WORKBENCH_REPEAT=0`."""
    return os.environ.get(VARIABLE, "1") != "0" if repeat is None else repeat


_agreed: dict[str, Verdict] = {}
"""The verdicts of this process, for runs whose rows live in memory."""


class Repeating:
    """Repeats runs of a plan in a fresh process while they are done."""

    def __init__(self, plan: Plan, store: Store, kept: Iterable[str]) -> None:
        """Choose what is repeated: two runs of each new code, one run a point of new runs, one in a hundred kept rows.

        Of the points of a code those with the lowest digests are taken, at most 30 and no more than a tenth of its new
        runs; of each the seed whose run's id is lowest. Of kept rows it is at least one a code, and where one differed
        one of every point of this code.

        Parameters
        ----------
        kept : iterable of str
            The ids of the plan's runs that are kept and not done anew.
        """
        self._plan, self._store = plan, store
        self._groups = _points_by_code(plan)
        self._reads: dict[str, Reads] = {}
        self._new: dict[str, list[PlannedRun]] = {}
        self._before: dict[str, int] = {}
        """How many runs of a code that is checked have agreed before."""
        self._again: list[PlannedRun] = []
        self._codes = {point.id: code for code, points in self._groups.items() for point in points}
        self._repeated: dict[str, Row] = {}
        self._reads_again: dict[str, Reads] = {}
        self._left: list[list[PlannedRun]] = []
        """Runs that the process did not come to, as another one stopped it."""
        self._why: dict[str, str] = {}
        """Why runs of a code were not repeated: they cannot be sent to another process, or they end it."""
        self._worker: Worker | None = None
        self._thread: threading.Thread | None = None
        self._choose(set(kept))

    def _choose(self, kept: set[str]) -> None:
        verdicts = self._store.verdicts()
        for code, points in self._groups.items():
            known = verdicts.get(code) or _agreed.get(code)
            differed = known is not None and known.outcome == "differs"
            runs = self._drawn(points, set() if differed else kept, None if differed else MOST_POINTS)
            if known is not None and known.outcome == "agreed" and not known.reads.changed():
                self._before[code] = known.runs
                if code not in verdicts:
                    self._store.keep_verdict(code, known)
            else:
                seeds = dict.fromkeys((self._plan.sweep.seeds[0], self._plan.sweep.seeds[-1]))
                runs = [*(PlannedRun(run_id(points[0].id, seed), points[0], seed) for seed in seeds), *runs]
            if runs:
                self._new[code] = list({run.id: run for run in runs}.values())
        turn = self._store.count_of_repeats()  # others each time, the same ones whoever chooses
        there = sorted((run for run in self._plan.runs() if run.id in kept), key=lambda run: digest(f"{run.id}/{turn}"))
        first = {self._codes.get(run.point.id, ""): run for run in reversed(there)}
        wanted = [run for code, run in first.items() if code and code not in self._new]
        some = there[: math.ceil(len(there) / ONE_IN)]
        compared = {run.id for runs in self._new.values() for run in runs}
        chosen = {run.id: run for run in [*wanted, *some]}
        self._again = [run for run in chosen.values() if run.id not in compared]

    def _drawn(self, points: Iterable[PlannedPoint], kept: set[str], most: int | None) -> list[PlannedRun]:
        """Return one of the runs of each point that are not kept, of all points or of as many as are repeated."""
        by_point = [
            [
                run
                for run in (PlannedRun(run_id(point.id, seed), point, seed) for seed in self._plan.sweep.seeds)
                if run.id not in kept
            ]
            for point in points
        ]
        most = most and min(most, math.ceil(sum(map(len, by_point)) / ONE_IN_NEW))
        drawn = (min(runs, key=lambda run: run.id) for runs in by_point if runs)
        return sorted(drawn, key=lambda run: run.point.id)[:most]

    def begin(self) -> None:
        """Start the process, unless there is nothing to repeat; runs are in an order that no sweep has."""
        runs = [*(run for runs in self._new.values() for run in runs), *self._again]
        if not runs:
            return
        self._store.count_repeats()
        try:
            request = self._request(runs)
        except WorkbenchError:
            runs = [run for code, some in self._by_code(runs).items() if self._can_be_sent(code, some) for run in some]
            if not runs:
                return
            request = self._request(runs)
        self._thread = threading.Thread(target=self._repeat, args=(runs, request), daemon=True)
        self._thread.start()

    def _by_code(self, runs: Iterable[PlannedRun]) -> dict[str, list[PlannedRun]]:
        by_code: dict[str, list[PlannedRun]] = {}
        for run in runs:
            by_code.setdefault(self._codes.get(run.point.id, ""), []).append(run)
        return by_code

    def _request(self, runs: Iterable[PlannedRun]) -> bytes:
        runs = sorted(runs, key=lambda run: run.seed, reverse=True)
        bundle = Bundle(
            {run.point.id: run.point.setup for run in runs},
            [Task(run.id, run.point.id, run.seed) for run in runs],
            self._plan.sweep.user_measures,
        )
        return request_of((*Requests().pack(bundle, LIMIT_SECONDS, SILENT), False))

    def _can_be_sent(self, code: str, runs: Iterable[PlannedRun]) -> bool:
        """Return whether the runs of one code, by itself, can be sent to another process; note why they cannot."""
        try:
            return bool(self._request(runs))
        except WorkbenchError as problem:
            self._why[code] = str(problem).rstrip(".")
            return False

    def _repeat(self, runs: list[PlannedRun], request: bytes) -> None:
        """Repeat runs in a process of theirs; where one stops it, runs of other code are left for another process."""
        with tempfile.TemporaryDirectory(prefix="workbench-") as elsewhere:
            try:
                self._worker = Worker(Path(elsewhere))
                self._worker.ready()
                reply: Any = self._worker.ask(request)
            except WorkerDied as died:
                reply = f"the process that repeated it ended with status {died.status}"
            except BaseException as problem:
                reply = problem
            finally:
                if self._worker is not None:
                    self._worker.close()
        by_code = self._by_code(runs)
        if isinstance(reply, BundleResult):
            self._repeated |= {row.id: row for row in reply.rows}
            for point, reads in reply.reads.items():
                self._reads_again[point] = self._reads_again.get(point, Reads()) | reads
            if reply.stuck:
                by_code.pop(self._codes.get(reply.rows[-1].point, ""))
                rest = [run for some in by_code.values() for run in some if run.id not in self._repeated]
                self._left += [rest] if rest else []
        elif len(by_code) > 1:
            self._left += by_code.values()
        else:
            self._why[next(iter(by_code))] = str(reply).rstrip(".")

    def observe(self, row: Row, reads: Mapping[str, Reads]) -> None:
        """Note what the code of a row that was done read."""
        if row.point in reads:
            self._reads[row.point] = self._reads.get(row.point, Reads()) | reads[row.point]

    def kill(self) -> None:
        """End the process: the sweep was stopped, and what is not checked stays provisional."""
        if self._worker is not None:
            self._worker.kill()

    def end(self) -> Iterator[str]:
        """Wait for the process, keep what became of it, and yield a sentence for each difference."""
        if self._thread is not None:
            self._thread.join()
        while self._left:
            self._repeat(runs := self._left.pop(), self._request(runs))
        rows = self._repeated
        for code, runs in self._new.items():
            verdict, name = self._judged(code, runs), _name(runs[0].point)
            self._store.keep_verdict(code, verdict)
            if verdict.outcome == "agreed":
                _agreed[code] = verdict
            if verdict.outcome == "differs":
                error = f"{name}: {verdict.reason}; let it depend on its code, its levers and the seed alone."
                count = self._store.withdraw(_ids(self._plan, self._groups[code]), error)
                yield f"{count} rows are withdrawn. {error}"
            elif verdict.outcome == "open":
                yield f"the rows of {name} stay provisional: {verdict.reason}."
        stale = {run.point.id: run for run in self._again if run.id in rows and self._differs(run, rows[run.id])}
        for run in stale.values():
            code, short = self._codes.get(run.point.id, ""), run.point.id[:8]
            when = f"when seed {run.seed} of point {short} was repeated in a fresh process"
            reason = f"{self._differs(run, rows[run.id])} {when}"
            if code:
                self._store.keep_verdict(code, self._store.verdicts()[code]._replace(outcome="differs", reason=reason))
                _agreed.pop(code, None)
            error = (
                f"{reason}, so this row was made by other code or other inputs than its id says; run the sweep again."
            )
            if count := self._store.withdraw(_ids(self._plan, [run.point]), error):
                whose = f"of {_name(run.point)}, point {short}," if code else f"of point {short}"
                yield f"{count} kept rows {whose} are withdrawn: {error}"

    def _judged(self, code: str, runs: list[PlannedRun]) -> Verdict:
        points, rows = self._groups[code], self._repeated
        reads = declared_reads([cls for point in points for cls, _ in point.setup.code])
        reads |= declared_reads(one.function for one in self._plan.sweep.user_measures.values() if not one.built_in)
        for point in points:
            reads |= self._reads.get(point.id, Reads()) | self._reads_again.get(point.id, Reads())
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        agreed, why = 0, ""
        for run in runs:
            if not (before := self._kept(run.id)):
                continue  # it failed: there is no number that could be another one
            if run.id not in rows:
                why = why or self._why.get(code, "none of its runs ended")
            elif _NOT_DONE.search(rows[run.id].error):
                why = rows[run.id].error.rstrip(".")
            elif difference := self._difference(before, rows[run.id]):
                return Verdict(
                    "differs", f"{difference} when seed {run.seed} was repeated with {DIFFERENCES}", reads, now
                )
            else:
                agreed += 1
        agreed += self._before.get(code, 0)
        if reads.acts:
            return Verdict("open", f"{reads.acts[0]}, and no digest can stand for that", reads, now)
        if why or not agreed:
            reason = f"they could not be repeated ({why or 'none of its runs ended'})"
            return Verdict("open", reason, reads, now)
        return Verdict("agreed", "", reads, now, agreed)

    def _kept(self, run: str) -> Mapping[str, float]:
        row = self._store.kept_row(run)
        return json.loads(row.measures) if row is not None and row.status == "done" else {}

    def _differs(self, run: PlannedRun, row: Row) -> str:
        before = {} if _NOT_DONE.search(row.error) else self._kept(run.id)
        return self._difference(before, row) if before else ""

    def _difference(self, before: Mapping[str, float], row: Row) -> str:
        """Return how a repeated run differs from what was kept of it; empty where it does not."""
        if row.status != "done":
            return f"a run that was done fails ({row.error.rstrip('.')})"
        for name in dict.fromkeys((*self._plan.sweep.measures, *sorted(before))):
            if name in before and name in row.measures:
                one, other = float(before[name]), float(row.measures[name])
                if one != other and not (math.isnan(one) and math.isnan(other)):
                    return f"{name} was {one:.10g} and is {other:.10g}"
        return ""
