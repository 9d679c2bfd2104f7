"""Runs repeated in a fresh process: what they depend on besides code, levers and seed shows as a difference.

No list of what code may not read can be complete. So some runs of each invocation are repeated: of every new code of
the user's the first and the last, and one of every new point. The process that repeats them has another hash seed, time
zone, clock and number of threads. If they agree, the rows of the invocation are *checked* as far as they read nothing
else; if they differ, they are withdrawn. Rows of an invocation that ended without a verdict are *provisional*: the next
one repeats one of each of their points. A run into a folder that holds rows repeats one in a hundred of them.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from workbench.digests import digest
from workbench.errors import WorkbenchError
from workbench.executors.bundles import Bundle, Requests
from workbench.executors.worker_process import DIFFERENCES, Worker, WorkerDied, request_of
from workbench.experiments.checked_rows import ids_of, name_of_code, points_by_code
from workbench.experiments.plan import Plan
from workbench.experiments.row_reads import digest_of_place
from workbench.experiments.verdicts import Verdict, shortened_ids
from workbench.identity.reads import Reads
from workbench.runs.row import Row
from workbench.runs.run import PlannedRun, Task
from workbench.runs.watchdog import SILENT
from workbench.runs.worker import BundleResult

if TYPE_CHECKING:
    from workbench.experiments.store import Store

VARIABLE = "WORKBENCH_REPEAT"
"""In the environment, 0 turns repeating off unless an option says otherwise."""

ONE_IN = 100
"""How many kept rows one is repeated of, at each run into their folder."""

MOST_POINTS, ONE_IN_NEW = 30, 10
"""Of how many points of new runs one is repeated, each code, and of how many of these runs there is one at most."""

LIMIT_SECONDS = 600.0
"""Of each run that is repeated."""

ALL_FAILED = "the runs that were chosen to be repeated failed; the next run of the sweep repeats others"
"""Why rows stay provisional although other runs of their code ended."""

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
        """Choose what is repeated of new runs, of rows without a verdict, and of other kept rows.

        - Of the new runs of each code the first and the last, unless runs of the code have agreed before.
        - One new run a point: of the points with the lowest digests, at most 30 and no more than a tenth of the runs.
        - Of kept rows whose invocation has no agreeing verdict one a point: until they agree nothing else counts.
        - One in a hundred of the other kept rows, at least one a code.

        Of a point it is the run whose id is lowest.

        Parameters
        ----------
        kept : iterable of str
            The ids of the plan's runs that are kept and not done again.
        """
        self._plan, self._store = plan, store
        self._groups = points_by_code(plan)
        self._codes = {point.id: code for code, points in self._groups.items() for point in points}
        self._invocation = store.invocation
        self._reads: dict[tuple[str, str], Reads] = {}
        """What rows read, by their code and invocation."""
        self._texts: set[tuple[str, str]] = set()
        """What new rows of a code read, as far as it is noted in `_reads`."""
        self._new: dict[str, list[PlannedRun]] = {}
        """By the code: the new runs that are repeated."""
        self._without_verdict: dict[tuple[str, str], list[PlannedRun]] = {}
        """By the code and the invocation that made them: the kept rows that are repeated until they have a verdict."""
        self._moved: set[tuple[str, str]] = set()
        """Those of them that have a verdict of another place, where the code may have read other files."""
        self._again: list[PlannedRun] = []
        self._repeated: dict[str, Row] = {}
        self._left: list[list[PlannedRun]] = []
        """Runs that the process did not come to, as another one stopped it."""
        self._why: dict[str, str] = {}
        """Why runs of a code were not repeated: they cannot be sent to another process, or they end it."""
        self._worker: Worker | None = None
        self._thread: threading.Thread | None = None
        self._choose(set(kept))

    def _choose(self, kept: set[str]) -> None:
        verdicts, planned = self._store.verdicts(), self._by_code(self._plan.runs())
        for code in self._groups:
            known = [one for (of_code, _), one in verdicts.items() if of_code == code]
            known += [one for one in (_agreed.get(code),) if one]
            differed = bool(known) and known[-1].outcome == "differs"
            new = [run for run in planned.get(code, ()) if run.id not in kept]
            runs = _one_a_point(new, None if differed else MOST_POINTS)
            if new and not any(one.outcome == "agreed" and not one.reads.changed() for one in known):
                runs = [new[0], new[-1], *runs]
            if runs:
                self._new[code] = list({run.id: run for run in runs}.values())
            self._choose_without_verdict(code, [run for run in planned.get(code, ()) if run.id in kept], verdicts)
        there = [run for run in self._plan.runs() if run.id in kept]
        self._again = self._chosen_again(there, {run.id for runs in self._without_verdict.values() for run in runs})

    def _choose_without_verdict(
        self, code: str, kept: Iterable[PlannedRun], verdicts: Mapping[tuple[str, str], Verdict]
    ) -> None:
        """Choose one run a point of the kept rows of a code whose invocation has no agreeing verdict.

        Nothing is repeated of rows that did what no digest can stand for: no verdict could count for them.
        """
        by_invocation, here = dict[str, list[PlannedRun]](), digest_of_place(self._store.folder)
        for run in kept:
            row = self._store.kept_row(run.id)
            read = self._store.reads_of(row) if row is not None else None
            if read is None or read.reads.acts:
                continue
            known = verdicts.get((code, read.invocation))
            moved = known is not None and known.place != here and bool(read.reads.files)
            if known is not None and known.outcome == "agreed" and not moved:
                continue
            if moved:
                self._moved.add((code, read.invocation))
            by_invocation.setdefault(read.invocation, []).append(run)
            key = code, read.invocation
            self._reads[key] = self._reads.get(key, Reads()) | read.reads
        for invocation, runs in by_invocation.items():
            self._without_verdict[code, invocation] = _one_a_point(runs, None)

    def _chosen_again(self, kept: Iterable[PlannedRun], without: set[str]) -> list[PlannedRun]:
        """Choose one in a hundred of kept rows, at least one a code of which nothing else is repeated."""
        turn = self._store.count_of_repeats()  # others each time, the same ones whoever chooses
        there = sorted(kept, key=lambda run: digest(f"{run.id}/{turn}"))
        first = {self._codes.get(run.point.id, ""): run for run in reversed(there)}
        others = {*self._new, *(code for code, _ in self._without_verdict)}
        wanted = [run for code, run in first.items() if code and code not in others]
        some = there[: math.ceil(len(there) / ONE_IN)]
        return [run for run in {run.id: run for run in [*wanted, *some]}.values() if run.id not in without]

    def begin(self) -> None:
        """Start the process, unless there is nothing to repeat; runs are in an order that no sweep has."""
        groups = [*self._new.values(), *self._without_verdict.values(), self._again]
        runs = list({run.id: run for group in groups for run in group}.values())
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
        try:
            self._worker = Worker(repeats=True)
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
            if reply.stuck:
                by_code.pop(self._codes.get(reply.rows[-1].point, ""))
                rest = [run for some in by_code.values() for run in some if run.id not in self._repeated]
                self._left += [rest] if rest else []
        elif len(by_code) > 1:
            self._left += by_code.values()
        else:
            self._why[next(iter(by_code))] = str(reply).rstrip(".")

    def observe(self, row: Row) -> None:
        """Note what the code of a row that was done read."""
        code = self._codes.get(row.point, "")
        if row.reads and (code, row.reads) not in self._texts:
            self._texts.add((code, row.reads))
            key = code, self._invocation
            self._reads[key] = self._reads.get(key, Reads()) | Reads.read(row.reads)

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
        for code, runs in self._new.items():
            verdict, name = self._judged(code, self._invocation, runs), name_of_code(self._groups[code])
            self._store.keep_verdict(code, self._invocation, verdict)
            if verdict.outcome == "agreed":
                _agreed[code] = verdict
            if verdict.outcome == "differs":
                _agreed.pop(code, None)
                error = f"{name}: {verdict.reason}; let it depend on its code, its levers and the seed alone."
                count = self._store.withdraw(ids_of(self._plan, self._groups[code]), error)
                yield f"{count} rows are withdrawn. {error}"
            elif verdict.outcome == "open":
                yield f"the rows of {name} stay provisional: {verdict.reason}."
        for (code, invocation), runs in self._without_verdict.items():
            self._store.keep_verdict(code, invocation, self._judged(code, invocation, runs))
        kept = [*(run for runs in self._without_verdict.values() for run in runs), *self._again]
        for run in {run.point.id: run for run in kept if self._differs(run)}.values():
            yield from self._withdrawn(run)

    def _withdrawn(self, run: PlannedRun) -> Iterator[str]:
        """Yield the sentence on the rows of a point, which are withdrawn: a kept run of it was repeated and differs."""
        code, short = self._codes.get(run.point.id, ""), run.point.id[:8]
        reason = f"{self._differs(run)} when seed {run.seed} of point {short} was repeated in a fresh process"
        if code:
            row = self._store.kept_row(run.id)
            read = self._store.reads_of(row) if row is not None else None
            invocation = read.invocation if read is not None else ""
            known = self._store.verdicts().get((code, invocation), Verdict("differs"))
            self._store.keep_verdict(code, invocation, known._replace(outcome="differs", reason=reason))
            _agreed.pop(code, None)
        error = f"{reason}, so this row was made by other code or other inputs than its id says; run the sweep again."
        if count := self._store.withdraw(ids_of(self._plan, [run.point]), error):
            whose = f"of {name_of_code([run.point])}, point {short}," if code else f"of point {short}"
            yield f"{count} kept rows {whose} are withdrawn: {error}"

    def _judged(self, code: str, invocation: str, runs: list[PlannedRun]) -> Verdict:
        """Return the verdict on the rows of an invocation, of which some runs were repeated."""
        rows, reads = self._repeated, Reads()
        for run in runs:
            if run.id in rows and rows[run.id].reads:
                reads |= Reads.read(rows[run.id].reads)
        before = self._reads.get((code, invocation), Reads())
        if (code, invocation) in self._moved and not before.files.items() <= reads.files.items():
            return Verdict("open", "it reads other files than where its results folder lay before", reads)
        reads |= before
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        agreed, why = list[str](), ""
        for run in runs:
            if not (measures := self._kept(run.id)):
                continue  # it failed: there is no number that could be another one
            if run.id not in rows:
                why = why or self._why.get(code, "the process that repeats them ended before")
            elif _NOT_DONE.search(rows[run.id].error):
                why = rows[run.id].error.rstrip(".")
            elif difference := self._difference(measures, rows[run.id]):
                reason = f"{difference} when seed {run.seed} was repeated with {DIFFERENCES}"
                return Verdict("differs", reason, reads, now)
            else:
                agreed.append(run.id)
        if reads.acts:
            return Verdict("open", f"{reads.acts[0]}, and no digest can stand for that", reads, now)
        if why or not agreed:
            reason = f"they could not be repeated ({why or ALL_FAILED})"
            return Verdict("open", reason, reads, now)
        return Verdict("agreed", "", reads, now, shortened_ids(agreed))

    def _kept(self, run: str) -> Mapping[str, float]:
        row = self._store.kept_row(run)
        return json.loads(row.measures) if row is not None and row.status == "done" else {}

    def _differs(self, run: PlannedRun) -> str:
        """Return the difference of a kept run from its repetition; empty where there is none."""
        row = self._repeated.get(run.id)
        if row is None or _NOT_DONE.search(row.error) or not (before := self._kept(run.id)):
            return ""
        return self._difference(before, row)

    def _difference(self, before: Mapping[str, float], row: Row) -> str:
        """Return the difference of a repeated run from the kept one; empty where there is none."""
        if row.status != "done":
            return f"a run that was done fails ({row.error.rstrip('.')})"
        for name in dict.fromkeys((*self._plan.sweep.measures, *sorted(before))):
            if name in before and name in row.measures:
                one, other = float(before[name]), float(row.measures[name])
                if one != other and not (math.isnan(one) and math.isnan(other)):
                    return f"{name} was {one:.10g} and is {other:.10g}"
        return ""


def _one_a_point(runs: Iterable[PlannedRun], most: int | None) -> list[PlannedRun]:
    """Return the run of each point whose id is lowest; of at most so many points, and of a tenth of the runs."""
    by_point: dict[str, list[PlannedRun]] = {}
    for run in runs:
        by_point.setdefault(run.point.id, []).append(run)
    count = sum(map(len, by_point.values()))
    most = most and min(most, math.ceil(count / ONE_IN_NEW))
    return [min(by_point[point], key=lambda run: run.id) for point in sorted(by_point)][:most]
